/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A log with a buffer that threads write to, which is emptied when it is full.
 */
#include "figure7.h"

enum { SIZE = 256, CHOICES = 1 << 19, ASKED = 16 };

static pthread_mutex_t rotate_lock = PTHREAD_MUTEX_INITIALIZER;
unsigned written;
unsigned rotations;
static char buffer[SIZE + 16];
unsigned position;
unsigned char colored[CHOICES];
unsigned verbosity;
const char *prefix = "log";
static unsigned long asked;

/* Looked at without the lock, and again with it. */
NOINLINE static void rotate_if_full(void)
{
	if (written < 20) /* RACE: rotate */
		return;
	pthread_mutex_lock(&rotate_lock);
	if (written >= 20) { /* RACE: rotate */
		written = 0; /* RACE: rotate */
		rotations++;
	}
	pthread_mutex_unlock(&rotate_lock);
}

NOINLINE static void rotate_count(void)
{
	pthread_mutex_lock(&rotate_lock);
	written++; /* RACE: rotate */
	pthread_mutex_unlock(&rotate_lock);
}

/* Two threads write to the same place. */
NOINLINE static void line_append(const char *text)
{
	unsigned at = position; /* RACE: append */

	memcpy(buffer + at % SIZE, text, 8); /* RACE: append */
	OPAQUE();
	position = at + 8; /* RACE: append */
}

/* Whether the terminal has colors: the answer is the same each time. */
NOINLINE static unsigned colors_used(unsigned long i)
{
	if (colored[i] == 0) /* RACE: colors */
		colored[i] = 2; /* RACE: colors */
	return colored[i]; /* RACE: colors */
}

/* How many details the next line has. */
NOINLINE static void verbosity_cycle(unsigned i)
{
	verbosity = i % 3; /* RACE: verbosity */
}

NOINLINE static void verbosity_write(void)
{
	switch (verbosity) { /* RACE: verbosity */
	case 0:
		use_text("short");
		break;
	case 1:
		use_text("longer");
		break;
	default:
		use_text("longest of all");
	}
}

/* It is none for a moment, and the reader does not expect that. */
NOINLINE static void prefix_replace(const char *text)
{
	prefix = NULL; /* RACE: prefix */
	OPAQUE();
	prefix = text; /* RACE: prefix */
}

NOINLINE static void prefix_write(void)
{
	const char *text = prefix; /* RACE: prefix */

	if (!text) {
		rotations += 1000000; /* it would have died */
		return;
	}
	use((unsigned char)text[0]);
}

static unsigned long next_asked(void)
{
	return __atomic_fetch_add(&asked, 1, __ATOMIC_RELAXED) / ASKED %
	       CHOICES;
}

static void first(unsigned long i)
{
	rotate_if_full();
	line_append("aaaaaaa");
	use(colors_used(next_asked()));
	verbosity_cycle((unsigned)i);
	prefix_replace(i & 1 ? "note" : "warning");
}

static void second(unsigned long i)
{
	rotate_count();
	line_append(i & 1 ? "bbbbbbb" : "ccccccc");
	use(colors_used(next_asked()));
	verbosity_write();
	prefix_write();
}

int main(int argc, char **argv)
{
	struct role roles[] = { { first, 35 }, { second, 25 }, { NULL, 0 } };

	return roles_run(argc, argv, "logger", roles);
}
