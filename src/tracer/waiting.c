/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Threads that wait for others; see waiting.h.
 */
#include "tracer/waiting.h"

#include "base/error.h"
#include "sys/procfs.h"
#include "tracee/process.h"
#include "tracee/thread.h"
#include "tracee/tracees.h"

struct waiting_children {
	const struct tracees *tracees;
	unsigned int traced;
	bool others;
};

static bool waiting_child(pid_t pid, void *data)
{
	struct waiting_children *children = data;
	const struct process *process = tracees_process(children->tracees, pid);

	if (process && process->role != PROCESS_COPY &&
	    process->threads.count > 0)
		children->traced++;
	else
		children->others = true;
	return !children->others;
}

static bool waiting_children_are_traced(const struct tracees *tracees,
					const struct process *process)
{
	struct waiting_children children = { .tracees = tracees };
	struct error *err = NULL;

	for (size_t i = 0;
	     !err && !children.others && i < process->threads.count; i++)
		err = procfs_children(process->pid,
				      process_thread(process, i)->tid,
				      waiting_child, &children);
	if (err) {
		error_free(err);
		return false;
	}
	return !children.others && children.traced > 0;
}

bool waiting_for_traced(const struct tracees *tracees,
			const struct thread *thread)
{
	switch (procfs_awaited(thread->tid)) {
	case PROCFS_NOBODY:
		break;
	case PROCFS_THREADS:
		return true;
	case PROCFS_CHILDREN:
		return waiting_children_are_traced(tracees, thread->process);
	}
	return false;
}
