/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A 16-byte vector stored by one thread and read by the other, each with
 * one SSE instruction.
 */
#include "target.h"

typedef long long wide __attribute__((vector_size(16)));

wide pair;

NOINLINE static void pair_put(wide value)
{
	pair = value; /* RACE: put */
}

NOINLINE static wide pair_get(void)
{
	return pair; /* RACE: get */
}

static void *put_loop(void *arg)
{
	unsigned x = 1;

	target_meet();
	for (unsigned long i = 0; target_goes_on(i); i++) {
		ENTER();
		pair_put((wide){ (long)x, (long)i });
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
		x += (unsigned)pair_get()[0];
		LEAVE();
		x = target_work(x, 30);
	}
	return arg;
}

int main(int argc, char **argv)
{
	target_init(argc, argv, 2);
	target_race(put_loop, get_loop);
	return target_done("wide16");
}
