/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What a server knows of itself, kept without a lock because nothing depends
 * on it to the last digit.
 */
#include "figure7.h"

unsigned long hits;
unsigned long bytes_sent;
unsigned operations;
unsigned long served;
unsigned peak;
double load;

NOINLINE static void hit_count(void)
{
	hits++; /* RACE: hits */
}

NOINLINE static void bytes_count(unsigned long size)
{
	bytes_sent += size; /* RACE: bytes */
}

/* Every so often; now and then a little too early or late. */
NOINLINE static void operation_count(void)
{
	if (++operations % 64 == 0) /* RACE: operations */
		use(operations); /* RACE: operations */
}

NOINLINE static void served_count(void)
{
	served++; /* RACE: served */
}

NOINLINE static void served_print(void)
{
	char text[24];

	snprintf(text, sizeof(text), "%lu", served); /* RACE: served */
	use_text(text);
}

/* The highest ever seen, for the status page. */
NOINLINE static void peak_note(unsigned depth)
{
	if (depth > peak) /* RACE: peak */
		peak = depth; /* RACE: peak */
}

NOINLINE static void load_note(double sample)
{
	load = load * 0.9 + sample * 0.1; /* RACE: load */
}

static void worker(unsigned long i)
{
	hit_count();
	bytes_count(i % 1500);
	operation_count();
	served_count();
	peak_note((unsigned)(i / 8));
	load_note((double)(i % 10));
}

static void printer(unsigned long i)
{
	served_print();
	use(i);
}

int main(int argc, char **argv)
{
	struct role roles[] = {
		{ worker, 30 }, { worker, 40 }, { printer, 200 }, { NULL, 0 }
	};

	return roles_run(argc, argv, "stats", roles);
}
