/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A stopped thread to write text through; see writer.h.
 */
#include "tracee/writer.h"

#include <stdbool.h>

#include "base/error.h"
#include "sys/procfs.h"
#include "sys/wait.h"
#include "tracee/breakpoint.h"
#include "tracee/thread.h"
#include "tracee/tracees.h"

/* One in an uninterruptible sleep (vfork(2)) would be waited for too long. */
static bool writer_will_stop(const struct thread *thread)
{
	struct thread_status status;
	struct error *err;

	if (thread->newborn || thread->state == THREAD_GONE)
		return false;
	err = procfs_status(thread->tid, &status);
	if (err) {
		error_free(err);
		return false;
	}
	return status.state != 'D' && status.state != 'Z' &&
	       status.state != 'X';
}

static bool writer_stopped_early(const struct tracees *tracees, pid_t tid)
{
	for (size_t i = 0; i < tracees->early.count; i++) {
		const struct stop_reason *stop = vec_at(&tracees->early, i);

		if (stop->tid == tid)
			return true;
	}
	return false;
}

/* Stop it and record its stop, which is handled later. */
static bool writer_stop(struct tracees *tracees, struct thread *thread)
{
	struct stop_reason stop;

	/* no memory to remember it */
	if (!vec_reserve(&tracees->early, tracees->early.count + 1))
		return false;
	thread_interrupt(thread);
	if (!thread->interrupting ||
	    !thread_ok(thread, wait_thread_stop(thread->tid, &stop)))
		return false;
	return vec_push(&tracees->early, &stop);
}

static pid_t writer_of(struct tracees *tracees, const struct process *process,
		       bool stop)
{
	for (size_t i = 0; i < process->threads.count; i++) {
		struct thread *thread = process_thread(process, i);

		if (stop ? writer_will_stop(thread) &&
				    writer_stop(tracees, thread)
			 : thread->state == THREAD_STOPPED ||
				    writer_stopped_early(tracees, thread->tid))
			return thread->tid;
	}
	return 0;
}

pid_t writer_thread(struct tracees *tracees, const struct addrspace *space)
{
	pid_t tid = 0;

	if (!space->memory.refused)
		return 0;
	/* those stopped already, then those that can be */
	for (int round = 0; round < 2; round++) {
		for (size_t i = 0; i < tracees->processes.count && tid == 0;
		     i++) {
			const struct process *process =
				tracees_process_at(tracees, i);

			if (process->space == space &&
			    process->role != PROCESS_COPY)
				tid = writer_of(tracees, process, round == 1);
		}
	}
	return tid;
}

void writer_begin(struct tracees *tracees, struct addrspace *space)
{
	const struct vec *spaces = &space->text->spaces;

	for (size_t i = 0; i < spaces->count; i++) {
		struct addrspace *one = *(struct addrspace **)vec_at(spaces, i);

		one->writer = writer_thread(tracees, one);
	}
}

void writer_end(struct addrspace *space)
{
	const struct vec *spaces = &space->text->spaces;

	for (size_t i = 0; i < spaces->count; i++)
		(*(struct addrspace **)vec_at(spaces, i))->writer = 0;
}
