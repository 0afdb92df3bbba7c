/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Double-checked locking of a plain pointer; the second thread comes when all is
 * done. Correct: acquired and released.
 */
#include "hunted.h"

struct table {
	int rows[8];
};

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
struct table *table;

static struct table *make(void)
{
	struct table *made = calloc(1, sizeof(*made));

	made->rows[3] = 7;
	return made;
}

static struct table *get(void)
{
#ifdef TWIN
	struct table *got = __atomic_load_n(&table, __ATOMIC_ACQUIRE);

	if (got)
		return got;
	pthread_mutex_lock(&mutex);
	got = table;
	if (!got) {
		got = make();
		__atomic_store_n(&table, got, __ATOMIC_RELEASE);
	}
	pthread_mutex_unlock(&mutex);
	return got;
#else
	if (!table) { /* RACE a */
		pthread_mutex_lock(&mutex);
		if (!table) /* RACE a */
			table = make(); /* RACE a */
		pthread_mutex_unlock(&mutex);
	}
	return table; /* RACE a */
#endif
}

static void *user(void *arg)
{
	if (arg)
		pause_ms(20);
	printf("%d\n", get()->rows[3]);
	return arg;
}

int main(void)
{
	pthread_t one = start(user, NULL), other = start(user, &table);

	pthread_join(one, NULL);
	pthread_join(other, NULL);
	free(table);
	return 0;
}
