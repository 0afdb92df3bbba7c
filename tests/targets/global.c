/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Two threads store into one global int: write against write.
 */
#include "target.h"

int shared;

NOINLINE static void put_left(int value)
{
	shared = value; /* RACE: left */
}

NOINLINE static void put_right(int value)
{
	shared = value; /* RACE: right */
}

static void *left_loop(void *arg)
{
	unsigned x = 1;

	target_meet();
	for (unsigned long i = 0; target_goes_on(i); i++) {
		ENTER();
		put_left((int)x);
		LEAVE();
		x = target_work(x, 40);
	}
	return arg;
}

static void *right_loop(void *arg)
{
	unsigned x = 2;

	target_meet();
	for (unsigned long i = 0; target_goes_on(i); i++) {
		ENTER();
		put_right((int)x);
		LEAVE();
		x = target_work(x, 30);
	}
	return arg;
}

int main(int argc, char **argv)
{
	target_init(argc, argv, 2);
	target_race(left_loop, right_loop);
	return target_done("global");
}
