/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What one thread prepares is used by the others at once. */
#include "short.h"

enum { ROUNDS = 1500 };

unsigned limit, uses;

static NOINLINE void limit_set(int round)
{
	limit = work((unsigned)round, 50); /* RACE */
}

static NOINLINE unsigned limit_get(void)
{
	return limit; /* RACE */
}

int main(void)
{
#pragma omp parallel reduction(+ : uses)
	for (int round = 0; round < ROUNDS; round++) {
		ONLY_RACY(_Pragma("omp single nowait"))
		ONLY_TWIN(_Pragma("omp single"))
		limit_set(round);
		uses += work(limit_get(), 50);
		ONLY_TWIN(_Pragma("omp barrier"))
	}
	return uses == 1;
}
