/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A hook is replaced while the other thread calls through it: the reading
 * instruction is an indirect call, so a trap after it stands at the first
 * instruction of the callee.
 */
#include "target.h"

static unsigned hook_add(unsigned x)
{
	return x + 1;
}

static unsigned hook_flip(unsigned x)
{
	return ~x;
}

unsigned (*hook)(unsigned) = hook_add;

NOINLINE static void hook_set(unsigned (*to)(unsigned))
{
	hook = to; /* RACE: set */
}

NOINLINE static unsigned hook_call(unsigned x)
{
	return 3 + hook(x); /* RACE: call */
}

static void *set_loop(void *arg)
{
	unsigned x = 1;

	target_meet();
	for (unsigned long i = 0; target_goes_on(i); i++) {
		ENTER();
		hook_set(x & 1 ? hook_add : hook_flip);
		LEAVE();
		x = target_work(x, 40);
	}
	return arg;
}

static void *call_loop(void *arg)
{
	unsigned x = 2;

	target_meet();
	for (unsigned long i = 0; target_goes_on(i); i++) {
		ENTER();
		x += hook_call(x);
		LEAVE();
		x = target_work(x, 30);
	}
	return arg;
}

int main(int argc, char **argv)
{
	target_init(argc, argv, 2);
	target_race(set_loop, call_loop);
	return target_done("call_through");
}
