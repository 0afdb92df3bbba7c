/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The product of two matrices, a block of rows in turn for each worker; the
 * blocks done are counted for whoever shows the progress. What is forgotten:
 * that the count must be atomic. A round is a block.
 */
#include "peers.h"

enum { SIDE = 64, ROWS = 4 };

static double left[SIDE][SIDE], right[SIDE][SIDE];
static double product[WORKERS][SIDE][SIDE];
FORGOTTEN_ATOMIC unsigned long blocks_done;

NOINLINE static double cell(unsigned row, unsigned column)
{
	double sum = 0;

	for (unsigned k = 0; k < SIDE; k++)
		sum += left[row][k] * right[k][column];
	return sum;
}

NOINLINE static void progress_note(void)
{
	blocks_done++; /* RACE: progress */
}

static void round_of(const struct worker *worker, unsigned long i)
{
	unsigned first = (unsigned)(i * ROWS) % SIDE;

	for (unsigned row = first; row < first + ROWS; row++)
		for (unsigned column = 0; column < SIDE; column++)
			product[worker->number][row][column] =
				cell(row, column);
	progress_note();
}

int main(int argc, char **argv)
{
	for (unsigned i = 0; i < SIDE * SIDE; i++) {
		left[i / SIDE][i % SIDE] = i % 7;
		right[i / SIDE][i % SIDE] = i % 11;
	}
	return workers_run(argc, argv, "blocks", round_of, round_of);
}
