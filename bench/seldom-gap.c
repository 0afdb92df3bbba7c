/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * For bench/sweep: a write, and a read that follows it 10 ms later, every 60 ms,
 * by the clock: a thread that is held for a millisecond does not see the other.
 */
#include "target.h"

long setting;
long filler[256];

enum { PERIOD_NS = 60000000, GAP_NS = 10000000 };

NOINLINE static void setting_put(long value)
{
	setting = value;
}

NOINLINE static long setting_get(void)
{
	return setting;
}

/* The next moment of the clock that is so far behind a whole period. */
static void sleep_to(uint64_t phase)
{
	uint64_t at = (target_clock() / PERIOD_NS + 1) * PERIOD_NS + phase;
	struct timespec when = { .tv_sec = (time_t)(at / 1000000000),
				 .tv_nsec = (long)(at % 1000000000) };

	clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &when, NULL);
}

static void *put_loop(void *arg)
{
	target_meet();
	for (long i = 0; target_clock() < target_deadline; i++) {
		sleep_to(0);
		setting_put(i);
	}
	return arg;
}

static void *get_loop(void *arg)
{
	target_meet();
	while (target_clock() < target_deadline) {
		sleep_to(GAP_NS);
		filler[(unsigned long)setting_get() % 256]++;
	}
	return arg;
}

int main(int argc, char **argv)
{
	target_init(argc, argv, 2);
	target_race(put_loop, get_loop);
	return target_done("seldom-gap");
}
