/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A compressor: a reader cuts the input into blocks, two workers compress them, and
 * a writer decompresses what it gets, compares, and gives the blocks back to the
 * reader. All queues are without locks.
 *
 * Races: the reader stamps a block when it has handed it over already; the workers
 * add up what they have compressed without a lock, and look how far the writer is.
 */
#include "table5.h"

enum { SIZE = 128, BLOCKS = 6, COUNT = 40, WORKERS = 2, HASHES = 64 };

struct block {
	unsigned int number, size, packed_size, sum;
	unsigned char plain[SIZE];
	unsigned char packed[2 * SIZE];
	unsigned long stamp;
};

static struct queue pool, work, done;
static struct block end; /* what comes after the last block */
unsigned long bytes_packed;
unsigned int blocks_written;

NOINLINE static void block_fill(struct block *block, unsigned int number)
{
	static const char *const words[] = { "race ",  "watch ", "thread ",
					     "stack ", "a ",	 "lock " };
	unsigned int state = number + 1, size = 0;

	while (size < SIZE - 8) {
		const char *word = words[number_next(&state) % 6];

		while (*word)
			block->plain[size++] = (unsigned char)*word++;
	}
	block->number = number;
	block->size = size;
}

NOINLINE static void block_stamp(struct block *block, unsigned long stamp)
{
	block->stamp = stamp;
}

NOINLINE static unsigned long block_age(const struct block *block)
{
	return block->stamp;
}

static unsigned int hash_of(const unsigned char *at)
{
	return (at[0] * 31U + at[1] * 7U + at[2]) % HASHES;
}

/* Literals are 0 BYTE, repetitions LENGTH DISTANCE. */
NOINLINE static void block_compress(struct block *block)
{
	unsigned int last[HASHES] = { 0 }, at = 0, size = 0;

	while (at < block->size) {
		unsigned int length = 0, from = 0;

		if (at + 3 < block->size) {
			unsigned int *known = &last[hash_of(block->plain + at)];

			from = *known;
			*known = at + 1;
		}
		while (from && at - (from - 1) < 256 && length < 255 &&
		       at + length < block->size &&
		       block->plain[from - 1 + length] ==
			       block->plain[at + length])
			length++;
		length = length < 3 ? 0 : length;
		block->packed[size++] = (unsigned char)length;
		block->packed[size++] =
			length ? (unsigned char)(at - (from - 1))
			       : block->plain[at];
		at += length ? length : 1;
	}
	block->packed_size = size;
}

NOINLINE static void block_sum(struct block *block)
{
	unsigned int sum = 1;

	for (unsigned int i = 0; i < block->size; i++)
		sum = sum * 33 + block->plain[i];
	block->sum = sum;
}

NOINLINE static void block_check(const struct block *block)
{
	unsigned char plain[2 * SIZE];
	unsigned int size = 0, sum = 1;

	for (unsigned int i = 0; i < block->packed_size; i += 2) {
		unsigned int length = block->packed[i];

		if (!length)
			plain[size++] = block->packed[i + 1];
		for (; length > 0; length--, size++)
			plain[size] = plain[size - block->packed[i + 1]];
	}
	for (unsigned int i = 0; i < size; i++)
		sum = sum * 33 + plain[i];
	target_check(size == block->size && sum == block->sum, "a block");
}

NOINLINE static void packed_add(unsigned long bytes)
{
	bytes_packed += bytes;
}

NOINLINE static unsigned long packed_size(const struct block *block)
{
	return block->packed_size;
}

NOINLINE static void written_set(unsigned int count)
{
	blocks_written = count;
}

NOINLINE static unsigned int written_get(void)
{
	return blocks_written;
}

static void *reader(void *unused)
{
	for (unsigned int i = 0; i < COUNT; i++) {
		struct block *block = queue_take(&pool);

		block_fill(block, i);
		queue_put(&work, block);
		block_stamp(block, i);
	}
	for (int i = 0; i < WORKERS; i++)
		queue_put(&work, &end);
	return unused;
}

static void *worker(void *unused)
{
	unsigned long behind = 0;

	for (struct block *block; (block = queue_take(&work)) != &end;) {
		behind += block_age(block) - written_get();
		block_sum(block);
		block_compress(block);
		packed_add(packed_size(block));
		queue_put(&done, block);
	}
	target_work((unsigned int)behind, 1);
	return unused;
}

static void *writer(void *unused)
{
	for (unsigned int i = 0; i < COUNT; i++) {
		struct block *block = queue_take(&done);

		block_check(block);
		written_set(i);
		queue_put(&pool, block);
	}
	return unused;
}

int main(void)
{
	pthread_t threads[WORKERS + 2];

	queue_open(&pool);
	queue_open(&work);
	queue_open(&done);
	for (int i = 0; i < BLOCKS; i++)
		queue_put(&pool, memory_new(sizeof(struct block)));
	threads[0] = target_thread(reader, NULL);
	threads[1] = target_thread(writer, NULL);
	for (int i = 0; i < WORKERS; i++)
		threads[i + 2] = target_thread(worker, NULL);
	for (int i = 0; i < WORKERS + 2; i++)
		pthread_join(threads[i], NULL);
	return target_done("compress");
}
