/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Two critical sections of different names. */
#include "short.h"

enum { N = 12000 };

long total;

static NOINLINE void total_up(long by)
{
#pragma omp critical(up)
	total += by; /* RACE */
}

static NOINLINE void total_down(long by)
{
	ONLY_RACY(_Pragma("omp critical(down)"))
	ONLY_TWIN(_Pragma("omp critical(up)"))
	total -= by; /* RACE */
}

int main(void)
{
#pragma omp parallel for schedule(static, 1)
	for (int i = 0; i < N; i++) {
		if (i % 2)
			total_up((long)work(1, 40));
		else
			total_down((long)work(1, 40));
	}
	return 0;
}
