/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Stores of what is there already, or of what every thread would store.
 */
#include "figure7.h"

enum { TABLE = 256, KEYS = 1 << 20, ASKED = 16 };

typedef unsigned long (*checksum_fn)(unsigned long);

int started;
unsigned char table[TABLE];
static int process_ids[KEYS];
unsigned pending;
checksum_fn checksum;
char version[24];
static unsigned keys[KEYS];
static unsigned long asked;
static unsigned modes[KEYS];

NOINLINE static void start_note(void)
{
	started = 1; /* RACE: started */
}

/* Computed by whoever is first, and by all others who come meanwhile. */
NOINLINE static unsigned table_byte(unsigned i)
{
	table[i % TABLE] = (unsigned char)(i % TABLE * 7); /* RACE: table */
	return table[i % TABLE]; /* RACE: table */
}

/* Asked for by all who do not know it yet: the answer is always the same. */
NOINLINE static int process_get(unsigned long i)
{
	if (process_ids[i] == 0) /* RACE: process */
		process_ids[i] = 4711; /* RACE: process */
	return process_ids[i]; /* RACE: process */
}

/* Nothing sets it while the program runs. */
NOINLINE static void pending_clear(void)
{
	pending = 0; /* RACE: pending */
}

NOINLINE static unsigned long checksum_plain(unsigned long value)
{
	return value * 2654435761u;
}

NOINLINE static unsigned long checksum_of(unsigned long value)
{
	checksum = checksum_plain; /* RACE: checksum */
	OPAQUE();
	return checksum(value); /* RACE: checksum */
}

NOINLINE static void version_set(void)
{
	memcpy(version, "release 1.2.3 (stable)", 23); /* RACE: version */
}

/* The same number for the same key, whoever finds it. */
NOINLINE static unsigned key_of(unsigned long i)
{
	unsigned key = keys[i]; /* RACE: key */

	if (key == 0) {
		key = (unsigned)i * 3 + 1;
		keys[i] = key; /* RACE: key */
	}
	return key;
}

/* Set to the one value there is, unless it is that already. */
NOINLINE static void mode_default(unsigned long i)
{
	if (modes[i] != 3) /* RACE: mode */
		modes[i] = 3; /* RACE: mode */
}

static void worker(unsigned long turn)
{
	unsigned long i =
		__atomic_fetch_add(&asked, 1, __ATOMIC_RELAXED) / ASKED % KEYS;

	start_note();
	use(table_byte((unsigned)turn));
	use((unsigned long)process_get(i));
	pending_clear();
	use(checksum_of(turn));
	version_set();
	use(key_of(i));
	mode_default(i);
}

int main(int argc, char **argv)
{
	struct role roles[] = { { worker, 30 }, { worker, 40 }, { NULL, 0 } };

	return roles_run(argc, argv, "redundant", roles);
}
