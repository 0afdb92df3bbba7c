/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The condition is changed without the lock of its waiter. */
#include "short.h"

#include <pthread.h>
#include <time.h>

enum { TURNS = 1500 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
int turns;

static NOINLINE void turn_give(void)
{
	ONLY_TWIN(pthread_mutex_lock(&lock));
	turns++; /* RACE */
	ONLY_TWIN(pthread_mutex_unlock(&lock));
	pthread_cond_signal(&changed);
}

static NOINLINE int turn_taken(int wanted)
{
	return turns >= wanted; /* RACE */
}

static void *giver(void *arg)
{
	for (int i = 0; i < TURNS; i++) {
		turn_give();
		work(1, 2000);
	}
	return arg;
}

static void *taker(void *arg)
{
	struct timespec soon;

	for (int wanted = 1; wanted <= TURNS; wanted++) {
		pthread_mutex_lock(&lock);
		while (!turn_taken(wanted)) {
			clock_gettime(CLOCK_REALTIME, &soon);
			soon.tv_nsec += 100000;
			soon.tv_sec += soon.tv_nsec / 1000000000;
			soon.tv_nsec %= 1000000000;
			pthread_cond_timedwait(&changed, &lock, &soon);
		}
		pthread_mutex_unlock(&lock);
	}
	return arg;
}

int main(void)
{
	pthread_t threads[2];

	pthread_create(&threads[0], NULL, giver, NULL);
	pthread_create(&threads[1], NULL, taker, NULL);
	pthread_join(threads[0], NULL);
	pthread_join(threads[1], NULL);
	return 0;
}
