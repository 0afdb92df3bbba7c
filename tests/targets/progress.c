/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * progress HOW xN: one thread does fixed work while the other waits for it to
 * end, in the way that HOW says. Whenever the one is stalled, nobody can run,
 * but for `spin', whose other thread runs and gets nowhere.
 */
#include "target.h"

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
static pthread_barrier_t barrier;
static sem_t sem;
static int ended; /* guarded by mutex, but for spin */
static unsigned numbers[256];
static const char *how;

NOINLINE static void work(void)
{
	unsigned x = 1;

	for (unsigned long i = 0; target_goes_on(i); i++) {
		x = target_work(x, 200);
		numbers[x % 256] += x;
	}
}

static void *waiter(void *arg)
{
	target_meet();
	if (strcmp(how, "mutex") == 0) {
		pthread_mutex_lock(&mutex);
	} else if (strcmp(how, "cond") == 0) {
		pthread_mutex_lock(&mutex);
		while (!ended)
			pthread_cond_wait(&cond, &mutex);
	} else if (strcmp(how, "rwlock") == 0) {
		pthread_rwlock_rdlock(&rwlock);
	} else if (strcmp(how, "sem") == 0) {
		sem_wait(&sem);
	} else if (strcmp(how, "barrier") == 0) {
		pthread_barrier_wait(&barrier);
	} else if (strcmp(how, "spin") == 0) {
		while (!__atomic_load_n(&ended, __ATOMIC_ACQUIRE))
			__builtin_ia32_pause();
	}
	return arg;
}

static void *worker(void *arg)
{
	target_meet();
	work();
	return arg;
}

static void release(void)
{
	if (strcmp(how, "cond") == 0)
		pthread_mutex_lock(&mutex);
	__atomic_store_n(&ended, 1, __ATOMIC_RELEASE);
	if (strcmp(how, "mutex") == 0 || strcmp(how, "cond") == 0)
		pthread_mutex_unlock(&mutex);
	pthread_cond_signal(&cond);
	if (strcmp(how, "rwlock") == 0)
		pthread_rwlock_unlock(&rwlock);
	sem_post(&sem);
	if (strcmp(how, "barrier") == 0)
		pthread_barrier_wait(&barrier);
}

int main(int argc, char **argv)
{
	pthread_t other;

	target_check(argc == 3, "two arguments");
	how = argv[1];
	target_init(argc - 1, argv + 1, 2);
	pthread_barrier_init(&barrier, NULL, 2);
	sem_init(&sem, 0, 0);
	if (strcmp(how, "join") == 0) {
		other = target_thread(worker, NULL);
		target_meet();
	} else {
		if (strcmp(how, "mutex") == 0)
			pthread_mutex_lock(&mutex);
		if (strcmp(how, "rwlock") == 0)
			pthread_rwlock_wrlock(&rwlock);
		other = target_thread(waiter, NULL);
		target_meet();
		work();
		release();
	}
	pthread_join(other, NULL);
	return target_done("progress");
}
