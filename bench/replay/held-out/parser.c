/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A parser whose tables are built when they are needed first, with a state that
 * callers share though they should not.
 */
#include "figure7.h"

enum { TABLES = 1 << 15, WIDTH = 8, ASKED = 16 };

struct table {
	unsigned char of[WIDTH];
	int built;
};

struct options {
	unsigned char strict, width, depth, unused;
};

static struct table tables[TABLES];
static char tokens[64] = "one two three four five six seven eight";
const char *rest = tokens;
unsigned long errors;
static struct options options = { 1, 4, 9, 0 };
char message[24] = "no error so far";
static unsigned long asked;

/* All who come before it is built fill it, each with the same bytes. */
NOINLINE static unsigned table_get(unsigned long i, unsigned at)
{
	struct table *table = &tables[i];

	if (!table->built) { /* RACE: table */
		for (unsigned j = 0; j < WIDTH; j++)
			table->of[j] = (unsigned char)(j * 3); /* RACE: table */
		OPAQUE();
		table->built = 1; /* RACE: table */
	}
	OPAQUE();
	return table->of[at % WIDTH]; /* RACE: table */
}

/* As strtok(3): the place is kept for the next call, of whichever thread. */
NOINLINE static char token_next(void)
{
	const char *at = rest; /* RACE: token */
	char token = *at;

	while (*at && *at != ' ')
		at++;
	rest = *at ? at + 1 : tokens; /* RACE: token */
	return token;
}

/* Errors, for a line at the end. */
NOINLINE static void error_count(void)
{
	errors++; /* RACE: errors */
}

/* The four bytes are copied as one word; only one is looked at. */
NOINLINE static unsigned options_strict(void)
{
	unsigned all;

	memcpy(&all, &options, sizeof(all)); /* RACE: options */
	return all & 0xff;
}

NOINLINE static void options_deepen(unsigned depth)
{
	options.depth = (unsigned char)depth; /* RACE: options */
}

/* A message is read while another is written. */
NOINLINE static void message_set(int which)
{
	memcpy(message,
	       which ? "unexpected end of file" : "a number is too large!",
	       23); /* RACE: message */
}

NOINLINE static unsigned long message_sum(void)
{
	char copy[24];
	unsigned long sum = 0;

	memcpy(copy, message, sizeof(copy)); /* RACE: message */
	for (unsigned i = 0; i < sizeof(copy); i++)
		sum = sum * 31 + (unsigned char)copy[i];
	return sum;
}

static unsigned long next_table(void)
{
	return __atomic_fetch_add(&asked, 1, __ATOMIC_RELAXED) / ASKED % TABLES;
}

static void first(unsigned long i)
{
	use(table_get(next_table(), (unsigned)i));
	use((unsigned char)token_next());
	error_count();
	use(options_strict());
	message_set((int)(i & 1));
}

static void second(unsigned long i)
{
	use(table_get(next_table(), (unsigned)i + 1));
	use((unsigned char)token_next());
	error_count();
	options_deepen((unsigned)i);
	use(message_sum());
}

int main(int argc, char **argv)
{
	struct role roles[] = { { first, 30 }, { second, 40 }, { NULL, 0 } };

	return roles_run(argc, argv, "parser", roles);
}
