/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Both threads hold a lock, but not the same one. */
#include "short.h"

#include <pthread.h>

static pthread_mutex_t one = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t other = PTHREAD_MUTEX_INITIALIZER;
unsigned long total;

static NOINLINE void add_first(unsigned long amount)
{
	pthread_mutex_lock(&one);
	total += amount; /* RACE */
	pthread_mutex_unlock(&one);
}

static NOINLINE void add_second(unsigned long amount)
{
	ONLY_RACY(pthread_mutex_lock(&other));
	ONLY_TWIN(pthread_mutex_lock(&one));
	total -= amount; /* RACE */
	ONLY_RACY(pthread_mutex_unlock(&other));
	ONLY_TWIN(pthread_mutex_unlock(&one));
}

static void *first(void *arg)
{
	(void)other;
	for (int i = 0; i < 10000; i++)
		add_first(work(1, 40));
	return arg;
}

static void *second(void *arg)
{
	for (int i = 0; i < 10000; i++)
		add_second(work(1, 40));
	return arg;
}

int main(void)
{
	pthread_t threads[2];

	pthread_create(&threads[0], NULL, first, NULL);
	pthread_create(&threads[1], NULL, second, NULL);
	pthread_join(threads[0], NULL);
	pthread_join(threads[1], NULL);
	return 0;
}
