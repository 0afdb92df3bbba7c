/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Each thread is given the address of the loop variable. */
#include "short.h"

#include <pthread.h>

enum { THREADS = 40 };

static NOINLINE int take_number(const int *number)
{
	return *number; /* RACE */
}

static void *reader(void *arg)
{
	unsigned sum = 0;

	for (int i = 0; i < 200; i++) {
		sum += (unsigned)take_number((const int *)arg);
		sum += work(sum, 20);
	}
	return sum == 1 ? arg : NULL;
}

int main(void)
{
	static int copies[THREADS];
	pthread_t threads[THREADS];
	int number;

	(void)copies;

	for (number = 0; number < THREADS; number++) { /* RACE */
		copies[number] = number;
		pthread_create(&threads[number], NULL, reader,
			       ONLY_RACY(&number) ONLY_TWIN(&copies[number]));
		work(1, 3000);
	}
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	return 0;
}
