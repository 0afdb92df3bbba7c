/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A local variable of main, whose address both threads were given: it is on
 * the stack of a thread that only waits.
 */
#include "target.h"

struct total {
	long rounds, sum;
};

NOINLINE static void total_add(struct total *total, long n)
{
	total->sum += n; /* RACE: add */
}

NOINLINE static long total_look(const struct total *total)
{
	return total->sum; /* RACE: look */
}

static void *add_loop(void *arg)
{
	unsigned x = 1;

	target_meet();
	for (unsigned long i = 0; target_goes_on(i); i++) {
		ENTER();
		total_add(arg, x & 15);
		LEAVE();
		x = target_work(x, 40);
	}
	return NULL;
}

static void *look_loop(void *arg)
{
	unsigned x = 2;

	target_meet();
	for (unsigned long i = 0; target_goes_on(i); i++) {
		ENTER();
		x += (unsigned)total_look(arg);
		LEAVE();
		x = target_work(x, 30);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	struct total total = { 0, 0 };
	pthread_t adder;

	target_init(argc, argv, 2);
	adder = target_thread(add_loop, &total);
	pthread_join(target_thread(look_loop, &total), NULL);
	pthread_join(adder, NULL);
	return target_done("stack_main");
}
