/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Two tasks share a variable and do not depend on each other. */
#include "short.h"

enum { ROUNDS = 1500 };

unsigned value;

static NOINLINE void value_step(unsigned by)
{
	for (int i = 0; i < 4; i++)
		value = work(value + by, 20); /* RACE */
}

int main(void)
{
#pragma omp parallel
#pragma omp single
	for (int round = 0; round < ROUNDS; round++) {
		ONLY_RACY(_Pragma("omp task"))
		ONLY_TWIN(_Pragma("omp task depend(inout : value)"))
		value_step(1);
		ONLY_RACY(_Pragma("omp task"))
		ONLY_TWIN(_Pragma("omp task depend(inout : value)"))
		value_step(2);
	}
	return 0;
}
