/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * One thread stores a global long, the other only reads it.
 */
#define GUARD_RWLOCK
#include "target.h"

long level;

NOINLINE static void set_level(long value)
{
	level = value; /* RACE: set */
}

NOINLINE static long get_level(void)
{
	return level; /* RACE: get */
}

static void *set_loop(void *arg)
{
	unsigned x = 1;

	target_meet();
	for (unsigned long i = 0; target_goes_on(i); i++) {
		ENTER();
		set_level(x);
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
		ENTER_READ();
		x += (unsigned)get_level();
		LEAVE();
		x = target_work(x, 30);
	}
	return arg;
}

int main(int argc, char **argv)
{
	target_init(argc, argv, 2);
	target_race(set_loop, get_loop);
	return target_done("read_write");
}
