/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Free of races: a table of plain data behind a pthread_rwlock_t. Readers
 * only read under the read lock, which excludes the writer.
 */
#include "target.h"

enum { CELLS = 16 };

static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
long cells[CELLS];

NOINLINE static void cells_fill(long value)
{
	pthread_rwlock_wrlock(&lock);
	for (unsigned i = 0; i < CELLS; i++)
		cells[i] = value;
	pthread_rwlock_unlock(&lock);
}

NOINLINE static int cells_even(void)
{
	int even = 1;

	while (pthread_rwlock_tryrdlock(&lock))
		;
	for (unsigned i = 1; i < CELLS; i++)
		even &= cells[i] == cells[0];
	pthread_rwlock_unlock(&lock);
	return even;
}

static void *write_loop(void *arg)
{
	unsigned x = 1;

	target_meet();
	for (unsigned long i = 0; target_goes_on(i); i++) {
		cells_fill((long)i);
		x = target_work(x, 100);
	}
	return arg;
}

static void *read_loop(void *arg)
{
	unsigned x = 2;

	target_meet();
	for (unsigned long i = 0; target_goes_on(i); i++) {
		target_check(cells_even(), "cells differ");
		x = target_work(x, 100);
	}
	return arg;
}

int main(int argc, char **argv)
{
	target_init(argc, argv, 3);
	pthread_t third = target_thread(read_loop, NULL);
	target_race(write_loop, read_loop);
	pthread_join(third, NULL);
	return target_done("free_rwlock");
}
