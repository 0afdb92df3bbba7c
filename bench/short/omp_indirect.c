/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A loop over indices that are not all different. */
#include "short.h"

enum { N = 20000, BINS = 16 };

unsigned bins[BINS];

static NOINLINE void bin_count(unsigned i)
{
	ONLY_TWIN(_Pragma("omp atomic"))
	bins[i % BINS]++; /* RACE */
}

int main(void)
{
#pragma omp parallel for
	for (int i = 0; i < N; i++)
		bin_count(work((unsigned)i, 30) >> 16);
	return 0;
}
