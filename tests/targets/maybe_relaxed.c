/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Weaker atomics: relaxed, acquire and release operations of C11 are free of
 * races too, but their moves are the same instructions as plain accesses.
 * A report here is allowed, not wanted: see the .expect file.
 */
#include "target.h"
#include <stdatomic.h>

atomic_long relaxed;
atomic_int stage;
long handed;

NOINLINE static void relaxed_put(long value)
{
	atomic_store_explicit(&relaxed, value, memory_order_relaxed);
}

NOINLINE static long relaxed_get(void)
{
	return atomic_load_explicit(&relaxed, memory_order_relaxed);
}

NOINLINE static int hand_over(int to, long add)
{
	if (atomic_load_explicit(&stage, memory_order_acquire) == to)
		return 0;
	handed += add;
	atomic_store_explicit(&stage, to, memory_order_release);
	return 1;
}

static void *one_loop(void *arg)
{
	unsigned x = 1;

	target_meet();
	for (unsigned long i = 0; target_goes_on(i); i++) {
		relaxed_put((long)x);
		hand_over(1, 5);
		x = target_work(x, 30);
	}
	return arg;
}

static void *two_loop(void *arg)
{
	unsigned x = 2;

	target_meet();
	for (unsigned long i = 0; target_goes_on(i); i++) {
		x += (unsigned)relaxed_get();
		hand_over(0, -3);
		x = target_work(x, 30);
	}
	return arg;
}

int main(int argc, char **argv)
{
	target_init(argc, argv, 2);
	target_race(one_loop, two_loop);
	return target_done("maybe_relaxed");
}
