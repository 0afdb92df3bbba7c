/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Workers that take jobs from a list, a coordinator that waits until all are
 * done, and an inbox with a lock and a quick look before it is taken.
 */
#include "figure7.h"

struct job {
	struct job *next;
	unsigned long work;
};

static struct job jobs[64];
struct job *todo;
unsigned long issued = 64, done;

static pthread_mutex_t inbox_lock = PTHREAD_MUTEX_INITIALIZER;
unsigned inbox_count;

NOINLINE static struct job *job_take(void)
{
	struct job *job = todo; /* RACE: taken */

	if (job)
		todo = job->next; /* RACE: taken */
	return job;
}

NOINLINE static void job_put(struct job *job)
{
	job->next = todo; /* RACE: taken */
	todo = job; /* RACE: taken */
}

NOINLINE static void job_finish(void)
{
	done++; /* RACE: done */
}

/* Never again, once a worker's count was lost. */
NOINLINE static int jobs_are_done(void)
{
	return done == issued; /* RACE: done */
}

NOINLINE static int inbox_take(void)
{
	int taken = 0;

	if (inbox_count == 0) /* RACE: inbox */
		return 0;
	pthread_mutex_lock(&inbox_lock);
	if (inbox_count > 0) { /* RACE: inbox */
		inbox_count--; /* RACE: inbox */
		taken = 1;
	}
	pthread_mutex_unlock(&inbox_lock);
	return taken;
}

NOINLINE static void inbox_put(void)
{
	pthread_mutex_lock(&inbox_lock);
	if (inbox_count < 1000) /* RACE: inbox */
		inbox_count++; /* RACE: inbox */
	pthread_mutex_unlock(&inbox_lock);
}

static void worker(unsigned long i)
{
	struct job *job = job_take();

	if (job) {
		use(job->work + i);
		job_put(job);
	}
	job_finish();
	if (i % 4 == 0)
		use((unsigned long)inbox_take());
}

static void coordinator(unsigned long i)
{
	if (jobs_are_done())
		use(i);
	if (i % 4 == 0)
		inbox_put();
}

int main(int argc, char **argv)
{
	struct role roles[] = {
		{ worker, 50 }, { worker, 60 }, { coordinator, 40 }, { NULL, 0 }
	};

	for (unsigned i = 0; i < 64; i++) {
		jobs[i].next = i < 63 ? &jobs[i + 1] : NULL;
		jobs[i].work = i;
	}
	todo = jobs;
	return roles_run(argc, argv, "jobs", roles);
}
