/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Two flags in one word, each changed by a thread of its own. */
#include "short.h"

#include <pthread.h>

struct state {
	unsigned busy : 1;
	unsigned dirty : 1;
	unsigned rest : 30;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
struct state state;

static NOINLINE void set_busy(unsigned on)
{
	ONLY_TWIN(pthread_mutex_lock(&lock));
	state.busy = on & 1; /* RACE */
	ONLY_TWIN(pthread_mutex_unlock(&lock));
}

static NOINLINE void set_dirty(unsigned on)
{
	ONLY_TWIN(pthread_mutex_lock(&lock));
	state.dirty = on & 1; /* RACE */
	ONLY_TWIN(pthread_mutex_unlock(&lock));
}

static void *busy(void *arg)
{
	(void)lock;
	for (unsigned i = 0; i < 15000; i++) {
		set_busy(i);
		work(1, 30);
	}
	return arg;
}

static void *dirty(void *arg)
{
	for (unsigned i = 0; i < 15000; i++) {
		set_dirty(i);
		work(1, 30);
	}
	return arg;
}

int main(void)
{
	pthread_t threads[2];

	pthread_create(&threads[0], NULL, busy, NULL);
	pthread_create(&threads[1], NULL, dirty, NULL);
	pthread_join(threads[0], NULL);
	pthread_join(threads[1], NULL);
	return 0;
}
