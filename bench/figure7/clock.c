/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * One thread keeps the time for all: as seconds, as ticks, and as a pair that
 * is torn when it is read between its halves.
 */
#include "figure7.h"

struct wall {
	long seconds, nanoseconds;
};

struct wall wall;
unsigned current_time = 1700000000;
unsigned long uptime_ticks;

NOINLINE static void wall_set(long seconds, long nanoseconds)
{
	wall.nanoseconds = nanoseconds; /* RACE: wall */
	wall.seconds = seconds; /* RACE: wall */
}

NOINLINE static long wall_get(void)
{
	/* RACE: wall */
	return wall.seconds * 1000000000 + wall.nanoseconds; /* RACE: wall */
}

NOINLINE static void time_update(unsigned seconds)
{
	current_time = seconds; /* RACE: current_time */
}

NOINLINE static int is_expired(unsigned deadline)
{
	return current_time > deadline; /* RACE: current_time */
}

NOINLINE static void ticks_advance(void)
{
	uptime_ticks++; /* RACE: uptime_ticks */
}

NOINLINE static unsigned long ticks_since(unsigned long start)
{
	return uptime_ticks - start; /* RACE: uptime_ticks */
}

static void ticker(unsigned long i)
{
	wall_set((long)(i / 3), (long)(i % 3) * 333333333);
	time_update(1700000000 + (unsigned)(i / 4));
	ticks_advance();
}

static void worker(unsigned long i)
{
	use((unsigned long)wall_get());
	if (is_expired((unsigned)(1700000000 + i / 4)))
		use(i);
	if (ticks_since(i) > 100000)
		use(i);
}

int main(int argc, char **argv)
{
	struct role roles[] = {
		{ ticker, 80 }, { worker, 30 }, { worker, 40 }, { NULL, 0 }
	};

	return roles_run(argc, argv, "clock", roles);
}
