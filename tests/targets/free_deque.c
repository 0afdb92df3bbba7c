/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Free of races: a work-stealing deque (Chase and Lev; its orders as Le and
 * others give them for C11). The owner pushes and takes at the bottom, the
 * thief steals at the top; a job's plain body goes with it.
 */
#include "target.h"
#include <stdatomic.h>

enum { SIZE = 64 };

struct job {
	long serial, twice;
};

static _Atomic long top, bottom;
static struct job *_Atomic ring[SIZE];
static atomic_int over;

NOINLINE static int deque_push(struct job *job)
{
	long b = atomic_load_explicit(&bottom, memory_order_relaxed);
	long t = atomic_load_explicit(&top, memory_order_acquire);

	if (b - t >= SIZE)
		return 0;
	atomic_store_explicit(&ring[b % SIZE], job, memory_order_relaxed);
	atomic_thread_fence(memory_order_release);
	atomic_store_explicit(&bottom, b + 1, memory_order_relaxed);
	return 1;
}

NOINLINE static struct job *deque_take(void)
{
	long b = atomic_load_explicit(&bottom, memory_order_relaxed) - 1, t;
	struct job *job = NULL;

	atomic_store_explicit(&bottom, b, memory_order_relaxed);
	atomic_thread_fence(memory_order_seq_cst);
	t = atomic_load_explicit(&top, memory_order_relaxed);
	if (t <= b)
		job = atomic_load_explicit(&ring[b % SIZE],
					   memory_order_relaxed);
	if (t == b && !atomic_compare_exchange_strong_explicit(
			      &top, &t, t + 1, memory_order_seq_cst,
			      memory_order_relaxed))
		job = NULL;
	if (t >= b)
		atomic_store_explicit(&bottom, b + 1, memory_order_relaxed);
	return job;
}

NOINLINE static struct job *deque_steal(void)
{
	long t = atomic_load_explicit(&top, memory_order_acquire), b;
	struct job *job;

	atomic_thread_fence(memory_order_seq_cst);
	b = atomic_load_explicit(&bottom, memory_order_acquire);
	if (t >= b)
		return NULL;
	job = atomic_load_explicit(&ring[t % SIZE], memory_order_relaxed);
	return atomic_compare_exchange_strong_explicit(&top, &t, t + 1,
						       memory_order_seq_cst,
						       memory_order_relaxed)
		       ? job
		       : NULL;
}

NOINLINE static void job_do(struct job *job)
{
	if (!job)
		return;
	target_check(job->twice == 2 * job->serial, "job");
	free(job);
}

static void *owner_loop(void *arg)
{
	target_meet();
	for (unsigned long i = 0; target_goes_on(i); i++) {
		struct job *job = malloc(sizeof(*job));

		job->serial = (long)i;
		job->twice = 2 * (long)i;
		if (!deque_push(job))
			job_do(job);
		if (i % 3 == 0)
			job_do(deque_take());
	}
	atomic_store(&over, 1);
	return arg;
}

static void *thief_loop(void *arg)
{
	target_meet();
	while (!atomic_load(&over))
		job_do(deque_steal());
	return arg;
}

int main(int argc, char **argv)
{
	struct job *job;

	target_init(argc, argv, 2);
	target_race(owner_loop, thief_loop);
	while ((job = deque_take()))
		job_do(job);
	return target_done("free_deque");
}
