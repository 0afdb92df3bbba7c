/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Free of races: a pair of 16 bytes that is changed by cmpxchg16b only, and
 * read by two atomic loads of 8 bytes, as stacks with a counted head do: the
 * compare-and-swap fails where they do not belong together.
 */
#include "target.h"

struct pair {
	unsigned long top, count;
} __attribute__((aligned(16)));

static struct pair pair;

NOINLINE static int pair_swap(const struct pair *old, const struct pair *new)
{
	unsigned long low = old->top, high = old->count;
	char done;

	__asm__ volatile("lock cmpxchg16b %1"
			 : "=@ccz"(done), "+m"(pair), "+a"(low), "+d"(high)
			 : "b"(new->top), "c"(new->count)
			 : "memory");
	return done;
}

NOINLINE static struct pair pair_look(void)
{
	struct pair seen;

	seen.count = __atomic_load_n(&pair.count, __ATOMIC_ACQUIRE);
	seen.top = __atomic_load_n(&pair.top, __ATOMIC_ACQUIRE);
	return seen;
}

static void *swap_loop(void *arg)
{
	target_meet();
	for (unsigned long i = 0; target_goes_on(i); i++) {
		struct pair old = pair_look(), new = old;

		new.top += 2;
		new.count++;
		if (pair_swap(&old, &new))
			target_check(new.top == 2 * new.count, "torn");
	}
	return arg;
}

int main(int argc, char **argv)
{
	target_init(argc, argv, 2);
	target_race(swap_loop, swap_loop);
	return target_done("free_dwcas");
}
