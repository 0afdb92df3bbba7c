/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A race on a path that runs twice a second, beside a hot loop that fills
 * another array: a sampler of executions would hardly ever look at it, one
 * of locations does.
 */
#include "target.h"

long config;
long own[256];

NOINLINE static void config_set(long value)
{
	config = value; /* RACE: set */
}

NOINLINE static long config_get(void)
{
	return config; /* RACE: get */
}

NOINLINE static void own_fill(unsigned at, long value)
{
	own[at % 256] += value;
}

/* The pause is the behaviour; it puts nothing in order. */
static void *admin_loop(void *arg)
{
	struct timespec next;
	unsigned long i = 0;

	target_meet();
	clock_gettime(CLOCK_MONOTONIC, &next);
	while (target_clock() < target_deadline) {
		ENTER();
		config_set((long)++i);
		LEAVE();
		next.tv_sec += i % 2;
		next.tv_nsec = i % 2 ? 0 : 500000000;
		clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &next, NULL);
	}
	return arg;
}

static void *hot_loop(void *arg)
{
	unsigned x = 2;

	target_meet();
	for (unsigned long i = 0; target_goes_on(i); i++) {
		for (unsigned k = 0; k < 50; k++)
			own_fill(x = target_work(x, 2), (long)i);
		ENTER_READ();
		x += (unsigned)config_get();
		LEAVE();
	}
	return arg;
}

int main(int argc, char **argv)
{
	target_init(argc, argv, 2);
	target_race(admin_loop, hot_loop);
	return target_done("rare");
}
