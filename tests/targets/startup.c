/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Races that happen at the first steps of the threads only: each looks whether
 * a table has been made, and makes it if not. After that it is read alone.
 */
#include "target.h"

enum { ENTRIES = 64 };

struct table {
	unsigned entries[ENTRIES];
	int ready;
};

struct table table;

NOINLINE static void table_make(void)
{
	for (unsigned i = 0; i < ENTRIES; i++)
		table.entries[i] = target_work(i, 20);
	table.ready = 1;
}

NOINLINE static unsigned table_get(unsigned i)
{
	if (!table.ready)
		table_make();
	return table.entries[i % ENTRIES];
}

static void *worker(void *arg)
{
	unsigned x = 1;

	target_meet();
	for (unsigned long i = 0; target_goes_on(i); i++)
		x = target_work(x + table_get(x), 50);
	return arg;
}

int main(int argc, char **argv)
{
	target_init(argc, argv, 2);
	target_race(worker, worker);
	return target_done("startup");
}
