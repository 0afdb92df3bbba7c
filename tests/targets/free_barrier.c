/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Free of races: threads write their own cells of a grid and read their
 * neighbours', the two phases kept apart by a barrier.
 */
#include "target.h"

enum { WORKERS = 3, CELLS = 64 };

static pthread_barrier_t phase;
long grid[WORKERS][CELLS];
int ended;

NOINLINE static void cell_write(unsigned row, unsigned cell, long value)
{
	grid[row][cell] = value;
}

NOINLINE static long cell_read(unsigned row, unsigned cell)
{
	return grid[row][cell];
}

static void *grid_loop(void *arg)
{
	unsigned me = (unsigned)(uintptr_t)arg;
	long sum = 0;

	for (unsigned long i = 0;; i++) {
		for (unsigned c = 0; c < CELLS; c++)
			cell_write(me, c, sum + (long)i);
		if (me == 0)
			ended = !target_goes_on(i * 64);
		pthread_barrier_wait(&phase);
		for (unsigned c = 0; c < CELLS; c++)
			sum += cell_read((me + 1) % WORKERS, c);
		if (ended)
			return arg;
		pthread_barrier_wait(&phase);
	}
}

int main(int argc, char **argv)
{
	pthread_t threads[WORKERS];

	target_init(argc, argv, WORKERS);
	pthread_barrier_init(&phase, NULL, WORKERS);
	for (uintptr_t i = 0; i < WORKERS; i++)
		threads[i] = target_thread(grid_loop, (void *)i);
	for (unsigned i = 0; i < WORKERS; i++)
		pthread_join(threads[i], NULL);
	return target_done("free_barrier");
}
