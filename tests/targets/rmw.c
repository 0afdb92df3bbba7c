/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * An unlocked statistics counter: both threads add to one global long.
 */
#include "target.h"

long counter;

NOINLINE static void count_in(long n)
{
	counter += n; /* RACE: in */
}

NOINLINE static void count_out(long n)
{
	counter -= n; /* RACE: out */
}

static void *in_loop(void *arg)
{
	unsigned x = 1;

	target_meet();
	for (unsigned long i = 0; target_goes_on(i); i++) {
		ENTER();
		count_in(x & 7);
		LEAVE();
		x = target_work(x, 40);
	}
	return arg;
}

static void *out_loop(void *arg)
{
	unsigned x = 2;

	target_meet();
	for (unsigned long i = 0; target_goes_on(i); i++) {
		ENTER();
		count_out(x & 3);
		LEAVE();
		x = target_work(x, 30);
	}
	return arg;
}

int main(int argc, char **argv)
{
	target_init(argc, argv, 2);
	target_race(in_loop, out_loop);
	return target_done("rmw");
}
