/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Free of races: blocks that one thread allocates and fills, and the other
 * reads and frees; malloc() gives the same memory out again and again. A
 * mutex guards the queue of pointers, nothing the blocks.
 */
#include "target.h"

enum { SLOTS = 4 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static long *slots[SLOTS];

NOINLINE static long *block_fill(long value)
{
	unsigned size = 2 + (unsigned)value % 30;
	long *block = malloc(size * sizeof(*block));

	target_check(block != NULL, "malloc");
	block[0] = size;
	for (unsigned i = 1; i < size; i++)
		block[i] = value;
	return block;
}

NOINLINE static void block_use(long *block)
{
	for (long i = 2; i < block[0]; i++)
		target_check(block[i] == block[1], "block");
	memset(block, 0, (size_t)block[0] * sizeof(*block));
	free(block);
}

/* Exchange what a slot holds. */
NOINLINE static long *slot_swap(unsigned slot, long *with)
{
	long *block;

	pthread_mutex_lock(&lock);
	block = slots[slot % SLOTS];
	slots[slot % SLOTS] = with;
	pthread_mutex_unlock(&lock);
	return block;
}

static void *fill_loop(void *arg)
{
	long *left;

	target_meet();
	for (unsigned i = 0; target_goes_on(i); i++) {
		left = slot_swap(i, block_fill(i));
		if (left)
			block_use(left);
	}
	return arg;
}

static void *use_loop(void *arg)
{
	long *block;

	target_meet();
	for (unsigned i = 0; target_goes_on(i); i++) {
		block = slot_swap(i, NULL);
		if (block)
			block_use(block);
	}
	return arg;
}

int main(int argc, char **argv)
{
	target_init(argc, argv, 2);
	target_race(fill_loop, use_loop);
	for (unsigned i = 0; i < SLOTS; i++)
		free(slots[i]);
	return target_done("free_malloc");
}
