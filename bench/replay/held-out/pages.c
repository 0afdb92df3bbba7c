/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Pages of a database: hints that spare another look-up, marks of what is to be
 * written, and the place in the log up to which a page was changed.
 */
#include "figure7.h"

enum { ROWS = 1 << 19, ASKED = 16, COMMITTED = 4, PAGES = 4 };

struct place {
	unsigned high, low;
};

static unsigned short row_hints[ROWS];
unsigned char page_dirty[PAGES];
unsigned long page_changes[PAGES], page_written[PAGES];
static struct place page_place[PAGES];
unsigned usage[PAGES];
unsigned next_victim;
static unsigned long asked;

/* A row's transaction has ended; nobody ever sets another bit or clears this. */
NOINLINE static int row_is_visible(unsigned long row)
{
	if (row_hints[row] & COMMITTED) /* RACE: hint */
		return 1;
	row_hints[row] |= COMMITTED; /* RACE: hint */
	return 1;
}

/* Cleared when it has been written: what was changed meanwhile is forgotten. */
NOINLINE static void page_change(unsigned page)
{
	__atomic_fetch_add(&page_changes[page], 1, __ATOMIC_RELAXED);
	page_dirty[page] = 1; /* RACE: dirty */
}

NOINLINE static void page_flush(unsigned page)
{
	if (!page_dirty[page]) /* RACE: dirty */
		return;
	page_written[page] =
		__atomic_load_n(&page_changes[page], __ATOMIC_RELAXED);
	OPAQUE();
	page_dirty[page] = 0; /* RACE: dirty */
}

/* Two words that are one number. */
NOINLINE static void place_set(unsigned page, unsigned long value)
{
	page_place[page].high = (unsigned)(value >> 2); /* RACE: place */
	OPAQUE();
	page_place[page].low = (unsigned)value; /* RACE: place */
}

NOINLINE static unsigned long place_get(unsigned page)
{
	unsigned high = page_place[page].high; /* RACE: place */

	OPAQUE();
	return (unsigned long)high << 2 |
	       page_place[page].low; /* RACE: place */
}

/* How often it was used lately, up to 5: one more or less decides nothing. */
NOINLINE static void usage_bump(unsigned page)
{
	if (usage[page] < 5) /* RACE: usage */
		usage[page]++; /* RACE: usage */
}

NOINLINE static void usage_age(unsigned page)
{
	if (usage[page] > 0) /* RACE: usage */
		usage[page]--; /* RACE: usage */
}

/* Two threads take the same victim. */
NOINLINE static unsigned victim_take(void)
{
	unsigned victim = next_victim; /* RACE: victim */

	OPAQUE();
	next_victim = (victim + 1) % 1024; /* RACE: victim */
	return victim;
}

static unsigned long next_row(void)
{
	return __atomic_fetch_add(&asked, 1, __ATOMIC_RELAXED) / ASKED % ROWS;
}

static void backend(unsigned long i)
{
	use((unsigned long)row_is_visible(next_row()));
	page_change((unsigned)i % 2);
	place_set((unsigned)i % 2, i * 3);
	usage_bump((unsigned)i % 2);
	use(victim_take());
}

static void writer(unsigned long i)
{
	use((unsigned long)row_is_visible(next_row()));
	page_flush((unsigned)i % 2);
	use(place_get((unsigned)i % 2));
	usage_age((unsigned)i % 2);
	use(victim_take());
}

int main(int argc, char **argv)
{
	struct role roles[] = { { backend, 30 }, { writer, 40 }, { NULL, 0 } };

	return roles_run(argc, argv, "pages", roles);
}
