/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A queue of work with a mutex, which both workers fill and empty. What is
 * forgotten: the lock when it is asked how long the queue is, to decide which
 * of the two to do, and where the work done is added up.
 */
#include "peers.h"

enum { ROOM = 64 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static unsigned jobs[ROOM];
unsigned queue_length;
unsigned long work_done;

NOINLINE static int queue_put(unsigned job)
{
	int room;

	pthread_mutex_lock(&lock);
	room = queue_length < ROOM;
	if (room)
		jobs[queue_length++] = job; /* RACE: length */
	pthread_mutex_unlock(&lock);
	return room;
}

NOINLINE static unsigned queue_take(void)
{
	unsigned job = 0;

	pthread_mutex_lock(&lock);
	if (queue_length > 0)
		job = jobs[--queue_length]; /* RACE: length */
	pthread_mutex_unlock(&lock);
	return job;
}

NOINLINE static unsigned queue_peek_length(void)
{
	unsigned length;

	WITH_LOCK(&lock);
	length = queue_length; /* RACE: length */
	WITHOUT_LOCK(&lock);
	return length;
}

NOINLINE static void work_account(unsigned amount)
{
	WITH_LOCK(&lock);
	work_done += amount; /* RACE: done */
	WITHOUT_LOCK(&lock);
}

static void round_of(const struct worker *worker, unsigned long i)
{
	unsigned job = (unsigned)i * 2 + worker->number + 1;

	if (queue_peek_length() < ROOM / 2) {
		queue_put(target_work(job, 300));
	} else {
		job = queue_take();
		use(target_work(job | 1, 3000));
		work_account(job % 10);
	}
}

int main(int argc, char **argv)
{
	return workers_run(argc, argv, "workqueue", round_of, round_of);
}
