/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A count of references that is not atomic. */
#include "short.h"

#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
int references = 1;
int freed;

static NOINLINE void object_get(void)
{
	ONLY_TWIN(pthread_mutex_lock(&lock));
	references++; /* RACE */
	ONLY_TWIN(pthread_mutex_unlock(&lock));
}

static NOINLINE void object_put(void)
{
	ONLY_TWIN(pthread_mutex_lock(&lock));
	if (--references == 0) /* RACE */
		freed = 1;
	ONLY_TWIN(pthread_mutex_unlock(&lock));
}

static void *user(void *arg)
{
	(void)lock;
	for (int i = 0; i < 15000; i++) {
		object_get();
		work(1, 30);
		object_put();
	}
	return arg;
}

int main(void)
{
	pthread_t threads[2];

	pthread_create(&threads[0], NULL, user, NULL);
	pthread_create(&threads[1], NULL, user, NULL);
	pthread_join(threads[0], NULL);
	pthread_join(threads[1], NULL);
	(void)freed;
	return 0;
}
