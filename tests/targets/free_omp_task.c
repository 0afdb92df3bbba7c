/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Free of races: OpenMP's tasks with dependences, taskwait, single, sections
 * and a lock.
 */
#include "target.h"
#include <omp.h>

static omp_lock_t lock;
long made, used, counted;

NOINLINE static long tree(long depth)
{
	long left = 0, right = 0;

	omp_set_lock(&lock);
	counted++;
	omp_unset_lock(&lock);
	if (depth == 0)
		return 1;
#pragma omp task shared(left)
	left = tree(depth - 1);
#pragma omp task shared(right)
	right = tree(depth - 1);
#pragma omp taskwait
	return left + right;
}

NOINLINE static void chain(long n)
{
#pragma omp task depend(out : made)
	made = n;
#pragma omp task depend(in : made) depend(out : used)
	used = 2 * made;
#pragma omp taskwait
	target_check(used == 2 * n, "chain");
}

int main(int argc, char **argv)
{
	target_init(argc, argv, 1);
	omp_init_lock(&lock);
	for (unsigned long i = 0; target_goes_on(i * 16); i++) {
		long leaves = 0;

#pragma omp parallel num_threads(3)
#pragma omp single
		{
			leaves = tree(4);
			chain((long)i);
		}
		target_check(leaves == 16, "tree");
	}
	omp_destroy_lock(&lock);
	return target_done("free_omp_task");
}
