/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Fixed work, free of races: threads that each compute a part of a row from the
 * row before, and wait for one another after each. A round is one row.
 */
#include "target.h"

enum { THREADS = 2, PART = 2048 };

static pthread_barrier_t barrier;
static unsigned rows[2][THREADS * PART];

NOINLINE static void compute(unsigned thread, const unsigned *from,
			     unsigned *to)
{
	for (unsigned i = 0; i < PART; i++) {
		unsigned at = thread * PART + i;
		unsigned next = (at + PART) % (THREADS * PART);

		to[at] = target_work(from[at] ^ from[next], 4) | 1;
	}
}

static void *worker(void *arg)
{
	unsigned thread = arg ? 1 : 0;

	for (unsigned long i = 0; target_goes_on(i); i++) {
		compute(thread, rows[i % 2], rows[(i + 1) % 2]);
		pthread_barrier_wait(&barrier);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t other;

	target_init(argc, argv, THREADS);
	pthread_barrier_init(&barrier, NULL, THREADS);
	for (unsigned i = 0; i < THREADS * PART; i++)
		rows[0][i] = i + 1;
	other = target_thread(worker, rows);
	worker(NULL);
	pthread_join(other, NULL);
	return target_done("barrier");
}
