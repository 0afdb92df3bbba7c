/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Two races, one after the other: both threads count in one variable for the
 * first half of the time, and in another for the second. Both go below zero.
 */
#include "target.h"

long early, late;

NOINLINE static void early_count(void)
{
	early--;
}

NOINLINE static void late_count(void)
{
	late--;
}

static uint64_t half;

static void *phases_loop(void *arg)
{
	target_meet();
	for (unsigned long i = 0; target_goes_on(i); i++) {
		if (target_clock() < half)
			early_count();
		else
			late_count();
	}
	return arg;
}

int main(int argc, char **argv)
{
	uint64_t now = target_clock();

	target_init(argc, argv, 2);
	half = now + (target_deadline - now) / 2;
	target_race(phases_loop, phases_loop);
	return target_done("phases");
}
