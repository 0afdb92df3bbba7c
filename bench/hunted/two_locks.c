/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Each thread holds a lock, but not the same one. Correct: the same one. */
#include "hunted.h"

static pthread_mutex_t one = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t other = PTHREAD_MUTEX_INITIALIZER;
long balance = 100;

static void change(pthread_mutex_t *mutex, long amount)
{
	pthread_mutex_lock(mutex);
	balance += amount; /* RACE a */
	pthread_mutex_unlock(mutex);
}

static void *depositor(void *arg)
{
	for (int i = 0; i < 3; i++) {
		change(&one, 10);
		pause_ms(8);
	}
	return arg;
}

static void *drawer(void *arg)
{
	ONLY_RACY(pthread_mutex_t *mutex = &other);
	ONLY_TWIN(pthread_mutex_t *mutex = &one);

	pause_ms(4);
	for (int i = 0; i < 3; i++) {
		change(mutex, -10);
		pause_ms(8);
	}
	return arg;
}

int main(void)
{
	(void)other;
	both(depositor, drawer);
	printf("%ld\n", balance);
	return 0;
}
