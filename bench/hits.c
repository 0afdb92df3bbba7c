/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * hits SECONDS|xN THREADS: so many threads (2) that each add up numbers of an
 * array of their own: nothing is shared, nobody waits. A round is one array.
 */
#include "target.h"

enum { LENGTH = 1024, THREADS_MAX = 4096 };

static long arrays[THREADS_MAX][LENGTH];

NOINLINE static long add_up(const long *array)
{
	long sum = 0;

	for (int i = 0; i < LENGTH; i++)
		sum += array[i];
	return sum;
}

NOINLINE static void set(long *array, unsigned at, long value)
{
	array[at % LENGTH] = value;
}

static void *adder(void *arg)
{
	long *array = arg;
	unsigned x = 3;

	target_meet();
	for (unsigned long i = 0; target_goes_on(i); i++) {
		x = target_work(x, 20);
		set(array, x, add_up(array));
	}
	return NULL;
}

int main(int argc, char **argv)
{
	unsigned count = argc > 2 ? (unsigned)atoi(argv[2]) : 2;
	pthread_t threads[THREADS_MAX];

	target_check(count > 0 && count <= THREADS_MAX, "1 to 4096 threads");
	target_init(argc, argv, count);
	for (unsigned i = 0; i < count; i++)
		threads[i] = target_thread(adder, arrays[i]);
	for (unsigned i = 0; i < count; i++)
		pthread_join(threads[i], NULL);
	return target_done("hits");
}
