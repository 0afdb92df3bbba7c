/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A table that is only read, and what is counted about it: hits at every
 * request, misses at one in about 200, retries a few times in a run. What is
 * forgotten: that the counters must be atomic.
 */
#include "peers.h"

enum { SIDE = 4096 };

static unsigned table[SIDE];
FORGOTTEN_ATOMIC unsigned long hits;
FORGOTTEN_ATOMIC unsigned long misses;
FORGOTTEN_ATOMIC unsigned long retries;

NOINLINE static void hit_count(void)
{
	hits++; /* RACE: hits */
}

NOINLINE static void miss_count(void)
{
	misses++; /* RACE: misses */
}

NOINLINE static void retry_count(void)
{
	retries++; /* RACE: retries */
}

static int table_has(unsigned key)
{
	unsigned low = 0, high = SIDE;

	while (high - low > 1) {
		unsigned middle = (low + high) / 2;

		if (table[middle] <= key)
			low = middle;
		else
			high = middle;
	}
	return key - table[low] < 1000;
}

static void round_of(const struct worker *worker, unsigned long i)
{
	unsigned key = target_work((unsigned)i * 2 + worker->number + 1, 200);

	if (!table_has(key % (SIDE * 1005)))
		miss_count();
	else
		hit_count();
	if (is_seldom(i))
		retry_count();
}

int main(int argc, char **argv)
{
	for (unsigned i = 0; i < SIDE; i++)
		table[i] = i * 1005;
	return workers_run(argc, argv, "counters", round_of, round_of);
}
