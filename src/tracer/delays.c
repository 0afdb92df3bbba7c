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
		.begun = true,
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

/* Since the beginning, it has run and waited for so long. */
static struct procfs_time delays_since(const struct delays *delays,
				       const struct thread *thread,
				       uint64_t now)
{
	struct procfs_time before = delays_of(delays, thread->tid);
	struct procfs_time time = delays_read(thread);

	/* one that has gone */
	if (time.ran_ns < before.ran_ns || time.waited_ns < before.waited_ns)
		return (struct procfs_time){ .ran_ns = 0 };
	time.ran_ns -= before.ran_ns;
	time.waited_ns -= before.waited_ns;
	if (time.ran_ns == 0 && time.waited_ns == 0 && procfs_runs(thread->tid))
		time.waited_ns = now - delays->begun_ns;
	return time;
}

uint64_t delays_more(struct delays *delays, const struct tracees *tracees,
		     const struct thread *held, uint64_t most_ns, uint64_t now)
{
	const struct thread *thread;
	uint64_t longest = 0, more;

	for (size_t i = 0; (thread = delays_next(tracees, held, i)); i++) {
		struct procfs_time since = delays_since(delays, thread, now);

		if (since.waited_ns > longest)
			longest = since.waited_ns;
	}
	if (longest > most_ns)
		longest = most_ns;
	more = longest > delays->given_ns ? longest - delays->given_ns : 0;
	delays->given_ns += more;
	return more;
}

uint64_t delays_moved(const struct delays *delays,
		      const struct tracees *tracees, const struct thread *held,
		      uint64_t seen_ns, uint64_t now)
{
	const struct thread *thread;
	uint64_t furthest = 0;

	for (size_t i = 0; (thread = delays_next(tracees, held, i)); i++) {
		struct procfs_time since = delays_since(delays, thread, now);
		uint64_t most = now - delays->begun_ns;
		uint64_t moved = seen_ns + since.ran_ns;

		most -= since.waited_ns < most ? since.waited_ns : most;
		if (moved > most)
			moved = most;
		if (moved > furthest)
			furthest = moved;
	}
	return furthest;
}
