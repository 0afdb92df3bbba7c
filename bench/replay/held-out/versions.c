/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Data with a version that its reader compares before and behind: made right,
 * and with a version that is counted too late.
 */
#include "figure7.h"

struct versioned {
	unsigned long version, one, other;
};

static struct versioned right, late;
struct pair {
	unsigned long one, other;
} pairs[2];
unsigned current;
unsigned long tried;

/* Odd while it is written; x86 keeps the order of stores. */
NOINLINE static void right_write(unsigned long value)
{
	right.version++; /* RACE: right */
	OPAQUE();
	right.one = value; /* RACE: right */
	right.other = value * 2; /* RACE: right */
	OPAQUE();
	right.version++; /* RACE: right */
}

/* What was read while it was written is not used. */
NOINLINE static unsigned long right_read(void)
{
	unsigned long before = right.version, one, other; /* RACE: right */

	OPAQUE();
	one = right.one; /* RACE: right */
	other = right.other; /* RACE: right */
	OPAQUE();
	if (before % 2 || right.version != before) /* RACE: right */
		return 0;
	return one * 2 == other ? 1 : 2;
}

NOINLINE static void late_write(unsigned long value)
{
	late.one = value; /* RACE: late */
	OPAQUE();
	late.other = value * 2; /* RACE: late */
	OPAQUE();
	late.version++; /* RACE: late */
}

/* The version is the same before and behind, and what is between is torn. */
NOINLINE static unsigned long late_read(void)
{
	unsigned long before = late.version, one, other; /* RACE: late */

	OPAQUE();
	one = late.one; /* RACE: late */
	OPAQUE();
	other = late.other; /* RACE: late */
	OPAQUE();
	return late.version == before ? one ^ other : 0; /* RACE: late */
}

/* Two of them; the reader takes that which is not written now. */
NOINLINE static void current_flip(unsigned long value)
{
	unsigned next = !current; /* RACE: current */

	pairs[next].one = value;
	pairs[next].other = ~value;
	OPAQUE();
	current = next; /* RACE: current */
}

/* The number is looked at for each half: one half may be of either. */
NOINLINE static unsigned long current_read(void)
{
	unsigned long one = pairs[current].one; /* RACE: current */

	OPAQUE();
	return one ^ pairs[current].other; /* RACE: current */
}

/* How often a reader had to try; for a line at the end, never read before. */
NOINLINE static void tried_count(void)
{
	tried++; /* RACE: tried */
}

static void writer(unsigned long i)
{
	right_write(i);
	late_write(i);
	current_flip(i);
	tried_count();
}

static void reader(unsigned long i)
{
	use(right_read() + i);
	use(late_read());
	use(current_read());
	tried_count();
}

int main(int argc, char **argv)
{
	struct role roles[] = { { writer, 40 }, { reader, 30 }, { NULL, 0 } };

	return roles_run(argc, argv, "versions", roles);
}
