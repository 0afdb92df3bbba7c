/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Free of races, a control for exact watches: two threads work on different
 * bytes of one 8-byte word, in one cache line.
 */
#include "target.h"

struct {
	uint8_t first, left[3];
	uint16_t middle;
	uint8_t last, end;
} __attribute__((packed, aligned(8))) cell;

NOINLINE static void even_put(unsigned x)
{
	cell.left[1] = (uint8_t)x;
	cell.middle = (uint16_t)x;
}

NOINLINE static void odd_put(unsigned x)
{
	cell.first = (uint8_t)x;
	cell.left[0] = (uint8_t)x;
	cell.left[2] = cell.last;
	cell.last = (uint8_t)x;
}

static void *even_loop(void *arg)
{
	unsigned x = 1;

	target_meet();
	for (unsigned long i = 0; target_goes_on(i); i++)
		even_put(x = target_work(x, 40));
	return arg;
}

static void *odd_loop(void *arg)
{
	unsigned x = 2;

	target_meet();
	for (unsigned long i = 0; target_goes_on(i); i++)
		odd_put(x = target_work(x, 40));
	return arg;
}

int main(int argc, char **argv)
{
	target_init(argc, argv, 2);
	target_race(even_loop, odd_loop);
	return target_done("free_neighbours");
}
