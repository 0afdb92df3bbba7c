/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * OpenMP: a task shares a local of the thread that made it, and that thread
 * accesses the local by its place in the frame.
 */
#include "target.h"

NOINLINE static void share(void)
{
	long counter = 0, seen = 0;
	unsigned x = 2;

#pragma omp task shared(counter)
	{
		unsigned y = 1;

		target_meet();
		for (unsigned long i = 0; target_goes_on(i); i++) {
			ENTER();
			counter += y & 15; /* RACE: add */
			LEAVE();
			y = target_work(y, 40);
		}
	}
	target_meet();
	for (unsigned long i = 0; target_goes_on(i); i++) {
		ENTER();
		seen += counter; /* RACE: look */
		LEAVE();
		x = target_work(x, 30);
	}
#pragma omp taskwait
	target_check(seen >= 0, "seen");
}

int main(int argc, char **argv)
{
	target_init(argc, argv, 2);
#pragma omp parallel num_threads(2)
#pragma omp single
	share();
	return target_done("local_omp");
}
