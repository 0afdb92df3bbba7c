/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A queue has a mutex, but its length is looked at without it. Correct: with it.
 */
#include "hunted.h"

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int items[16];
int length;

static void put(int item)
{
	pthread_mutex_lock(&mutex);
	items[length++] = item; /* RACE a */
	pthread_mutex_unlock(&mutex);
}

static int count(void)
{
	int found;

	ONLY_TWIN(pthread_mutex_lock(&mutex));
	found = length; /* RACE a */
	ONLY_TWIN(pthread_mutex_unlock(&mutex));
	return found;
}

static void *producer(void *arg)
{
	for (int i = 0; i < 4; i++) {
		put(i);
		pause_ms(6);
	}
	return arg;
}

static void *monitor(void *arg)
{
	for (int i = 0; i < 4; i++) {
		pause_ms(7);
		printf("%d\n", count()); /* RACE a */
	}
	return arg;
}

int main(void)
{
	both(producer, monitor);
	return 0;
}
