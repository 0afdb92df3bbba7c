/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A newer build: the function that writes is as it was in the older one, which is
 * the twin, and its caller does not take the lock any more. Another function has
 * the same instructions.
 */
#include "target.h"

static long first, second;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

NOINLINE static void add_first(long n)
{
	first += n;
}

NOINLINE static void add_second(long n)
{
	second += n;
}

static void *worker(void *late)
{
	if (late)
		usleep(20000);
#ifdef TWIN
	pthread_mutex_lock(&mutex);
#endif
	add_first(1);
#ifdef TWIN
	pthread_mutex_unlock(&mutex);
#else
	pthread_mutex_lock(&mutex);
	add_second(1);
	pthread_mutex_unlock(&mutex);
#endif
	return NULL;
}

int main(void)
{
	pthread_t threads[2];

	pthread_create(&threads[0], NULL, worker, NULL);
	pthread_create(&threads[1], NULL, worker, threads);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	if (second > 2)
		add_second(first);
	puts("done");
	return 0;
}
