/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A plain load of what another thread stores, in a macro that has an atomic
 * load of another variable too: that macro is no evidence of an atomic load.
 */
#include "macros.h"
#include "target.h"

static long turn, cell;
long sums;

NOINLINE static void put_cell(long value)
{
	STORE_THEN(&cell, value); /* RACE: put */
}

NOINLINE static long get_cell(void)
{
	return LOAD_BOTH(&turn, &cell); /* RACE: get */
}

static void *put_loop(void *arg)
{
	unsigned x = 1;

	target_meet();
	for (unsigned long i = 0; target_goes_on(i); i++) {
		ENTER();
		put_cell((long)x);
		LEAVE();
		x = target_work(x, 40);
	}
	return arg;
}

static void *get_loop(void *arg)
{
	unsigned x = 2;

	target_meet();
	for (unsigned long i = 0; target_goes_on(i); i++) {
		ENTER();
		sums += get_cell();
		LEAVE();
		x = target_work(x, 30);
	}
	return arg;
}

int main(int argc, char **argv)
{
	target_init(argc, argv, 2);
	target_race(put_loop, get_loop);
	return target_done("macro_both");
}
