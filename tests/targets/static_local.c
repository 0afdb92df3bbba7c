/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A static local variable is as shared as a global one.
 */
#include "target.h"

int seen;

NOINLINE static int *next_id(int step)
{
	static int last_id;

	if (step)
		last_id = step; /* RACE: next */
	return &last_id;
}

NOINLINE static int peek_id(const int *id)
{
	return *id; /* RACE: peek */
}

static void *next_loop(void *arg)
{
	unsigned x = 1;

	target_meet();
	for (unsigned long i = 0; target_goes_on(i); i++) {
		ENTER();
		next_id((int)(x | 1));
		LEAVE();
		x = target_work(x, 40);
	}
	return arg;
}

static void *peek_loop(void *arg)
{
	unsigned x = 2;

	target_meet();
	for (unsigned long i = 0; target_goes_on(i); i++) {
		ENTER();
		x += (unsigned)peek_id(next_id(0));
		LEAVE();
		x = target_work(x, 30);
	}
	return arg;
}

int main(int argc, char **argv)
{
	target_init(argc, argv, 2);
	target_race(next_loop, peek_loop);
	seen = peek_id(next_id(0));
	target_check(seen != 0, "no identity was given");
	return target_done("static_local");
}
