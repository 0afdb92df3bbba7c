/* SPDX-License-Identifier: GPL-3.0-or-later */
/* One thread clears a block of the heap that the other one sums. */
#include "short.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { SIZE = 256 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
unsigned char *buffer;

static NOINLINE void buffer_clear(void)
{
	ONLY_TWIN(pthread_mutex_lock(&lock));
	memset(buffer, 0, SIZE); /* RACE */
	ONLY_TWIN(pthread_mutex_unlock(&lock));
}

static NOINLINE unsigned buffer_sum(void)
{
	unsigned sum = 0;

	ONLY_TWIN(pthread_mutex_lock(&lock));
	for (int i = 0; i < SIZE; i++)
		sum += buffer[i]; /* RACE */
	ONLY_TWIN(pthread_mutex_unlock(&lock));
	return sum;
}

static void *cleaner(void *arg)
{
	(void)lock;
	for (int i = 0; i < 10000; i++) {
		buffer_clear();
		work(1, 100);
	}
	return arg;
}

static void *reader(void *arg)
{
	for (int i = 0; i < 10000; i++)
		buffer_sum();
	return arg;
}

int main(void)
{
	pthread_t threads[2];

	buffer = (unsigned char *)malloc(SIZE);
	if (!buffer)
		return 1;
	pthread_create(&threads[0], NULL, cleaner, NULL);
	pthread_create(&threads[1], NULL, reader, NULL);
	pthread_join(threads[0], NULL);
	pthread_join(threads[1], NULL);
	free(buffer);
	return 0;
}
