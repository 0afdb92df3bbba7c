/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A table is changed under a lock for readers. Correct: under one for writers.
 */
#include "hunted.h"

static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
int table[4], version;

static void *reader(void *arg)
{
	pthread_rwlock_rdlock(&lock);
	printf("%d\n", table[1]); /* RACE a */
	pthread_rwlock_unlock(&lock);
	return arg;
}

static void *writer(void *arg)
{
	pause_ms(20);
	ONLY_RACY(pthread_rwlock_rdlock(&lock));
	ONLY_TWIN(pthread_rwlock_wrlock(&lock));
	version++;
	table[1] = version; /* RACE a */
	pthread_rwlock_unlock(&lock);
	return arg;
}

int main(void)
{
	both(reader, writer);
	return 0;
}
