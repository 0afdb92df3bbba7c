/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * cold SECONDS: two threads that run some sixty locations again and again, one
 * of them a race (racy), for so long. bench/cold links code that never runs to
 * it.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

struct cell {
	long a, b, c, d;
};

enum { CELLS = 64, ROUND = 8 };

static atomic_bool stop;
static long total;

#define WORK(n)                                                               \
	static __attribute__((noinline)) long work##n(struct cell *c, long x) \
	{                                                                     \
		for (int i = 0; i < ROUND; i++) {                             \
			c[i].a += x;                                          \
			c[i].b ^= c[i].a;                                     \
			c[i + 1].c = c[i].b + (n);                            \
			c[i].d -= c[i + 1].c;                                 \
			x += c[i].d;                                          \
		}                                                             \
		return x;                                                     \
	}
WORK(1)
WORK(2)
WORK(3)
WORK(4)
WORK(5)
WORK(6)
WORK(7)
WORK(8)

static __attribute__((noinline)) void racy(long x)
{
	total += x;
}

static void *run(void *arg)
{
	struct cell *mine = calloc(CELLS, sizeof(*mine));
	long x = *(long *)arg;

	while (mine && !atomic_load(&stop)) {
		x = work1(mine, x);
		x = work2(mine, x);
		x = work3(mine, x);
		x = work4(mine, x);
		x = work5(mine, x);
		x = work6(mine, x);
		x = work7(mine, x);
		x = work8(mine, x);
		racy(x);
	}
	free(mine);
	return NULL;
}

int main(int argc, char **argv)
{
	double seconds = argc > 1 ? strtod(argv[1], NULL) : 1;
	struct timespec length = { .tv_sec = (time_t)seconds };
	long numbers[2] = { 1, 2 };
	pthread_t threads[2];

	length.tv_nsec = (long)((seconds - (double)length.tv_sec) * 1e9);
	for (int i = 0; i < 2; i++) {
		if (pthread_create(&threads[i], NULL, run, &numbers[i]) != 0)
			return 1;
	}
	nanosleep(&length, NULL);
	atomic_store(&stop, true);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	printf("%ld\n", total);
	return 0;
}
