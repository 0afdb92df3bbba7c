/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A temporary variable of a loop is shared. */
#include "short.h"

enum { N = 20000 };

unsigned cells[N];
unsigned temporary;
ONLY_TWIN(_Pragma("omp threadprivate(temporary)"))

static NOINLINE void cell_make(int i)
{
	temporary = work((unsigned)i, 20); /* RACE */
	cells[i] = temporary + 1; /* RACE */
}

int main(void)
{
#pragma omp parallel for
	for (int i = 0; i < N; i++)
		cell_make(i);
	return 0;
}
