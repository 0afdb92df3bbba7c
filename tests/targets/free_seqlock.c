/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Free of races: a seqlock after Boehm (MSPC 2012). The data are relaxed
 * atomics; an odd or changed sequence number makes the reader try again, and
 * its acquire fence keeps the data's loads before the second look.
 */
#include "target.h"
#include <stdatomic.h>

static struct {
	atomic_uint sequence;
	atomic_long x, y;
} point;

NOINLINE static void point_move(long to)
{
	unsigned sequence =
		atomic_load_explicit(&point.sequence, memory_order_relaxed);

	atomic_store_explicit(&point.sequence, sequence + 1,
			      memory_order_relaxed);
	atomic_thread_fence(memory_order_release);
	atomic_store_explicit(&point.x, to, memory_order_relaxed);
	atomic_store_explicit(&point.y, -to, memory_order_relaxed);
	atomic_store_explicit(&point.sequence, sequence + 2,
			      memory_order_release);
}

NOINLINE static int point_sum(long *ret)
{
	unsigned before =
		atomic_load_explicit(&point.sequence, memory_order_acquire);
	long x = atomic_load_explicit(&point.x, memory_order_relaxed);
	long y = atomic_load_explicit(&point.y, memory_order_relaxed);

	atomic_thread_fence(memory_order_acquire);
	*ret = x + y;
	return before % 2 == 0 &&
	       before == atomic_load_explicit(&point.sequence,
					      memory_order_relaxed);
}

static void *move_loop(void *arg)
{
	unsigned x = 1;

	target_meet();
	for (unsigned long i = 0; target_goes_on(i); i++) {
		point_move((long)i);
		x = target_work(x, 60);
	}
	return arg;
}

static void *sum_loop(void *arg)
{
	long sum;

	target_meet();
	for (unsigned long i = 0; target_goes_on(i); i++)
		target_check(!point_sum(&sum) || sum == 0, "torn");
	return arg;
}

int main(int argc, char **argv)
{
	target_init(argc, argv, 2);
	target_race(move_loop, sum_loop);
	return target_done("free_seqlock");
}
