/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Two bit fields in one word, each written by one thread: storing one
 * rewrites the other.
 */
#include "target.h"

struct {
	unsigned busy : 3;
	unsigned level : 7;
	unsigned rest : 22;
} state;

NOINLINE static void set_busy(unsigned value)
{
	state.busy = value; /* RACE: busy */
}

NOINLINE static void set_level(unsigned value)
{
	state.level = value; /* RACE: level */
}

static void *busy_loop(void *arg)
{
	unsigned x = 1;

	target_meet();
	for (unsigned long i = 0; target_goes_on(i); i++) {
		ENTER();
		set_busy(x);
		LEAVE();
		x = target_work(x, 40);
	}
	return arg;
}

static void *level_loop(void *arg)
{
	unsigned x = 2;

	target_meet();
	for (unsigned long i = 0; target_goes_on(i); i++) {
		ENTER();
		set_level(x);
		LEAVE();
		x = target_work(x, 30);
	}
	return arg;
}

int main(int argc, char **argv)
{
	target_init(argc, argv, 2);
	target_race(busy_loop, level_loop);
	return target_done("bit_field");
}
