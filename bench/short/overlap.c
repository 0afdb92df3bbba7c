/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Two halves of an array that share an element. */
#include "short.h"

#include <pthread.h>

enum { CELLS = 64, ROUNDS = 500 };

unsigned cells[CELLS];
static const int last[2] = { CELLS / 2 ONLY_TWIN(-1), CELLS - 1 };
static const int first[2] = { 0, CELLS / 2 };

static NOINLINE void fill_cell(int i, unsigned value)
{
	cells[i] += value; /* RACE */
}

static void *filler(void *arg)
{
	int half = *(int *)arg;

	for (int round = 0; round < ROUNDS; round++) {
		for (int i = first[half]; i <= last[half]; i++)
			fill_cell(i, work(1, 20));
	}
	return NULL;
}

int main(void)
{
	static int halves[2] = { 0, 1 };
	pthread_t threads[2];

	for (int i = 0; i < 2; i++)
		pthread_create(&threads[i], NULL, filler, &halves[i]);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	return 0;
}
