/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Two processes with one piece of memory: the source says how it is made
 * and who is the second, the rest is the same. Built with -DTWIN, a process-shared
 * mutex guards the accesses.
 */
#ifndef SHARED_H
#define SHARED_H

#include "target.h"
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/wait.h>

struct shared {
	pthread_mutex_t mutex;
	pthread_barrier_t barrier;
	uint32_t padding[64];
	uint32_t cell;
};

static struct shared *shared;

NOINLINE static void shared_put(struct shared *memory, uint32_t value)
{
	memory->cell = value;
}

NOINLINE static uint32_t shared_get(const struct shared *memory)
{
	return memory->cell;
}

static void shared_enter(void)
{
#ifdef TWIN
	pthread_mutex_lock(&shared->mutex);
#else
	OPAQUE();
#endif
}

static void shared_leave(void)
{
#ifdef TWIN
	pthread_mutex_unlock(&shared->mutex);
#else
	OPAQUE();
#endif
}

UNUSED static void shared_init(struct shared *memory)
{
	pthread_mutexattr_t mutex;
	pthread_barrierattr_t barrier;

	pthread_mutexattr_init(&mutex);
	pthread_mutexattr_setpshared(&mutex, PTHREAD_PROCESS_SHARED);
	pthread_mutex_init(&memory->mutex, &mutex);
	pthread_barrierattr_init(&barrier);
	pthread_barrierattr_setpshared(&barrier, PTHREAD_PROCESS_SHARED);
	pthread_barrier_init(&memory->barrier, &barrier, 2);
}

NOINLINE static void shared_put_loop(void)
{
	unsigned x = 1;

	for (unsigned long i = 0; target_goes_on(i); i++) {
		shared_enter();
		shared_put(shared, x);
		shared_leave();
		x = target_work(x, 60);
	}
}

NOINLINE static void shared_get_loop(void)
{
	unsigned x = 2;

	for (unsigned long i = 0; target_goes_on(i); i++) {
		shared_enter();
		x += shared_get(shared);
		shared_leave();
		x = target_work(x, 50);
	}
}

#endif
