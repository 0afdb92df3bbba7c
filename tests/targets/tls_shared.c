/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A thread-local variable whose thread has given its address away.
 */
#include "target.h"

static __thread long own[4];
static long *volatile given;

NOINLINE static void put(long value)
{
	long *mine = own;

	__asm__("" : "+r"(mine));
	mine[2] = value; /* RACE: put */
}

NOINLINE static long peek(void)
{
	return given[2]; /* RACE: peek */
}

static void *put_loop(void *arg)
{
	unsigned x = 1;

	pthread_setname_np(pthread_self(), "giver");
	given = own;
	target_meet();
	for (unsigned long i = 0; target_goes_on(i); i++) {
		ENTER();
		put(x);
		LEAVE();
		x = target_work(x, 40);
	}
	target_meet();
	return arg;
}

static void *peek_loop(void *arg)
{
	unsigned x = 2;

	target_meet();
	for (unsigned long i = 0; target_goes_on(i); i++) {
		ENTER();
		x += (unsigned)peek();
		LEAVE();
		x = target_work(x, 30);
	}
	target_meet();
	return arg;
}

int main(int argc, char **argv)
{
	target_init(argc, argv, 2);
	target_race(put_loop, peek_loop);
	return target_done("tls_shared");
}
