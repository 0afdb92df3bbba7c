/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Free of races: OpenMP's parallel for with static, dynamic and guided
 * schedules, a reduction, atomic, critical and the barriers between them.
 */
#include "target.h"
#include <omp.h>

enum { CELLS = 256 };

long cells[CELLS], total, peak;

NOINLINE static void fill(long n)
{
#pragma omp for schedule(static)
	for (int i = 0; i < CELLS; i++)
		cells[i] = n + i;
}

NOINLINE static void add(long *sum)
{
	long mine = 0;

#pragma omp for schedule(dynamic, 8)
	for (int i = 0; i < CELLS; i++)
		mine += cells[i];
#pragma omp atomic
	*sum += mine;
#pragma omp for schedule(guided)
	for (int i = 0; i < CELLS; i++)
		cells[i] *= 2;
#pragma omp critical
	peak = cells[0] > peak ? cells[0] : peak;
}

int main(int argc, char **argv)
{
	target_init(argc, argv, 1);
	for (unsigned long i = 0; target_goes_on(i * 16); i++) {
		long sum = 0, again = 0;

#pragma omp parallel num_threads(3)
		{
			fill((long)i);
			add(&sum);
		}
#pragma omp parallel for num_threads(3) reduction(+ : again)
		for (int c = 0; c < CELLS; c++)
			again += cells[c];
		target_check(2 * sum == again, "sum");
		total += again;
	}
	return target_done("free_omp_for");
}
