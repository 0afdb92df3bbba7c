/* SPDX-License-Identifier: GPL-3.0-or-later */
/* One thread renames what the other prints. */
#include "short.h"

#include <pthread.h>
#include <string.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
char name[32] = "nobody";

static NOINLINE void name_set(const char *to)
{
	ONLY_TWIN(pthread_mutex_lock(&lock));
	strcpy(name, to); /* RACE */
	ONLY_TWIN(pthread_mutex_unlock(&lock));
}

static NOINLINE size_t name_length(void)
{
	size_t length;

	ONLY_TWIN(pthread_mutex_lock(&lock));
	length = strlen(name); /* RACE */
	ONLY_TWIN(pthread_mutex_unlock(&lock));
	return length;
}

static void *renamer(void *arg)
{
	(void)lock;
	for (int i = 0; i < 15000; i++) {
		name_set(i % 2 ? "somebody" : "anybody");
		work(1, 40);
	}
	return arg;
}

static void *printer(void *arg)
{
	for (int i = 0; i < 15000; i++)
		work((unsigned)name_length(), 40);
	return arg;
}

int main(void)
{
	pthread_t threads[2];

	pthread_create(&threads[0], NULL, renamer, NULL);
	pthread_create(&threads[1], NULL, printer, NULL);
	pthread_join(threads[0], NULL);
	pthread_join(threads[1], NULL);
	return 0;
}
