/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Both sides of the race are in a shared library that is stripped, and each is
 * executed once, by a thread that has all signals blocked, as those of liblzma
 * have: the one before anything else, and the other after a sleep.
 */
#include "target.h"
#include <signal.h>

void sealed_set(long value);
long sealed_get(void);

static void *set_once(void *arg)
{
	ENTER();
	sealed_set(1);
	LEAVE();
	return arg;
}

static void *get_later(void *arg)
{
	long level;

	usleep(20000);
	ENTER_READ();
	level = sealed_get();
	LEAVE();
	return level ? arg : NULL;
}

/* The thread has the mask from the first. */
static pthread_t sealed_thread(void *(*body)(void *))
{
	pthread_t thread;
	sigset_t all, old;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	thread = target_thread(body, NULL);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	return thread;
}

int main(void)
{
	pthread_t threads[] = { sealed_thread(set_once),
				sealed_thread(get_later) };

	pthread_join(threads[0], NULL);
	pthread_join(threads[1], NULL);
	return target_done("sealed");
}
