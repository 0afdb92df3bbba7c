/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Two threads count without the lock. */
#include "short.h"

#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
unsigned long count;

static NOINLINE void count_up(void)
{
	ONLY_TWIN(pthread_mutex_lock(&lock));
	count++; /* RACE */
	ONLY_TWIN(pthread_mutex_unlock(&lock));
}

static void *counter(void *arg)
{
	(void)lock;
	for (int i = 0; i < 20000; i++) {
		count_up();
		work(1, 20);
	}
	return arg;
}

int main(void)
{
	pthread_t threads[2];

	pthread_create(&threads[0], NULL, counter, NULL);
	pthread_create(&threads[1], NULL, counter, NULL);
	pthread_join(threads[0], NULL);
	pthread_join(threads[1], NULL);
	return 0;
}
