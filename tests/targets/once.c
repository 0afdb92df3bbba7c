/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A race that happens once: in the middle of the run one thread writes what
 * the other reads all the time. A sampler has to be there when it happens.
 */
#include "target.h"

long published;
static uint64_t middle;

NOINLINE static void publish(long value)
{
	published = value;
}

NOINLINE static long look(void)
{
	return published;
}

static void *publisher(void *arg)
{
	unsigned x = 1;

	target_meet();
	while (target_clock() < middle)
		x = target_work(x, 500);
	publish((long)x);
	while (target_clock() < target_deadline)
		x = target_work(x, 500);
	return arg;
}

static void *reader(void *arg)
{
	unsigned x = 2;

	target_meet();
	for (unsigned long i = 0; target_goes_on(i); i++)
		x = target_work(x, 50) + (unsigned)look();
	return arg;
}

int main(int argc, char **argv)
{
	target_init(argc, argv, 2);
	middle = target_clock() + (target_deadline - target_clock()) / 2;
	target_race(publisher, reader);
	return target_done("once");
}
