/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The program replaces itself three times, from its leader and from another
 * thread, with others running; only the last one races, as read_write.c does.
 * The second argument counts down.
 */
#include "special.h"

static char **self;
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
	for (unsigned long i = 0; target_goes_on(i); i++)
		set_level((long)target_work((unsigned)i, 30));
	return arg;
}

static void *get_loop(void *arg)
{
	for (unsigned long i = 0; target_goes_on(i); i++)
		target_work((unsigned)get_level(), 30);
	return arg;
}

static void *exec_loop(void *arg)
{
	for (unsigned i = 0; i < 50000; i++)
		special_hot(i);
	execv("/proc/self/exe", self);
	target_check(0, "execv");
	return arg;
}

int main(int argc, char **argv)
{
	char left[2] = { argc > 2 ? argv[2][0] : '3', 0 };
	char *next[] = { argv[0], argc > 1 ? argv[1] : "12", left, NULL };

	target_init(argc, argv, 1);
	self = next;
	if (left[0]-- == '0') {
		target_race(set_loop, get_loop);
		return target_done("exec_self");
	}
	target_thread(special_loop, NULL);
	if (left[0] == '1')
		exec_loop(NULL);
	pthread_join(target_thread(exec_loop, NULL), NULL);
	return 1;
}
