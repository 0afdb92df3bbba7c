/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The second loop begins while the first still runs. */
#include "short.h"

enum { N = 512, ROUNDS = 60 };

unsigned cells[N], sums[N];

static NOINLINE void cell_fill(int i)
{
	cells[i] = work((unsigned)i, 30); /* RACE */
}

static NOINLINE void cell_use(int i)
{
	sums[i] += cells[N - 1 - i]; /* RACE */
}

int main(void)
{
	for (int round = 0; round < ROUNDS; round++) {
#pragma omp parallel
		{
			ONLY_RACY(_Pragma("omp for schedule(static) nowait"))
			ONLY_TWIN(_Pragma("omp for schedule(static)"))
			for (int i = 0; i < N; i++)
				cell_fill(i);
#pragma omp for schedule(static)
			for (int i = 0; i < N; i++)
				cell_use(i);
		}
	}
	return 0;
}
