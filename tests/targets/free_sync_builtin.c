/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Free of races: GCC's old __sync built-in functions, as documented: test
 * and set acquires, __sync_lock_release() (a plain move) releases, and
 * a counter is read by adding nothing.
 */
#include "target.h"

static char busy;
static long total;
long ledger[4];

NOINLINE static void busy_lock(void)
{
	while (__sync_lock_test_and_set(&busy, 1))
		__builtin_ia32_pause();
}

NOINLINE static void busy_unlock(void)
{
	__sync_lock_release(&busy);
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
		__sync_add_and_fetch(&total, 1);
		now = __sync_fetch_and_add(&total, 0);
		target_check(now > last, "total");
		last = now;
	}
	return arg;
}

int main(int argc, char **argv)
{
	target_init(argc, argv, 2);
	target_race(ledger_loop, ledger_loop);
	return target_done("free_sync_builtin");
}
