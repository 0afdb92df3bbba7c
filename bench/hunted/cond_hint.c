/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A condition is looked at without the mutex, to save it; the other thread sets it
 * under the mutex. Correct: with the mutex.
 */
#include "hunted.h"

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
int ready;

static void wait_for_it(void)
{
	pthread_mutex_lock(&mutex);
	while (!ready)
		pthread_cond_wait(&changed, &mutex);
	pthread_mutex_unlock(&mutex);
}

static void *waiter(void *arg)
{
	ONLY_RACY(if (ready) return arg); /* RACE a */
	wait_for_it();
	return arg;
}

static void *setter(void *arg)
{
	pause_ms(15);
	pthread_mutex_lock(&mutex);
	ready = 1; /* RACE a */
	pthread_cond_signal(&changed);
	pthread_mutex_unlock(&mutex);
	return arg;
}

int main(void)
{
	both(waiter, setter);
	printf("%d\n", ready);
	return 0;
}
