/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A loop in which each round reads what the next one writes. */
#include "short.h"

enum { N = 64, ROUNDS = 400 * LONGER };

unsigned cells[N + 1], old[N + 1];

static NOINLINE void cell_shift(int i, const unsigned *from)
{
	cells[i] = work(from[i + 1], 20); /* RACE */
}

int main(void)
{
	for (int round = 0; round < ROUNDS; round++) {
		for (int i = 0; i <= N; i++)
			old[i] = cells[i];
#pragma omp parallel for schedule(static, 1)
		for (int i = 0; i < N; i++)
			cell_shift(i, ONLY_RACY(cells) ONLY_TWIN(old));
	}
	return 0;
}
