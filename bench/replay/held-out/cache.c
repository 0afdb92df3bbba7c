/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A cache of entries by number: what is remembered of an entry, which of them are
 * in it, and how large it is.
 */
#include "figure7.h"

enum { ENTRIES = 64, TEXTS = 1 << 19, ASKED = 16, LIMIT = 1000 };

struct entry {
	unsigned long value;
	unsigned missing; /* times that what is not there was used */
};

static const char *const words[4] = { "one", "three", "sixteen", "of" };
static int lengths[TEXTS]; /* 0: not known yet */
static struct entry entries[ENTRIES];
unsigned entry_of[ENTRIES]; /* 0: none */
unsigned long bytes_used;
unsigned capacity = LIMIT;
unsigned generation;
static unsigned long asked;

/* The length of a text that never changes, by whoever needs it first. */
NOINLINE static unsigned length_of(unsigned long i)
{
	if (lengths[i] == 0) /* RACE: length */
		lengths[i] = (int)strlen(words[i % 4]); /* RACE: length */
	return (unsigned)lengths[i]; /* RACE: length */
}

/* It is there when it is looked for, and need not be when it is used. */
NOINLINE static unsigned long entry_get(unsigned key)
{
	if (entry_of[key] == 0) /* RACE: evicted */
		return 0;
	OPAQUE();
	if (entry_of[key] == 0) /* RACE: evicted */
		entries[0].missing++;
	return entries[entry_of[key]].value; /* RACE: evicted */
}

NOINLINE static void entry_evict(unsigned key)
{
	entry_of[key] = 0; /* RACE: evicted */
}

NOINLINE static void entry_load(unsigned key)
{
	entry_of[key] = key % (ENTRIES - 1) + 1; /* RACE: evicted */
}

/* What is added is taken away later: it must come to 0. */
NOINLINE static void used_grow(unsigned size)
{
	bytes_used = bytes_used + size; /* RACE: used */
}

NOINLINE static void used_shrink(unsigned size)
{
	bytes_used = bytes_used - size; /* RACE: used */
}

/* A limit that an operator changes: of the moment, for one decision. */
NOINLINE static void capacity_set(unsigned size)
{
	capacity = size; /* RACE: capacity */
}

NOINLINE static int capacity_allows(unsigned size)
{
	return size <= capacity; /* RACE: capacity */
}

/* Two threads flush, each for a generation of its own. */
NOINLINE static unsigned generation_next(void)
{
	unsigned old = generation; /* RACE: generation */

	OPAQUE();
	generation = old + 1; /* RACE: generation */
	return old;
}

static void client(unsigned long turn)
{
	unsigned long i =
		__atomic_fetch_add(&asked, 1, __ATOMIC_RELAXED) / ASKED % TEXTS;

	use(length_of(i));
	use(entry_get((unsigned)turn % 4));
	used_grow(8);
	use((unsigned long)capacity_allows((unsigned)turn % 2000));
	use(generation_next());
}

static void keeper(unsigned long turn)
{
	unsigned long i =
		__atomic_fetch_add(&asked, 1, __ATOMIC_RELAXED) / ASKED % TEXTS;

	use(length_of(i));
	entry_evict((unsigned)turn % 4);
	entry_load((unsigned)turn % 4);
	used_shrink(8);
	capacity_set(500 + (unsigned)turn % 1000);
	use(generation_next());
}

int main(int argc, char **argv)
{
	struct role roles[] = { { client, 30 }, { keeper, 45 }, { NULL, 0 } };

	return roles_run(argc, argv, "cache", roles);
}
