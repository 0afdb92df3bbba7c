/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Things that belong together and are changed one after the other, things that
 * are used after a check which may no longer hold, and things that are given
 * away twice.
 */
#include "figure7.h"

enum { SLOTS = 8, WORDS = 16 };

struct point {
	long x, y;
};

struct record {
	unsigned long serial;
	unsigned long words[3];
};

struct point corner;
struct point corners[2] = { { 0, 0 }, { 7, 7 } };
struct point *current = &corners[0];
static unsigned long words[WORDS * 2];
unsigned word_count = WORDS;
int owner;
static struct record pool[SLOTS];
unsigned free_slots = SLOTS / 2;
struct record *newest = &pool[0];
unsigned cursor;
char title[16] = "aaaaaaaaaaaaaaa";
int leader;
unsigned ticket;
unsigned long low_water = 10, high_water = 20;
struct record *cached;

NOINLINE static void corner_move(long to)
{
	corner.x = to; /* RACE: corner */
	corner.y = to; /* RACE: corner */
}

NOINLINE static long corner_skew(void)
{
	return corner.x - corner.y; /* RACE: corner */
}

/* The pointer is read twice: x of one, y of the other. */
NOINLINE static void current_switch(unsigned long i)
{
	current = &corners[i & 1]; /* RACE: current */
}

NOINLINE static long current_skew(void)
{
	long x = current->x; /* RACE: current */

	OPAQUE();
	return x - current->y; /* RACE: current */
}

/* Checked, then used for the sum: it has grown or shrunk since. */
NOINLINE static void count_set(unsigned count)
{
	word_count = count; /* RACE: words */
}

NOINLINE static unsigned long words_last(void)
{
	if (word_count == 0) /* RACE: words */
		return 0;
	OPAQUE();
	/* 0 - 1 is beyond the end: it is kept inside here */
	return words[(word_count - 1) % (WORDS * 2)]; /* RACE: words */
}

NOINLINE static int owner_claim(int who)
{
	if (owner != 0) /* RACE: owner */
		return 0;
	owner = who; /* RACE: owner */
	return 1;
}

NOINLINE static void owner_leave(void)
{
	owner = 0; /* RACE: owner */
}

NOINLINE static struct record *slot_take(void)
{
	unsigned n = free_slots; /* RACE: slots */

	if (n == 0)
		return NULL;
	free_slots = n - 1; /* RACE: slots */
	return &pool[(n - 1) % SLOTS];
}

NOINLINE static void slot_give(void)
{
	if (free_slots < SLOTS) /* RACE: slots */
		free_slots++; /* RACE: slots */
}

/* It can be seen before it is complete. */
NOINLINE static void newest_publish(unsigned long i)
{
	struct record *record = &pool[i % SLOTS];

	newest = record; /* RACE: newest */
	OPAQUE();
	record->serial = i;
	record->words[0] = ~i;
}

NOINLINE static unsigned long newest_sum(void)
{
	const struct record *record = newest; /* RACE: newest */

	return record->serial + record->words[0];
}

/* Two readers of one stream: both get the same element, or one is left out. */
NOINLINE static unsigned long cursor_next(void)
{
	unsigned at = cursor; /* RACE: cursor */

	cursor = (at + 1) % WORDS; /* RACE: cursor */
	return words[at];
}

NOINLINE static void title_set(char letter)
{
	memset(title, letter, 15); /* RACE: title */
}

NOINLINE static int title_is_torn(void)
{
	return title[0] != title[14]; /* RACE: title */
}

/* Whoever comes first; both think that they are. */
NOINLINE static int leader_elect(int who)
{
	if (leader == 0) /* RACE: leader */
		leader = who; /* RACE: leader */
	OPAQUE();
	return leader == who; /* RACE: leader */
}

NOINLINE static void leader_retire(void)
{
	leader = 0; /* RACE: leader */
}

NOINLINE static unsigned ticket_draw(void)
{
	return ticket++; /* RACE: ticket */
}

NOINLINE static void water_shift(unsigned long by)
{
	low_water = by; /* RACE: water */
	high_water = by + 10; /* RACE: water */
}

NOINLINE static unsigned long water_width(void)
{
	return high_water - low_water; /* RACE: water */
}

/* Filled by whoever finds it empty; emptied by another between test and use. */
NOINLINE static unsigned long cached_serial(unsigned long i)
{
	if (!cached) /* RACE: cached */
		cached = &pool[i % SLOTS]; /* RACE: cached */
	OPAQUE();
	return cached ? 1 : 0; /* RACE: cached */
}

NOINLINE static void cached_drop(void)
{
	cached = NULL; /* RACE: cached */
}

static void writer(unsigned long i)
{
	corner_move((long)i);
	current_switch(i);
	count_set((unsigned)i % WORDS);
	if (owner_claim(1))
		owner_leave();
	use((unsigned long)slot_take());
	newest_publish(i);
	use(cursor_next());
	title_set(i & 1 ? 'a' : 'b');
	use((unsigned long)leader_elect(1));
	use(ticket_draw());
	water_shift(i);
	cached_drop();
}

static void reader(unsigned long i)
{
	use((unsigned long)corner_skew());
	use((unsigned long)current_skew());
	use(words_last());
	if (owner_claim(2))
		owner_leave();
	use((unsigned long)slot_take());
	slot_give();
	use(newest_sum());
	use(cursor_next());
	use((unsigned long)title_is_torn());
	use((unsigned long)leader_elect(2));
	leader_retire();
	use(ticket_draw());
	use(water_width());
	use(cached_serial(i));
}

int main(int argc, char **argv)
{
	struct role roles[] = { { writer, 40 }, { reader, 30 }, { NULL, 0 } };

	for (unsigned long i = 0; i < WORDS * 2; i++)
		words[i] = i * i + 1;
	return roles_run(argc, argv, "records", roles);
}
