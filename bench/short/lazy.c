/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Each table is made by whoever needs it first, without the lock. */
#include "short.h"

#include <pthread.h>

enum { TABLES = 4000 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
unsigned tables[TABLES];

static NOINLINE unsigned table_get(int i)
{
	unsigned value;

	ONLY_TWIN(pthread_mutex_lock(&lock));
	if (!tables[i]) /* RACE */
		tables[i] = work((unsigned)i, 200) | 1; /* RACE */
	value = tables[i];
	ONLY_TWIN(pthread_mutex_unlock(&lock));
	return value;
}

static void *user(void *arg)
{
	(void)lock;
	for (int i = 0; i < TABLES; i++)
		table_get(i);
	return arg;
}

int main(void)
{
	pthread_t threads[2];

	pthread_create(&threads[0], NULL, user, NULL);
	pthread_create(&threads[1], NULL, user, NULL);
	pthread_join(threads[0], NULL);
	pthread_join(threads[1], NULL);
	return 0;
}
