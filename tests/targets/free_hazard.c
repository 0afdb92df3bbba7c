/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Free of races: hazard pointers (Michael 2004). A reader announces the block
 * it is about to read and looks again whether it is still current, both
 * sequentially consistent; the writer frees a block that it took away only
 * once nobody announces it. Blocks are written before they are published.
 */
#include "target.h"
#include <stdatomic.h>

enum { READERS = 2 };

struct block {
	long value, twice;
};

static _Atomic(struct block *) current;
static _Atomic(struct block *) hazards[READERS];

NOINLINE static struct block *block_make(long value)
{
	struct block *block = malloc(sizeof(*block));

	target_check(block != NULL, "malloc");
	block->value = value;
	block->twice = 2 * value;
	return block;
}

NOINLINE static void block_retire(struct block *block)
{
	for (unsigned i = 0; i < READERS; i++)
		while (atomic_load(&hazards[i]) == block)
			__builtin_ia32_pause();
	free(block);
}

NOINLINE static long block_read(unsigned me)
{
	struct block *block;
	long value;

	do {
		block = atomic_load(&current);
		atomic_store(&hazards[me], block);
	} while (block != atomic_load(&current));
	value = block->value;
	target_check(block->twice == 2 * value, "block");
	atomic_store_explicit(&hazards[me], NULL, memory_order_release);
	return value;
}

static void *write_loop(void *arg)
{
	target_meet();
	for (unsigned long i = 0; target_goes_on(i); i++)
		block_retire(atomic_exchange(&current, block_make((long)i)));
	return arg;
}

static void *read_loop(void *arg)
{
	target_meet();
	for (unsigned long i = 0; target_goes_on(i); i++)
		block_read(arg != NULL);
	return arg;
}

int main(int argc, char **argv)
{
	target_init(argc, argv, 3);
	current = block_make(-1);
	pthread_t third = target_thread(read_loop, &current);
	target_race(write_loop, read_loop);
	pthread_join(third, NULL);
	free(current);
	return target_done("free_hazard");
}
