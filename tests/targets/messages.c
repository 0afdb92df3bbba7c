/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * RaceHunter's three experiments (Programming and Computer Software 50(6), 2024),
 * for pthreads: one thread sends a message, another waits for it.
 *
 *	messages KIND
 *
 * bare      what was sent last is a variable without a lock, written by send() and
 *           read by receive()
 * receive   receive() reads the size before it takes the lock
 * send      send() reads the number of waiting receivers before it takes the lock
 *
 * As a twin, all of that is under the lock. The sender sleeps first, so that the
 * receiver waits already: the accesses do not meet by themselves.
 */
#include "target.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t sent = PTHREAD_COND_INITIALIZER;
static char buffer[16];
static int size, waiting, last, seen;
static const char *kind;

#ifdef TWIN
#define BARE(one) 0
#else
#define BARE(one) (strcmp(kind, one) == 0)
#endif

NOINLINE static int read_size(void)
{
	return size;
}

NOINLINE static int read_waiting(void)
{
	return waiting;
}

NOINLINE static void write_last(int value)
{
	last = value;
}

NOINLINE static int read_last(void)
{
	return last;
}

static void *send(void *unused)
{
	int early = 0, found;

	usleep(20000);
	if (BARE("send"))
		early = read_waiting();
	pthread_mutex_lock(&lock);
	found = early ? early : read_waiting();
	memcpy(buffer, "message", 8);
	size = 8;
	if (!BARE("bare"))
		write_last(8);
	if (found)
		pthread_cond_signal(&sent);
	pthread_mutex_unlock(&lock);
	if (BARE("bare"))
		write_last(8);
	return unused;
}

static void *receive(void *unused)
{
	int early = 0;

	if (BARE("receive"))
		early = read_size();
	pthread_mutex_lock(&lock);
	waiting++;
	while (early == 0 && read_size() == 0)
		pthread_cond_wait(&sent, &lock);
	waiting--;
	if (!BARE("bare"))
		seen = read_last();
	pthread_mutex_unlock(&lock);
	if (BARE("bare")) {
		usleep(20000);
		seen = read_last();
	}
	return unused;
}

int main(int argc, char **argv)
{
	pthread_t threads[2];

	target_check(argc == 2, "no kind");
	kind = argv[1];
	threads[0] = target_thread(receive, NULL);
	threads[1] = target_thread(send, NULL);
	pthread_join(threads[0], NULL);
	pthread_join(threads[1], NULL);
	target_done("messages");
	return seen >= 0 ? 0 : 1;
}
