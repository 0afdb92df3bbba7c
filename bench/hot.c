/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * hot SECONDS|xN THREADS: THREADS threads that all run the same code, and all
 * count in the same word without a lock.
 */
#include "target.h"

enum { THREADS_MAX = 4096 };

long requests;

NOINLINE static void racy(void)
{
	requests++;
}

static void *serve(void *arg)
{
	unsigned x = 3;

	target_meet();
	for (unsigned long i = 0; target_goes_on(i); i++) {
		x = target_work(x, 40);
		racy();
	}
	return arg;
}

int main(int argc, char **argv)
{
	unsigned count = argc > 2 ? (unsigned)atoi(argv[2]) : 2;
	pthread_t threads[THREADS_MAX];

	target_check(count > 0 && count <= THREADS_MAX, "1 to 4096 threads");
	target_init(argc, argv, count);
	for (unsigned i = 0; i < count; i++)
		threads[i] = target_thread(serve, NULL);
	for (unsigned i = 0; i < count; i++)
		pthread_join(threads[i], NULL);
	return target_done("hot");
}
