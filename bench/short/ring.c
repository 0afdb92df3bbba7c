/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A ring under a lock; whether it is empty is looked up without it. */
#include "short.h"

#include <pthread.h>
#include <sched.h>

enum { SLOTS = 16, JOBS = 8000 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
int slots[SLOTS], used, next_put, next_take;

static NOINLINE int ring_put(int job)
{
	int room;

	pthread_mutex_lock(&lock);
	room = used < SLOTS;
	if (room) {
		slots[next_put++ % SLOTS] = job;
		used++; /* RACE */
	}
	pthread_mutex_unlock(&lock);
	return room;
}

static NOINLINE int ring_is_empty(void)
{
	int empty;

	ONLY_TWIN(pthread_mutex_lock(&lock));
	empty = used == 0; /* RACE */
	ONLY_TWIN(pthread_mutex_unlock(&lock));
	return empty;
}

static NOINLINE int ring_take(void)
{
	int job;

	pthread_mutex_lock(&lock);
	job = slots[next_take++ % SLOTS];
	used--; /* RACE */
	pthread_mutex_unlock(&lock);
	return job;
}

static void *producer(void *arg)
{
	for (int job = 0; job < JOBS; job++) {
		while (!ring_put(job))
			sched_yield();
	}
	return arg;
}

static void *consumer(void *arg)
{
	for (int job = 0; job < JOBS; job++) {
		while (ring_is_empty())
			sched_yield();
		work((unsigned)ring_take(), 50);
	}
	return arg;
}

int main(void)
{
	pthread_t threads[2];

	pthread_create(&threads[0], NULL, producer, NULL);
	pthread_create(&threads[1], NULL, consumer, NULL);
	pthread_join(threads[0], NULL);
	pthread_join(threads[1], NULL);
	return 0;
}
