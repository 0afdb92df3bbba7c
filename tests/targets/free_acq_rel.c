/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Free of races: a baton in an atomic word, handed on by compare-and-swap
 * with memory_order_acq_rel; whoever has it uses the plain ledger. The
 * attempt that fails is relaxed and touches nothing.
 */
#include "target.h"
#include <stdatomic.h>

static atomic_uint baton;
long ledger[4];

NOINLINE static int baton_take(void)
{
	unsigned seen = 0;

	return atomic_compare_exchange_strong_explicit(
		&baton, &seen, 1, memory_order_acq_rel, memory_order_relaxed);
}

NOINLINE static void baton_put(void)
{
	atomic_fetch_sub_explicit(&baton, 1, memory_order_acq_rel);
}

NOINLINE static int ledger_enter(long n)
{
	int good = ledger[0] == ledger[3];

	for (unsigned i = 0; i < 4; i++)
		ledger[i] += n;
	return good;
}

static void *ledger_loop(void *arg)
{
	target_meet();
	for (unsigned long i = 0; target_goes_on(i); i++) {
		if (!baton_take())
			continue;
		target_check(ledger_enter((long)i), "ledger");
		baton_put();
	}
	return arg;
}

int main(int argc, char **argv)
{
	target_init(argc, argv, 2);
	target_race(ledger_loop, ledger_loop);
	return target_done("free_acq_rel");
}
