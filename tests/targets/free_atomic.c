/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Free of races: C11 atomics, sequentially consistent, of every size. The
 * loads compile to plain moves.
 */
#include "target.h"
#include <stdatomic.h>

_Atomic uint8_t small;
_Atomic uint16_t medium;
_Atomic uint32_t word;
_Atomic uint64_t big;
_Atomic(char *) pointer;
atomic_flag flag = ATOMIC_FLAG_INIT;
long guarded;

NOINLINE static void all_store(unsigned x)
{
	small = (uint8_t)x;
	medium = (uint16_t)x;
	atomic_store(&word, x);
	atomic_fetch_add(&big, x);
	pointer = (char *)(uintptr_t)x;
}

NOINLINE static unsigned all_load(void)
{
	unsigned x = small + medium + (unsigned)(uintptr_t)pointer;
	uint32_t seen = word;

	atomic_compare_exchange_strong(&word, &seen, seen + 1);
	return x + seen + (unsigned)atomic_load(&big);
}

NOINLINE static void guarded_add(long n)
{
	while (atomic_flag_test_and_set(&flag))
		__builtin_ia32_pause();
	guarded += n;
	atomic_flag_clear(&flag);
}

static void *store_loop(void *arg)
{
	unsigned x = 1;

	target_meet();
	for (unsigned long i = 0; target_goes_on(i); i++) {
		all_store(x = target_work(x, 40));
		guarded_add(1);
	}
	return arg;
}

static void *load_loop(void *arg)
{
	unsigned x = 2;

	target_meet();
	for (unsigned long i = 0; target_goes_on(i); i++) {
		x = target_work(x + all_load(), 40);
		guarded_add(-1);
	}
	return arg;
}

int main(int argc, char **argv)
{
	target_init(argc, argv, 2);
	target_race(store_loop, load_loop);
	return target_done("free_atomic");
}
