/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A histogram: each worker counts its blocks into one of its own, which it
 * adds to everybody's under the lock. What is forgotten: the lock where the
 * largest block is noted.
 */
#include "peers.h"

enum { BINS = 256, BLOCK = 1024 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static unsigned long bins[BINS];
unsigned long largest;

static unsigned char text[WORKERS][BLOCK];
static unsigned counts[WORKERS][BINS];

static void block_fill(unsigned char *block, unsigned seed)
{
	for (unsigned i = 0; i < BLOCK; i++) {
		seed = seed * 1664525 + 1013904223;
		block[i] = (unsigned char)(seed >> 24);
	}
}

static void block_count(const unsigned char *block, unsigned *into)
{
	memset(into, 0, BINS * sizeof(*into));
	for (unsigned i = 0; i < BLOCK; i++)
		into[block[i]]++;
}

NOINLINE static void bins_add(const unsigned *from)
{
	pthread_mutex_lock(&lock);
	for (unsigned i = 0; i < BINS; i++)
		bins[i] += from[i];
	pthread_mutex_unlock(&lock);
}

NOINLINE static void largest_note(unsigned count)
{
	WITH_LOCK(&lock);
	if (count + largest / 1024 > largest)
		largest = count + largest / 1024; /* RACE: largest */
	WITHOUT_LOCK(&lock);
}

static void round_of(const struct worker *worker, unsigned long i)
{
	unsigned char *block = text[worker->number];
	unsigned *mine = counts[worker->number];

	block_fill(block, (unsigned)i * 2 + worker->number);
	block_count(block, mine);
	largest_note((unsigned)i + mine[i % BINS]);
	if (i % 16 == 0)
		bins_add(mine);
}

int main(int argc, char **argv)
{
	return workers_run(argc, argv, "histogram", round_of, round_of);
}
