/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The frame of the programs that bench/peers/run compares the tools on: fixed
 * work by two threads, so many rounds each. A program is two: as it stands it
 * forgets something, and truth.tab says which races that makes; with -DTWIN it
 * does not, and is free of races.
 *
 * Harm is done, but only to the program's own data: no index, pointer or
 * length is used beyond what is always there, and nobody waits for a count.
 */
#ifndef PEERS_H
#define PEERS_H

#include "target.h"

#include <stdatomic.h>

enum { WORKERS = 2 };

/* What the racy program leaves out, and a counter that should be atomic. */
#ifdef TWIN
#define FORGOTTEN(call) (call)
#define FORGOTTEN_ATOMIC _Atomic
#else
#define FORGOTTEN(call) ((void)0)
#define FORGOTTEN_ATOMIC
#endif

#define WITH_LOCK(lock) FORGOTTEN(pthread_mutex_lock(lock))
#define WITHOUT_LOCK(lock) FORGOTTEN(pthread_mutex_unlock(lock))

struct worker {
	unsigned number;
	void (*round)(const struct worker *worker, unsigned long i);
};

UNUSED static void *worker_loop(void *arg)
{
	struct worker *worker = (struct worker *)arg;

	target_meet();
	for (unsigned long i = 0; target_goes_on(i); i++)
		worker->round(worker, i);
	return NULL;
}

/* Runs two workers, one round after the other; what main() returns. */
UNUSED static int
workers_run(int argc, char **argv, const char *name,
	    void (*first)(const struct worker *worker, unsigned long i),
	    void (*second)(const struct worker *worker, unsigned long i))
{
	struct worker workers[WORKERS] = {
		{ .number = 0, .round = first },
		{ .number = 1, .round = second },
	};
	pthread_t threads[WORKERS];

	target_init(argc, argv, WORKERS);
	for (unsigned i = 0; i < WORKERS; i++)
		threads[i] = target_thread(worker_loop, &workers[i]);
	for (unsigned i = 0; i < WORKERS; i++)
		pthread_join(threads[i], NULL);
	return target_done(name);
}

/*
 * Whether something that is done SELDOM times in the work is now due; without
 * rounds to count, every 65 536.
 */
enum { SELDOM = 6 };

UNUSED static int is_seldom(unsigned long i)
{
	unsigned long period = target_rounds ? target_rounds / SELDOM : 65536;

	return i % (period + 1) == period;
}

/* The compiler must have the value, and cannot know what for. */
UNUSED NOINLINE static void use(unsigned long value)
{
	__asm__ volatile("" : : "r"(value) : "memory");
}

#endif
