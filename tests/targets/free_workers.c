/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Free of races: a pool of threads takes jobs from a list under a mutex and a
 * condition variable; a job's plain result is read by the main thread after
 * it has seen, under the same mutex, that the job is done.
 */
#include "target.h"

enum { WORKERS = 3, JOBS = 8 };

struct job {
	struct job *next;
	long input, output;
	int done;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static struct job *list;
static int closing;

NOINLINE static void job_work(struct job *job)
{
	job->output = 0;
	for (long i = 1; i <= job->input; i++)
		job->output += i;
}

static void *work_loop(void *arg)
{
	struct job *job;

	pthread_mutex_lock(&lock);
	while (list || !closing) {
		job = list;
		if (!job) {
			pthread_cond_wait(&changed, &lock);
			continue;
		}
		list = job->next;
		pthread_mutex_unlock(&lock);
		job_work(job);
		pthread_mutex_lock(&lock);
		job->done = 1;
		pthread_cond_broadcast(&changed);
	}
	pthread_mutex_unlock(&lock);
	return arg;
}

static void jobs_round(struct job *jobs, long input)
{
	pthread_mutex_lock(&lock);
	for (unsigned i = 0; i < JOBS; i++) {
		jobs[i] = (struct job){ .next = list, .input = input + i };
		list = &jobs[i];
	}
	pthread_cond_broadcast(&changed);
	for (unsigned i = 0; i < JOBS; i++)
		while (!jobs[i].done)
			pthread_cond_wait(&changed, &lock);
	pthread_mutex_unlock(&lock);
	for (unsigned i = 0; i < JOBS; i++)
		target_check(jobs[i].output ==
				     jobs[i].input * (jobs[i].input + 1) / 2,
			     "job");
}

int main(int argc, char **argv)
{
	struct job *jobs = calloc(JOBS, sizeof(*jobs));
	pthread_t threads[WORKERS];

	target_init(argc, argv, 1);
	for (unsigned i = 0; i < WORKERS; i++)
		threads[i] = target_thread(work_loop, NULL);
	for (unsigned long i = 0; target_goes_on(i * 16); i++)
		jobs_round(jobs, (long)i % 100);
	pthread_mutex_lock(&lock);
	closing = 1;
	pthread_cond_broadcast(&changed);
	pthread_mutex_unlock(&lock);
	for (unsigned i = 0; i < WORKERS; i++)
		pthread_join(threads[i], NULL);
	free(jobs);
	return target_done("free_workers");
}
