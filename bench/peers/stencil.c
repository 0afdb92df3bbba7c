/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Heat that spreads along a rod: each worker computes its half from the last
 * step's, and needs one cell of the other's. What is forgotten: to
 * wait for each other after every step, not only every 64. A round is a step.
 */
#include "peers.h"

enum { CELLS = 4096, HALF = CELLS / 2 };

static pthread_barrier_t barrier;
double heat[2][CELLS];

static void inner_compute(const double *from, double *to, unsigned first,
			  unsigned last)
{
	for (unsigned i = first; i < last; i++)
		to[i] = from[i] +
			0.1 * (from[i - 1] - 2 * from[i] + from[i + 1]);
}

/* The two cells at the border, from both sides. */
NOINLINE static double border_read(const double *cell)
{
	return *cell; /* RACE: border */
}

NOINLINE static void border_write(double *cell, double value)
{
	*cell = value; /* RACE: border */
}

static void round_of(const struct worker *worker, unsigned long i)
{
	const double *from = heat[i % 2];
	double *to = heat[(i + 1) % 2];
	unsigned mine = worker->number ? HALF : HALF - 1;
	unsigned theirs = worker->number ? HALF - 1 : HALF;
	unsigned inside = worker->number ? HALF + 1 : HALF - 2;

	border_write(&to[mine], 0.8 * border_read(&from[mine]) +
					0.1 * border_read(&from[theirs]) +
					0.1 * border_read(&from[inside]));
	if (worker->number)
		inner_compute(from, to, HALF + 1, CELLS - 1);
	else
		inner_compute(from, to, 1, HALF - 1);
	if (i % 64 == 63)
		pthread_barrier_wait(&barrier);
	else
		FORGOTTEN(pthread_barrier_wait(&barrier));
}

int main(int argc, char **argv)
{
	pthread_barrier_init(&barrier, NULL, WORKERS);
	for (unsigned i = 0; i < CELLS; i++)
		heat[0][i] = heat[1][i] = i % 100;
	return workers_run(argc, argv, "stencil", round_of, round_of);
}
