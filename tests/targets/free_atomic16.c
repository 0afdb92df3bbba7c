/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Free of races: an atomic pair of 16 bytes, which the compiler leaves to
 * libatomic: a compare-and-swap of 16 bytes, or vector moves where those are
 * known to be atomic.
 */
#include "target.h"
#include <stdatomic.h>

#ifdef __clang__
#pragma clang diagnostic ignored "-Watomic-alignment"
#endif

struct pair {
	long value, negative;
};

static _Atomic struct pair pair;

NOINLINE static void pair_put(long value)
{
	struct pair new = { value, -value };

	atomic_store_explicit(&pair, new, memory_order_release);
}

NOINLINE static long pair_get(void)
{
	struct pair seen = atomic_load_explicit(&pair, memory_order_acquire);

	target_check(seen.value == -seen.negative, "torn");
	return seen.value;
}

static void *put_loop(void *arg)
{
	target_meet();
	for (unsigned long i = 0; target_goes_on(i); i++)
		pair_put((long)i);
	return arg;
}

static void *get_loop(void *arg)
{
	long last = 0, now;

	target_meet();
	for (unsigned long i = 0; target_goes_on(i); i++) {
		now = pair_get();
		target_check(now >= last, "order");
		last = now;
	}
	return arg;
}

int main(int argc, char **argv)
{
	target_init(argc, argv, 2);
	target_race(put_loop, get_loop);
	return target_done("free_atomic16");
}
