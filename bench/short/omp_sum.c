/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A sum over a loop without a reduction. */
#include "short.h"

enum { N = 20000 };

unsigned sum;

static NOINLINE void sum_add(unsigned value)
{
	ONLY_TWIN(_Pragma("omp atomic"))
	sum += value; /* RACE */
}

int main(void)
{
#pragma omp parallel for
	for (int i = 0; i < N; i++)
		sum_add(work((unsigned)i, 30));
	return 0;
}
