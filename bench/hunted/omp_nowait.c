/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The threads do not wait between two loops, of which the second reads what another
 * thread wrote in the first. Correct: they wait.
 */
#include "hunted.h"

enum { CELLS = 4 };
int cells[CELLS], sums[CELLS];

static void first(int i)
{
	cells[i] = i + 1; /* RACE a */
}

static void second(int i)
{
	sums[i] = cells[CELLS - 1 - i]; /* RACE a */
}

int main(void)
{
#pragma omp parallel num_threads(2)
	{
#ifdef TWIN
#pragma omp for schedule(static)
#else
#pragma omp for schedule(static) nowait
#endif
		for (int i = 0; i < CELLS; i++)
			first(i);
		pause_ms(15);
#pragma omp for schedule(static)
		for (int i = 0; i < CELLS; i++)
			second(i);
	}
	printf("%d\n", sums[0]);
	return 0;
}
