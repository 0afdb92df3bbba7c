/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Three threads take tasks from a queue, which come every 4 ms, and each counts
 * what it has done in a variable of all. Correct: under the queue's mutex.
 */
#include "hunted.h"

enum { WORKERS = 3, TASKS = 9 };

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t filled = PTHREAD_COND_INITIALIZER;
static int queued, taken;
unsigned long done;

static int take(void)
{
	int task = -1;

	pthread_mutex_lock(&mutex);
	while (queued == taken && taken < TASKS)
		pthread_cond_wait(&filled, &mutex);
	if (taken < TASKS)
		task = taken++;
	pthread_mutex_unlock(&mutex);
	return task;
}

static void *worker(void *arg)
{
	int task;

	while ((task = take()) >= 0) {
		compute((unsigned long)task, 50000);
		ONLY_TWIN(pthread_mutex_lock(&mutex));
		done++; /* RACE a */
		ONLY_TWIN(pthread_mutex_unlock(&mutex));
	}
	return arg;
}

int main(void)
{
	pthread_t threads[WORKERS];

	for (int i = 0; i < WORKERS; i++)
		threads[i] = start(worker, NULL);
	for (int i = 0; i < TASKS; i++) {
		pause_ms(4);
		pthread_mutex_lock(&mutex);
		queued++;
		pthread_cond_broadcast(&filled);
		pthread_mutex_unlock(&mutex);
	}
	for (int i = 0; i < WORKERS; i++)
		pthread_join(threads[i], NULL);
	printf("%lu\n", done);
	return 0;
}
