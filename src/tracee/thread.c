/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * One traced thread; see thread.h.
 */
#include "tracee/thread.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/log.h"
#include "sys/trace.h"
#include "tracee/process.h"

struct error *thread_create(struct process *process, pid_t tid,
			    struct thread **ret)
{
	struct thread *thread = calloc(1, sizeof(*thread));

	if (!thread)
		return error_nomem;
	if (!vec_push(&process->threads, &thread)) {
		free(thread);
		return error_nomem;
	}
	thread->process = process;
	thread->tid = tid;
	thread->index = process->threads.count - 1;
	for (int i = 0; i < DREGS_SLOTS; i++)
		thread->watch.fds[i] = -1;
	*ret = thread;
	return NULL;
}

/* The last of them takes its place. */
void thread_unlist(const struct thread *thread)
{
	struct vec *threads = &thread->process->threads;

	vec_remove_swap(threads, thread->index);
	if (thread->index < threads->count)
		process_thread(thread->process, thread->index)->index =
			thread->index;
}

void thread_set_path(struct thread *child, struct thread *creator)
{
	uint32_t length = creator->path_length;

	/* deeper families share the path of their last known ancestor */
	memcpy(child->path, creator->path, sizeof(child->path));
	if (length < WIRE_PATH_MAX)
		child->path[length++] = creator->births;
	child->path_length = length;
	creator->births++;
}

void thread_set_place(struct thread *child, struct thread *creator)
{
	struct thread_place *place = &child->place;

	*place = creator->place;
	if (place->length < WIRE_PATH_MAX)
		place->path[place->length++] = creator->threads_made;
	else
		place->deep = true;
	creator->threads_made++;
}

void thread_begin_place(struct thread *thread)
{
	thread->place = (struct thread_place){ .length = 0 };
	thread->threads_made = 0;
}

bool thread_is_at(const struct thread *thread, const struct thread_place *place)
{
	return !thread->place.deep && thread->place.length == place->length &&
	       memcmp(thread->place.path, place->path,
		      place->length * sizeof(place->path[0])) == 0;
}

bool thread_ok(struct thread *thread, struct error *err)
{
	if (!err)
		return true;
	if (err == error_gone)
		thread->state = THREAD_GONE;
	else
		log_debug(LOG_TARGET, "%s", error_message(err));
	error_free(err);
	return false;
}

void thread_interrupt(struct thread *thread)
{
	if (thread->interrupting || thread->newborn ||
	    thread->state == THREAD_STOPPED || thread->state == THREAD_GONE)
		return;
	if (thread_ok(thread, trace_interrupt(thread->tid)))
		thread->interrupting = true;
}

bool thread_blocks_trap(const struct thread *thread)
{
	return thread->signals.known &&
	       (thread->signals.mask & UINT64_C(1) << (SIGTRAP - 1));
}
