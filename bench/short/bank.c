/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A bank transfers under its lock; the audit sums without it. */
#include "short.h"

#include <pthread.h>

enum { ACCOUNTS = 8 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
long accounts[ACCOUNTS];

static NOINLINE void transfer(int from, int to, long amount)
{
	pthread_mutex_lock(&lock);
	accounts[from] -= amount; /* RACE */
	accounts[to] += amount;
	pthread_mutex_unlock(&lock);
}

static NOINLINE long audit(void)
{
	long sum = 0;

	ONLY_TWIN(pthread_mutex_lock(&lock));
	for (int i = 0; i < ACCOUNTS; i++)
		sum += accounts[i]; /* RACE */
	ONLY_TWIN(pthread_mutex_unlock(&lock));
	return sum;
}

static void *clerk(void *arg)
{
	for (unsigned i = 0; i < 20000 * LONGER; i++)
		transfer((int)(i % ACCOUNTS), (int)(work(i, 30) % ACCOUNTS), 1);
	return arg;
}

static void *auditor(void *arg)
{
	for (int i = 0; i < 10000 * LONGER; i++) {
		audit();
		work(1, 50);
	}
	return arg;
}

int main(void)
{
	pthread_t threads[2];

	pthread_create(&threads[0], NULL, clerk, NULL);
	pthread_create(&threads[1], NULL, auditor, NULL);
	pthread_join(threads[0], NULL);
	pthread_join(threads[1], NULL);
	return 0;
}
