/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Check sums by tables that are built at the first use of each polynomial, so
 * that building them is done once in a run. What is forgotten: the lock while
 * a table is looked for and built.
 */
#include "peers.h"

enum { TABLES = 4, BLOCK = 512, STRETCH = 200 };

struct table {
	unsigned words[256];
	int ready;
};

UNUSED static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
struct table tables[TABLES];
static unsigned char text[BLOCK];

NOINLINE static void table_build(struct table *table, unsigned polynomial)
{
	for (unsigned i = 0; i < 256; i++) {
		unsigned word = i;

		for (int bit = 0; bit < 8; bit++)
			word = word & 1 ? word >> 1 ^ polynomial : word >> 1;
		table->words[i] = word; /* RACE: words */
	}
}

NOINLINE static struct table *table_get(unsigned which)
{
	struct table *table = &tables[which];

	WITH_LOCK(&lock);
	if (!table->ready) { /* RACE: words */
		table_build(table, 0xedb88320U + which * 2);
		table->ready = 1; /* RACE: words */
	}
	WITHOUT_LOCK(&lock);
	return table;
}

NOINLINE static unsigned checksum(const struct table *table, unsigned x)
{
	for (unsigned i = 0; i < BLOCK; i++)
		x = table->words[(x ^ text[i]) & 255] ^
		    x >> 8; /* RACE: words */
	return x;
}

static void round_of(const struct worker *worker, unsigned long i)
{
	unsigned which = (unsigned)(i / STRETCH) % TABLES;

	use(checksum(table_get(which), (unsigned)i + worker->number));
}

int main(int argc, char **argv)
{
	for (unsigned i = 0; i < BLOCK; i++)
		text[i] = (unsigned char)(i * 7);
	return workers_run(argc, argv, "lazy", round_of, round_of);
}
