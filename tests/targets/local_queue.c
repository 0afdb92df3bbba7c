/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * main hands the address of a local to a worker that exists already, by way of
 * a queue: no function that has the address creates a thread. main accesses the
 * local itself by its place in the frame.
 */
#include "target.h"

struct queue {
	pthread_mutex_t lock;
	pthread_cond_t filled;
	long *jobs[4];
	unsigned count;
};

static struct queue queue = { .lock = PTHREAD_MUTEX_INITIALIZER,
			      .filled = PTHREAD_COND_INITIALIZER };

NOINLINE static void put(struct queue *to, long *job)
{
	pthread_mutex_lock(&to->lock);
	to->jobs[to->count % 4] = job;
	to->count++;
	pthread_cond_signal(&to->filled);
	pthread_mutex_unlock(&to->lock);
}

NOINLINE static void submit(long *job)
{
	put(&queue, job);
}

NOINLINE static long *take(struct queue *from)
{
	long *job;

	pthread_mutex_lock(&from->lock);
	while (from->count == 0)
		pthread_cond_wait(&from->filled, &from->lock);
	job = from->jobs[--from->count % 4];
	pthread_mutex_unlock(&from->lock);
	return job;
}

static void *worker_loop(void *arg)
{
	long *counter = take(&queue);
	unsigned x = 1;

	target_meet();
	for (unsigned long i = 0; target_goes_on(i); i++) {
		ENTER();
		*counter += x & 15; /* RACE: add */
		LEAVE();
		x = target_work(x, 40);
	}
	return arg;
}

int main(int argc, char **argv)
{
	long counter = 0, seen = 0;
	unsigned x = 2;
	pthread_t worker;

	target_init(argc, argv, 2);
	worker = target_thread(worker_loop, NULL);
	submit(&counter);
	target_meet();
	for (unsigned long i = 0; target_goes_on(i); i++) {
		ENTER();
		seen += counter; /* RACE: look */
		LEAVE();
		x = target_work(x, 30);
	}
	pthread_join(worker, NULL);
	target_check(seen >= 0, "seen");
	return target_done("local_queue");
}
