/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Nine races, from hot to cold: each of nine variables is stored by one
 * thread and read by the other, the first in every turn of about 20
 * microseconds, each next one three times as seldom, the last every 130 ms.
 * What is found of them in a given time depends on how long stalls are.
 */
#include "target.h"

#define RACE(n)                                 \
	long var##n;                            \
	NOINLINE static void put##n(long value) \
	{                                       \
		var##n = value;                 \
	}                                       \
	NOINLINE static long get##n(void)       \
	{                                       \
		return var##n;                  \
	}
RACE(0)
RACE(1)
RACE(2)
RACE(3)
RACE(4)
RACE(5)
RACE(6)
RACE(7)
RACE(8)

enum { RACES = 9, TURN = 4500 /* steps: about 20 us */ };

static void (*const put[RACES])(long) = { put0, put1, put2, put3, put4,
					  put5, put6, put7, put8 };
static long (*const get[RACES])(void) = { get0, get1, get2, get3, get4,
					  get5, get6, get7, get8 };

static int goes_on(unsigned long i)
{
	return target_rounds ? i < target_rounds : target_goes_on(0);
}

static void *put_loop(void *arg)
{
	unsigned x = 1;

	target_meet();
	for (unsigned long i = 0; goes_on(i); i++) {
		for (unsigned long n = 0, period = 1; n < RACES; n++) {
			if (i % period == 0)
				put[n]((long)i);
			period *= 3;
		}
		x = target_work(x, TURN);
	}
	return arg;
}

static void *get_loop(void *arg)
{
	unsigned x = 2;

	target_meet();
	for (unsigned long i = 0; goes_on(i); i++) {
		for (unsigned long n = 0, period = 1; n < RACES; n++) {
			if (i % period == 0)
				x += (unsigned)get[n]();
			period *= 3;
		}
		x = target_work(x, TURN);
	}
	return arg;
}

int main(int argc, char **argv)
{
	target_init(argc, argv, 2);
	target_race(put_loop, get_loop);
	return target_done("spread");
}
