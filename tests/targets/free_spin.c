/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Free of races: a hand-written lock that tests before it tests and sets, and
 * backs off; the ledger it guards is plain.
 */
#include "target.h"
#include <stdatomic.h>

static struct lock {
	atomic_int taken;
} lock;
long ledger[4];

NOINLINE static void lock_take(struct lock *at)
{
	while (atomic_exchange_explicit(&at->taken, 1, memory_order_acquire))
		while (atomic_load_explicit(&at->taken, memory_order_relaxed))
			__builtin_ia32_pause();
}

NOINLINE static void lock_leave(struct lock *at)
{
	atomic_store_explicit(&at->taken, 0, memory_order_release);
}

NOINLINE static void ledger_enter(long n)
{
	target_check(ledger[0] == ledger[3], "ledger");
	for (unsigned i = 0; i < 4; i++)
		ledger[i] += n;
}

static void *ledger_loop(void *arg)
{
	target_meet();
	for (unsigned long i = 0; target_goes_on(i); i++) {
		lock_take(&lock);
		ledger_enter((long)i);
		lock_leave(&lock);
	}
	return arg;
}

int main(int argc, char **argv)
{
	target_init(argc, argv, 2);
	target_race(ledger_loop, ledger_loop);
	return target_done("free_spin");
}
