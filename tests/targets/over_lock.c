/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Plain stores over a lock that the other thread uses. The lock is only tried,
 * so that no thread waits for what was lost.
 *
 *	over_lock SECONDS KIND
 *
 * clear    memset() of a structure with a mutex        suspect
 * assign   a mutex is set to its first value again     suspect
 * spin     a spin lock is                              suspect
 */
#include "target.h"

static struct queue {
	unsigned long length;
	pthread_mutex_t mutex;
	unsigned long limit;
} queue;

static pthread_spinlock_t spin;

NOINLINE static void queue_clear(struct queue *at)
{
	memset(at, 0, sizeof(*at));
}

NOINLINE static void queue_assign(struct queue *at)
{
	at->mutex = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
}

NOINLINE static void queue_try(struct queue *at)
{
	if (pthread_mutex_trylock(&at->mutex) == 0)
		pthread_mutex_unlock(&at->mutex);
}

NOINLINE static void spin_clear(void)
{
	spin = 1; /* which is free */
}

NOINLINE static void spin_try(void)
{
	if (pthread_spin_trylock(&spin) == 0)
		pthread_spin_unlock(&spin);
}

static const char *kind;

static int is(const char *name)
{
	return strcmp(kind, name) == 0;
}

static void *clear_loop(void *arg)
{
	unsigned x = 1;

	target_meet();
	for (unsigned long i = 0; target_goes_on(i); i++) {
		if (is("clear"))
			queue_clear(&queue);
		else if (is("assign"))
			queue_assign(&queue);
		else
			spin_clear();
		x = target_work(x, 60);
	}
	return arg;
}

static void *try_loop(void *arg)
{
	unsigned x = 2;

	target_meet();
	for (unsigned long i = 0; target_goes_on(i); i++) {
		if (is("spin"))
			spin_try();
		else
			queue_try(&queue);
		x = target_work(x, 50);
	}
	return arg;
}

int main(int argc, char **argv)
{
	target_init(argc, argv, 2);
	kind = argc > 2 ? argv[2] : "clear";
	pthread_spin_init(&spin, PTHREAD_PROCESS_PRIVATE);
	target_race(clear_loop, try_loop);
	return target_done("over_lock");
}
