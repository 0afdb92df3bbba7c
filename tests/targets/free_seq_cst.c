/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Free of races: Peterson's lock for two threads. Its words are sequentially
 * consistent C11 atomics, so of two that enter one sees the other; the
 * ledger they guard is plain.
 */
#include "target.h"
#include <stdatomic.h>

static atomic_bool wants[2];
static atomic_int turn;
long ledger[4];

NOINLINE static void peterson_lock(int me)
{
	atomic_store(&wants[me], 1);
	atomic_store(&turn, !me);
	while (atomic_load(&wants[!me]) && atomic_load(&turn) == !me)
		__builtin_ia32_pause();
}

NOINLINE static void peterson_unlock(int me)
{
	atomic_store(&wants[me], 0);
}

NOINLINE static int ledger_enter(long n)
{
	int good = ledger[0] == ledger[3];

	for (unsigned i = 0; i < 4; i++)
		ledger[i] += n;
	return good;
}

static void ledger_rounds(int me)
{
	target_meet();
	for (unsigned long i = 0; target_goes_on(i); i++) {
		peterson_lock(me);
		target_check(ledger_enter((long)i), "ledger");
		peterson_unlock(me);
	}
}

static void *first_loop(void *arg)
{
	ledger_rounds(0);
	return arg;
}

static void *second_loop(void *arg)
{
	ledger_rounds(1);
	return arg;
}

int main(int argc, char **argv)
{
	target_init(argc, argv, 2);
	target_race(first_loop, second_loop);
	return target_done("free_seq_cst");
}
