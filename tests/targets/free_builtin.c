/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Free of races: GCC's __atomic built-in functions on variables of ordinary
 * types. No type and no inlined function says that the accesses are atomic:
 * only the source does.
 */
#include "target.h"

static int busy;
static long tickets;
long ledger[4];

NOINLINE static void busy_lock(void)
{
	while (__atomic_load_n(&busy, __ATOMIC_RELAXED) ||
	       __atomic_exchange_n(&busy, 1, __ATOMIC_ACQUIRE))
		__builtin_ia32_pause();
}

NOINLINE static void busy_unlock(void)
{
	__atomic_store_n(&busy, 0, __ATOMIC_RELEASE);
}

NOINLINE static void ledger_enter(long n)
{
	target_check(ledger[0] == ledger[3], "ledger");
	for (unsigned i = 0; i < 4; i++)
		ledger[i] += n;
}

static void *ledger_loop(void *arg)
{
	long last = 0, now;

	target_meet();
	for (unsigned long i = 0; target_goes_on(i); i++) {
		busy_lock();
		ledger_enter((long)i);
		busy_unlock();
		__atomic_fetch_add(&tickets, 1, __ATOMIC_RELAXED);
		now = __atomic_load_n(&tickets, __ATOMIC_SEQ_CST);
		target_check(now > last, "tickets");
		last = now;
	}
	return arg;
}

int main(int argc, char **argv)
{
	target_init(argc, argv, 2);
	target_race(ledger_loop, ledger_loop);
	return target_done("free_builtin");
}
