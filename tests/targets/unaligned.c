/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A packed field that crosses an 8-byte boundary: no one watchpoint covers
 * it.
 */
#include "target.h"

struct {
	char tag[5];
	uint64_t stamp;
} __attribute__((packed, aligned(16))) record;

NOINLINE static void stamp_put(uint64_t value)
{
	record.stamp = value; /* RACE: put */
}

NOINLINE static uint64_t stamp_get(void)
{
	return record.stamp; /* RACE: get */
}

static void *put_loop(void *arg)
{
	unsigned x = 1;

	target_meet();
	for (unsigned long i = 0; target_goes_on(i); i++) {
		ENTER();
		stamp_put((uint64_t)x << 20 | x);
		LEAVE();
		x = target_work(x, 40);
	}
	return arg;
}

static void *get_loop(void *arg)
{
	unsigned x = 2;

	target_meet();
	for (unsigned long i = 0; target_goes_on(i); i++) {
		ENTER();
		x += (unsigned)stamp_get();
		LEAVE();
		x = target_work(x, 30);
	}
	return arg;
}

int main(int argc, char **argv)
{
	target_init(argc, argv, 2);
	target_race(put_loop, get_loop);
	return target_done("unaligned");
}
