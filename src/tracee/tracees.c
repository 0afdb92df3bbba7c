/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * All that is traced; see tracees.h.
 */
#include "tracee/tracees.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "sys/wait.h"
#include "tracee/breakpoint.h"
#include "tracee/sharing.h"
#include "tracee/thread.h"
#include "wire/stats.h"

/* kept until they are taken */
enum { TRACEES_NOTES_MAX = 20 };

void tracees_init(struct tracees *tracees, struct wire_stats *stats)
{
	memset(tracees, 0, sizeof(*tracees));
	tracees->stats = stats;
	tracees->processes = (struct vec)VEC_INIT(struct process *);
	tracees->early = (struct vec)VEC_INIT(struct stop_reason);
	tracees->notes = (struct vec)VEC_INIT(struct error *);
}

void tracees_deinit(struct tracees *tracees)
{
	for (size_t i = 0; i < tracees->notes.count; i++)
		error_free(*(struct error **)vec_at(&tracees->notes, i));
	vec_deinit(&tracees->notes);
	map_deinit(&tracees->threads);
	vec_deinit(&tracees->processes);
	vec_deinit(&tracees->early);
}

struct thread *tracees_thread(const struct tracees *tracees, pid_t tid)
{
	const uint64_t *value = map_get(&tracees->threads, (uint64_t)tid);

	return value ? (struct thread *)(uintptr_t)*value : NULL;
}

struct process *tracees_process(const struct tracees *tracees, pid_t pid)
{
	for (size_t i = 0; i < tracees->processes.count; i++) {
		struct process *process = tracees_process_at(tracees, i);

		if (process->pid == pid)
			return process;
	}
	return NULL;
}

size_t tracees_watched_count(const struct tracees *tracees)
{
	size_t count = 0;

	for (size_t i = 0; i < tracees->processes.count; i++)
		count += tracees_process_at(tracees, i)->role ==
			 PROCESS_WATCHED;
	return count;
}

uint32_t tracees_thread_count(const struct tracees *tracees)
{
	size_t count = 0;

	for (size_t i = 0; i < tracees->processes.count; i++) {
		const struct process *process = tracees_process_at(tracees, i);

		if (process->role == PROCESS_WATCHED)
			count += process->threads.count;
	}
	return (uint32_t)count;
}

/* The thread has just come: how many there are now. */
static void tracees_count_most(struct tracees *tracees, struct process *process)
{
	uint32_t count = (uint32_t)process->threads.count;

	if (count > process->threads_most)
		process->threads_most = count;
	if (process->role == PROCESS_WATCHED &&
	    count > tracees->stats->threads_most)
		tracees->stats->threads_most = count;
}

struct error *tracees_add_thread(struct tracees *tracees,
				 struct process *process, pid_t tid,
				 struct thread **ret)
{
	struct thread *thread;
	struct error *err;

	err = thread_create(process, tid, &thread);
	if (err)
		return err;
	if (!map_set(&tracees->threads, (uint64_t)tid,
		     (uint64_t)(uintptr_t)thread)) {
		thread_unlist(thread);
		free(thread);
		return error_nomem;
	}
	tracees_count_most(tracees, process);
	*ret = thread;
	return NULL;
}

bool tracees_take_early(struct tracees *tracees, struct stop_reason *ret)
{
	if (tracees->early.count == 0)
		return false;
	*ret = *(struct stop_reason *)vec_at(&tracees->early, 0);
	vec_remove(&tracees->early, 0);
	return true;
}

void tracees_note(struct tracees *tracees, struct error *err)
{
	if (!err || err == error_gone ||
	    tracees->notes.count >= TRACEES_NOTES_MAX ||
	    !vec_push(&tracees->notes, &err))
		error_free(err);
}

struct error *tracees_take_note(struct tracees *tracees)
{
	struct error *err;

	if (tracees->notes.count == 0)
		return NULL;
	err = *(struct error **)vec_at(&tracees->notes, 0);
	vec_remove(&tracees->notes, 0);
	return err;
}

void tracees_told_shared(struct tracees *tracees, const void *payload,
			 size_t size)
{
	const struct wire_shared_head *head = payload;
	const struct process *process;

	if (size < sizeof(*head) ||
	    (size - sizeof(*head)) != head->count * sizeof(struct wire_shared))
		return;
	process = tracees_process(tracees, head->pid);
	/* without memory for all of it, less is watched */
	if (process && process->role == PROCESS_WATCHED)
		sharing_set(process->space,
			    (const struct wire_shared *)(head + 1),
			    head->count);
	tracees->watch.scattered_ns = 0;
}

/* The space's number; 0 is that of spaces made by others. */
static void tracees_tag(struct tracees *tracees, struct addrspace *space)
{
	if (++tracees->last_tag == 0)
		tracees->last_tag = 1;
	space->tag = tracees->last_tag;
}

struct error *tracees_make_space(struct tracees *tracees, pid_t pid,
				 struct addrspace **ret)
{
	struct addrspace *space;
	struct error *err = addrspace_create(pid, &space);

	if (err)
		return err;
	err = addrspace_protect(space, tracees->guardian);
	if (err) {
		addrspace_release(space);
		return err;
	}
	space->text->program = tracees->programs++;
	if (tracees->execpoints.watch)
		space->text->execpoints = &tracees->execpoints;
	tracees_tag(tracees, space);
	*ret = space;
	return NULL;
}

struct error *tracees_fork_space(struct tracees *tracees,
				 const struct process *child,
				 struct addrspace **ret)
{
	struct addrspace *space;
	struct error *err = addrspace_fork(child->space, child->pid,
					   child->copied_ns, &space);

	if (err)
		return err;
	err = addrspace_protect(space, tracees->guardian);
	if (err) {
		error_free(breakpoint_clean_copy(space, &space->memory,
						 child->pid, child->copied_ns));
		addrspace_release(space);
		return err;
	}
	tracees_tag(tracees, space);
	*ret = space;
	return NULL;
}

struct error *tracees_share_space(struct tracees *tracees,
				  const struct addrspace *sibling, pid_t pid,
				  struct addrspace **ret)
{
	struct addrspace *space;
	struct error *err = addrspace_join(sibling, pid, &space);

	if (err)
		return err;
	err = addrspace_protect(space, tracees->guardian);
	if (err) {
		addrspace_release(space);
		return err;
	}
	tracees_tag(tracees, space);
	*ret = space;
	return NULL;
}
