/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Waits for a processor; see delays.h.
 */
#include "tracer/delays.h"

#include "base/error.h"
#include "sys/procfs.h"
#include "tracee/thread.h"
#include "tracee/tracees.h"

struct delays_thread {
	pid_t tid;
	struct procfs_time time;
};

static struct procfs_time delays_read(const struct thread *thread)
{
	struct procfs_time time = { .ran_ns = 0 };

	/* one that is gone has waited for nothing */
	error_free(procfs_times(thread->process->pid, thread->tid, &time));
	return time;
}

/* The i-th thread that is looked at; NULL: there are no more. */
static const struct thread *delays_next(const struct tracees *tracees,
					const struct thread *held, size_t i)
{
	for (size_t p = 0; i < DELAYS_THREADS && p < tracees->processes.count;
	     p++) {
		const struct process *process = tracees_process_at(tracees, p);

		if (process->role != PROCESS_WATCHED)
			continue;
		for (size_t j = 0; j < process->threads.count; j++) {
			const struct thread *thread =
				process_thread(process, j);

			if (thread != held && i-- == 0)
				return thread;
		}
	}
	return NULL;
}

void delays_begin(struct delays *delays, const struct tracees *tracees,
		  const struct thread *held, uint64_t now)
{
	const struct thread *thread;

	delays_deinit(delays);
	*delays = (struct delays){
		.threads = VEC_INIT(struct delays_thread),
		.begun_ns = now,
	};
	for (size_t i = 0; (thread = delays_next(tracees, held, i)); i++) {
		const struct delays_thread one = { thread->tid,
						   delays_read(thread) };

		if (!vec_push(&delays->threads, &one))
			return;
	}
}

void delays_deinit(struct delays *delays)
{
	vec_deinit(&delays->threads);
}

static struct procfs_time delays_of(const struct delays *delays, pid_t tid)
{
	for (size_t i = 0; i < delays->threads.count; i++) {
		const struct delays_thread *one = vec_at(&delays->threads, i);

		if (one->tid == tid)
			return one->time;
	}
	return (struct procfs_time){ .ran_ns = 0 };
}

static uint64_t delays_wait(const struct delays *delays,
			    const struct thread *thread, uint64_t now)
{
	struct procfs_time before = delays_of(delays, thread->tid);
	struct procfs_time time = delays_read(thread);

	if (time.ran_ns == before.ran_ns && time.waited_ns == before.waited_ns)
		return procfs_runs(thread->tid) ? now - delays->begun_ns : 0;
	return time.waited_ns > before.waited_ns
		       ? time.waited_ns - before.waited_ns
		       : 0;
}

uint64_t delays_more(struct delays *delays, const struct tracees *tracees,
		     const struct thread *held, uint64_t most_ns, uint64_t now)
{
	const struct thread *thread;
	uint64_t longest = 0, more;

	for (size_t i = 0; (thread = delays_next(tracees, held, i)); i++) {
		uint64_t wait = delays_wait(delays, thread, now);

		if (wait > longest)
			longest = wait;
	}
	if (longest > most_ns)
		longest = most_ns;
	more = longest > delays->given_ns ? longest - delays->given_ns : 0;
	delays->given_ns += more;
	return more;
}
