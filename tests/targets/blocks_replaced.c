/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Threads write to words of blocks that are freed and replaced by blocks of other
 * sizes all the time, also where earlier blocks were. Each word has the address of
 * its block, so that the values of a race tell which block it is in. Nothing is
 * freed while it is written to.
 */
#include "target.h"

#include <malloc.h>

enum { THREADS = 8, BLOCKS = 4, KEPT = 64 };

struct block {
	uintptr_t *words;
	size_t count;
};

static pthread_rwlock_t replacing = PTHREAD_RWLOCK_INITIALIZER;
static struct block blocks[BLOCKS];

static void make(struct block *block, unsigned *seed)
{
	size_t most = rand_r(seed) % 8 ? 200 : 60000;

	block->words = malloc((2 + rand_r(seed) % most) * sizeof(uintptr_t));
	target_check(block->words != NULL, "malloc");
	block->count = malloc_usable_size(block->words) / sizeof(uintptr_t);
	for (size_t i = 0; i < block->count; i++)
		block->words[i] = (uintptr_t)block->words;
}

NOINLINE static void put(uintptr_t *word, uintptr_t value)
{
	*word = value; /* RACE: put */
}

static void write_some(const struct block *block, unsigned *seed)
{
	for (int i = 0; i < 10; i++) {
		size_t at = rand_r(seed) % 3;

		if (rand_r(seed) % 2)
			at = block->count - 1 - at % block->count;
		put(block->words + at % block->count, (uintptr_t)block->words);
	}
}

static void *loop(void *arg)
{
	unsigned seed = (unsigned)(uintptr_t)arg;
	void *kept[KEPT] = { NULL };

	target_meet();
	for (unsigned long i = 0; target_goes_on(i); i++) {
		struct block *block = &blocks[rand_r(&seed) % BLOCKS];
		void **other = &kept[rand_r(&seed) % KEPT];

		free(*other);
		*other = malloc(rand_r(&seed) % 3000);
		if (i % 50 == 0) {
			pthread_rwlock_wrlock(&replacing);
			free(block->words);
			make(block, &seed);
			pthread_rwlock_unlock(&replacing);
		}
		pthread_rwlock_rdlock(&replacing);
		write_some(block, &seed);
		pthread_rwlock_unlock(&replacing);
	}
	for (size_t i = 0; i < KEPT; i++)
		free(kept[i]);
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t threads[THREADS];
	unsigned seed = 1;

	target_init(argc, argv, THREADS);
	for (size_t i = 0; i < BLOCKS; i++)
		make(&blocks[i], &seed);
	for (size_t i = 0; i < THREADS; i++)
		threads[i] = target_thread(loop, (void *)(uintptr_t)(i + 2));
	for (size_t i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	for (size_t i = 0; i < BLOCKS; i++)
		free(blocks[i].words);
	return target_done("blocks_replaced");
}
