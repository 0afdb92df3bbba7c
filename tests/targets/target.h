/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The frame all target programs share: how long to run, how the threads
 * start together, and the guards of the race-free twins.
 *
 * A target is called as
 *
 *	NAME            run for 12 seconds
 *	NAME SECONDS    run for so long (a decimal fraction is fine)
 *	NAME xN         fixed work: N rounds in each thread
 *
 * It ends with the line "NAME: done" on standard output and exit status 0.
 *
 * Nothing here races: the deadline is written before the first thread is
 * born and only read after, so there is no stop flag. The start is a
 * barrier. Never is a sleep used to put things in order.
 *
 * Most targets are two programs: compiled with -DTWIN, ENTER() and LEAVE()
 * become a real guard, and the very same accesses are free of races. The
 * source chooses the guard by naming it before the inclusion:
 * GUARD_MUTEX (the default), GUARD_RWLOCK, GUARD_SEM, GUARD_SPIN.
 */
#ifndef TARGET_H
#define TARGET_H

#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* A function the compiler must call, knowing nothing of its body. */
#ifdef __clang__
#define NOINLINE __attribute__((noinline))
#else
#define NOINLINE __attribute__((noipa))
#endif
#define UNUSED __attribute__((unused))

/* Keeps the compiler from moving or merging accesses across this point. */
#define OPAQUE() __asm__ volatile("" ::: "memory")

static uint64_t target_deadline;
static unsigned long target_rounds;
static pthread_barrier_t target_barrier;

UNUSED static uint64_t target_clock(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

/* Reads the argument; THREADS is how many call target_meet(). */
UNUSED static void target_init(int argc, char **argv, unsigned threads)
{
	double seconds = 12;

	if (argc > 1 && argv[1][0] == 'x')
		target_rounds = strtoul(argv[1] + 1, NULL, 10);
	else if (argc > 1)
		seconds = strtod(argv[1], NULL);
	target_deadline = target_clock() + (uint64_t)(seconds * 1e9);
	pthread_barrier_init(&target_barrier, NULL, threads ? threads : 1);
}

/* All threads start their loops together. */
UNUSED static void target_meet(void)
{
	pthread_barrier_wait(&target_barrier);
}

/* Whether round I is still to be done. Looks at the clock every 64 rounds. */
UNUSED static int target_goes_on(unsigned long i)
{
	if (target_rounds)
		return i < target_rounds;
	return i % 64 || target_clock() < target_deadline;
}

/*
 * Work between two accesses: N steps in registers, no shared memory. X counts
 * as used by it.
 */
UNUSED NOINLINE static unsigned target_work(unsigned x, unsigned n)
{
	__asm__ volatile("" : "+r"(x));
	while (n--) {
		x ^= x << 13;
		x ^= x >> 17;
		x ^= x << 5;
	}
	return x;
}

UNUSED static void target_check(int good, const char *what)
{
	if (good)
		return;
	fprintf(stderr, "target: %s\n", what);
	_exit(1);
}

UNUSED static pthread_t target_thread(void *(*loop)(void *), void *arg)
{
	pthread_t thread;

	target_check(!pthread_create(&thread, NULL, loop, arg),
		     "pthread_create");
	return thread;
}

/* Runs both loops, each in a thread of its own, and waits for them. */
UNUSED static void target_race(void *(*a)(void *), void *(*b)(void *))
{
	pthread_t first = target_thread(a, NULL);
	pthread_t second = target_thread(b, NULL);

	pthread_join(first, NULL);
	pthread_join(second, NULL);
}

/* The known last line; the value is for main() to return. */
UNUSED static int target_done(const char *name)
{
	printf("%s: done\n", name);
	return 0;
}

/* The guards. ENTER() is for a writer, ENTER_READ() for a reader. */
#ifndef TWIN
#define ENTER() OPAQUE()
#define LEAVE() OPAQUE()
#define ENTER_READ() ENTER()
#elif defined(GUARD_RWLOCK)
static pthread_rwlock_t target_rwlock = PTHREAD_RWLOCK_INITIALIZER;
#define ENTER() pthread_rwlock_wrlock(&target_rwlock)
#define ENTER_READ() pthread_rwlock_rdlock(&target_rwlock)
#define LEAVE() pthread_rwlock_unlock(&target_rwlock)
#elif defined(GUARD_SEM)
static sem_t target_sem;
__attribute__((constructor)) static void target_sem_init(void)
{
	sem_init(&target_sem, 0, 1);
}
#define ENTER()                       \
	while (sem_wait(&target_sem)) \
		;
#define LEAVE() sem_post(&target_sem)
#define ENTER_READ() ENTER()
#elif defined(GUARD_SPIN)
static pthread_spinlock_t target_spin;
__attribute__((constructor)) static void target_spin_init(void)
{
	pthread_spin_init(&target_spin, PTHREAD_PROCESS_PRIVATE);
}
#define ENTER() pthread_spin_lock(&target_spin)
#define LEAVE() pthread_spin_unlock(&target_spin)
#define ENTER_READ() ENTER()
#else
UNUSED static pthread_mutex_t target_mutex = PTHREAD_MUTEX_INITIALIZER;
#define ENTER() pthread_mutex_lock(&target_mutex)
#define LEAVE() pthread_mutex_unlock(&target_mutex)
#define ENTER_READ() ENTER()
#endif

#endif
