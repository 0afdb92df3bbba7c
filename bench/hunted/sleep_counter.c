/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A counter; the second thread sleeps first. Correct: a mutex. */
#include "hunted.h"

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
long counter;

static void count(void)
{
	ONLY_TWIN(pthread_mutex_lock(&mutex));
	counter++; /* RACE a */
	ONLY_TWIN(pthread_mutex_unlock(&mutex));
}

static void *early(void *arg)
{
	count();
	return arg;
}

static void *late(void *arg)
{
	pause_ms(20);
	count();
	return arg;
}

int main(void)
{
	(void)mutex;
	both(early, late);
	printf("%ld\n", counter);
	return 0;
}
