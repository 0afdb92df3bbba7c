/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A producer and a consumer of ITEMS items through a ring of 16, with a mutex
 * and two conditions, for bench/pairs: producer ITEMS.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { RING = 16 };

static long ring[RING], sum;
static unsigned long head, tail, items;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t filled = PTHREAD_COND_INITIALIZER;
static pthread_cond_t emptied = PTHREAD_COND_INITIALIZER;

static void *produce(void *unused)
{
	for (unsigned long i = 0; i < items; i++) {
		pthread_mutex_lock(&mutex);
		while (head - tail == RING)
			pthread_cond_wait(&emptied, &mutex);
		ring[head++ % RING] = (long)i;
		pthread_cond_signal(&filled);
		pthread_mutex_unlock(&mutex);
	}
	return unused;
}

static void *consume(void *unused)
{
	for (unsigned long i = 0; i < items; i++) {
		pthread_mutex_lock(&mutex);
		while (head == tail)
			pthread_cond_wait(&filled, &mutex);
		sum += ring[tail++ % RING];
		pthread_cond_signal(&emptied);
		pthread_mutex_unlock(&mutex);
	}
	return unused;
}

int main(int argc, char **argv)
{
	pthread_t threads[2];

	items = argc > 1 ? strtoul(argv[1], NULL, 10) : 3000;
	if (pthread_create(&threads[0], NULL, produce, NULL) ||
	    pthread_create(&threads[1], NULL, consume, NULL))
		return 1;
	pthread_join(threads[0], NULL);
	pthread_join(threads[1], NULL);
	printf("%ld\n", sum);
	return 0;
}
