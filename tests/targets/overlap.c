/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Accesses of different size that overlap in part: eight bytes are stored,
 * one byte in their middle is read.
 */
#define GUARD_SPIN
#include "target.h"

union {
	uint64_t all;
	uint8_t bytes[8];
} word;

NOINLINE static void word_put(uint64_t value)
{
	word.all = value; /* RACE: put */
}

NOINLINE static uint8_t byte_get(void)
{
	return word.bytes[5]; /* RACE: get */
}

static void *put_loop(void *arg)
{
	unsigned x = 1;

	target_meet();
	for (unsigned long i = 0; target_goes_on(i); i++) {
		ENTER();
		word_put((uint64_t)x << 32 | x);
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
		x += byte_get();
		LEAVE();
		x = target_work(x, 30);
	}
	return arg;
}

int main(int argc, char **argv)
{
	target_init(argc, argv, 2);
	target_race(put_loop, get_loop);
	return target_done("overlap");
}
