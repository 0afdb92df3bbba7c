/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Free of races: a spinlock as servers with worker processes have it, made for
 * any compiler. The lock is a volatile word; it is looked at plainly before a
 * compare-and-swap is tried, with ever longer pauses, and given back by a plain
 * store behind a compiler barrier. A second word is taken once and tried by all
 * (a trylock), as the mutex for accepting connections is.
 */
#include "target.h"

#include <sched.h>
#include <stdbool.h>

typedef volatile unsigned long word;

enum { SPINS = 64 };

static word lock, accepting;
static unsigned long shared, served;

static bool word_take(word *at, unsigned long who)
{
	return *at == 0 && __sync_bool_compare_and_swap(at, 0, who);
}

NOINLINE static void spin_lock(word *at, unsigned long who)
{
	for (;;) {
		if (word_take(at, who))
			return;
		for (int n = 1; n < SPINS; n <<= 1) {
			for (int i = 0; i < n; i++)
				__asm__ volatile("pause");
			if (word_take(at, who))
				return;
		}
		sched_yield();
	}
}

NOINLINE static void spin_unlock(word *at)
{
	__asm__ volatile("" ::: "memory");
	*at = 0;
}

NOINLINE static void count_shared(unsigned x)
{
	shared += x;
}

NOINLINE static void count_served(void)
{
	served++;
}

static void *serve(void *arg)
{
	unsigned long who = (unsigned long)pthread_self();
	unsigned x = (unsigned)who;

	target_meet();
	for (unsigned long i = 0; target_goes_on(i); i++) {
		spin_lock(&lock, who);
		count_shared(x);
		spin_unlock(&lock);
		if (word_take(&accepting, who)) {
			count_served();
			spin_unlock(&accepting);
		}
		x = target_work(x, 40);
	}
	return arg;
}

int main(int argc, char **argv)
{
	target_init(argc, argv, 2);
	target_race(serve, serve);
	return target_done("free_spin_pause");
}
