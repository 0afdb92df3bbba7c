/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Free of races: GLib's GThreadPool, GCond, atomic pointer, g_rc_box and
 * main contexts: workers call back into the loop of the main thread, which
 * reads what they have written.
 */
#include "target.h"
#include <glib.h>

enum { JOBS = 8 };

struct job {
	const long *table; /* atomically reference-counted, by all jobs */
	long input, output;
};

static GMutex mutex;
static GCond finished;
static GMainLoop *loop;
static GThreadPool *pool;
static gpointer newest; /* the job finished last */
static int unfinished;
static unsigned long rounds;
static struct job jobs[JOBS];

static void jobs_start(void);

NOINLINE static gboolean jobs_read(gpointer arg)
{
	struct job *last = g_atomic_pointer_get(&newest);

	target_check(last && last->output > 0, "newest");
	g_mutex_lock(&mutex);
	while (unfinished)
		g_cond_wait(&finished, &mutex);
	g_mutex_unlock(&mutex);
	for (unsigned i = 0; i < JOBS; i++)
		target_check(jobs[i].output == jobs[i].input + 7, "job");
	if (target_goes_on(++rounds))
		jobs_start();
	else
		g_main_loop_quit(loop);
	(void)arg;
	return G_SOURCE_REMOVE;
}

NOINLINE static void job_work(gpointer data, gpointer arg)
{
	struct job *job = data;
	int last;

	job->output = job->input + job->table[7];
	g_atomic_rc_box_release((gpointer)job->table);
	g_atomic_pointer_set(&newest, job);
	g_mutex_lock(&mutex);
	last = --unfinished == 0;
	g_cond_broadcast(&finished);
	g_mutex_unlock(&mutex);
	if (last)
		g_main_context_invoke(NULL, jobs_read, arg);
}

static void jobs_start(void)
{
	long *table = g_atomic_rc_box_alloc(8 * sizeof(*table));

	for (long i = 0; i < 8; i++)
		table[i] = i;
	unfinished = JOBS; /* no job is running */
	for (unsigned i = 0; i < JOBS; i++) {
		jobs[i].input = (long)(rounds + i);
		jobs[i].table = g_atomic_rc_box_acquire(table);
		g_thread_pool_push(pool, &jobs[i], NULL);
	}
	g_atomic_rc_box_release(table);
}

static gboolean first_round(gpointer arg)
{
	(void)arg;
	jobs_start();
	return G_SOURCE_REMOVE;
}

int main(int argc, char **argv)
{
	target_init(argc, argv, 1);
	loop = g_main_loop_new(NULL, FALSE);
	pool = g_thread_pool_new(job_work, NULL, 3, FALSE, NULL);
	g_idle_add(first_round, NULL);
	g_main_loop_run(loop);
	g_thread_pool_free(pool, FALSE, TRUE);
	g_main_loop_unref(loop);
	return target_done("free_glib_pool");
}
