/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Fixed work, free of races: threads that want one mutex nearly all the time. A
 * round is one turn of each.
 */
#include "target.h"

enum { THREADS = 4, CELLS = 64 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static unsigned cells[CELLS];

NOINLINE static unsigned turn(unsigned x)
{
	pthread_mutex_lock(&lock);
	for (unsigned i = 0; i < CELLS; i++)
		cells[i] = x = target_work(x + cells[i], 4);
	pthread_mutex_unlock(&lock);
	return x;
}

static void *worker(void *arg)
{
	unsigned x = 1;

	target_meet();
	for (unsigned long i = 0; target_goes_on(i); i++)
		x = target_work(turn(x), 60);
	return arg;
}

int main(int argc, char **argv)
{
	pthread_t threads[THREADS];

	target_init(argc, argv, THREADS);
	for (unsigned i = 0; i < THREADS; i++)
		threads[i] = target_thread(worker, NULL);
	for (unsigned i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	return target_done("mutex");
}
