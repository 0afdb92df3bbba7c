/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Three threads add to variables, each with another kind of OpenMP's locks, and to one
 * without, for tests of which locks a recorder knows. It ends with a known line.
 */
#include <omp.h>
#include <stdio.h>

long alone, named, locked, tested, nested, unlocked;

static void add_locked(omp_lock_t *lock, omp_nest_lock_t *nest)
{
	omp_set_lock(lock);
	locked++;
	omp_unset_lock(lock);
	while (!omp_test_lock(lock))
		;
	tested++;
	omp_unset_lock(lock);
	omp_set_nest_lock(nest);
	omp_set_nest_lock(nest);
	nested++;
	omp_unset_nest_lock(nest);
	omp_unset_nest_lock(nest);
}

int main(void)
{
	omp_lock_t lock;
	omp_nest_lock_t nest;

	omp_init_lock(&lock);
	omp_init_nest_lock(&nest);
#pragma omp parallel num_threads(3)
	{
#pragma omp critical
		alone++;
#pragma omp critical(with_a_name)
		named++;
		add_locked(&lock, &nest);
		unlocked++;
	}
	puts("added");
	return 0;
}
