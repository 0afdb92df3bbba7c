/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The largest value is kept without a critical section. */
#include "short.h"

enum { N = 20000 };

unsigned largest;

static NOINLINE void largest_note(unsigned value)
{
	ONLY_TWIN(_Pragma("omp critical"))
	if (value > largest) /* RACE */
		largest = value; /* RACE */
}

int main(void)
{
#pragma omp parallel for
	for (int i = 0; i < N; i++)
		largest_note(work((unsigned)i, 2) / (N - (unsigned)i));
	return 0;
}
