/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * One element of a global array; its neighbours are each touched by one
 * thread only.
 */
#define GUARD_SEM
#include "target.h"

int table[8];

NOINLINE static void table_set(unsigned i, int value)
{
	table[i] = value; /* RACE: set */
}

NOINLINE static int table_get(unsigned i)
{
	return table[i]; /* RACE: get */
}

static void *set_loop(void *arg)
{
	unsigned x = 1;

	target_meet();
	for (unsigned long i = 0; target_goes_on(i); i++) {
		ENTER();
		table_set(2 + i % 2, (int)x);
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
		x += (unsigned)table_get(3 + i % 2);
		LEAVE();
		x = target_work(x, 30);
	}
	return arg;
}

int main(int argc, char **argv)
{
	target_init(argc, argv, 2);
	target_race(set_loop, get_loop);
	return target_done("array_element");
}
