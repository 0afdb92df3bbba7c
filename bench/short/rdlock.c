/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A variable is written under the lock for reading. */
#include "short.h"

#include <pthread.h>

static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
unsigned version;

static NOINLINE void version_next(void)
{
	ONLY_RACY(pthread_rwlock_rdlock(&lock));
	ONLY_TWIN(pthread_rwlock_wrlock(&lock));
	version = work(version, 30); /* RACE */
	pthread_rwlock_unlock(&lock);
}

static NOINLINE unsigned version_get(void)
{
	unsigned value;

	pthread_rwlock_rdlock(&lock);
	value = version; /* RACE */
	pthread_rwlock_unlock(&lock);
	return value;
}

static void *writer(void *arg)
{
	for (int i = 0; i < 8000; i++) {
		version_next();
		work(1, 50);
	}
	return arg;
}

static void *reader(void *arg)
{
	for (int i = 0; i < 8000; i++) {
		version_get();
		work(1, 50);
	}
	return arg;
}

int main(void)
{
	pthread_t threads[2];

	pthread_create(&threads[0], NULL, writer, NULL);
	pthread_create(&threads[1], NULL, reader, NULL);
	pthread_join(threads[0], NULL);
	pthread_join(threads[1], NULL);
	return 0;
}
