/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * One process; see process.h.
 */
#include "tracee/process.h"

#include <stdlib.h>
#include <unistd.h>

#include "base/error.h"
#include "tracee/breakpoint.h"
#include "tracee/thread.h"

/* A process that runs for less than this part of the mean hardly runs. */
enum { PROCESS_QUIET_PART = 8 };

struct error *process_create(pid_t pid, enum process_role role,
			     struct addrspace *space, struct process **ret)
{
	struct process *process = calloc(1, sizeof(*process));

	if (!process)
		return error_nomem;
	process->pid = pid;
	process->role = role;
	process->space = space;
	process->calls_file = -1;
	process->threads = (struct vec)VEC_INIT(struct thread *);
	*ret = process;
	return NULL;
}

void process_destroy(struct process *process)
{
	addrspace_release(process->space);
	vec_deinit(&process->threads);
	if (process->calls_file >= 0)
		close(process->calls_file);
	free(process);
}

static struct process *process_of(const struct vec *processes, size_t i)
{
	return *(struct process **)vec_at(processes, i);
}

void processes_find_quiet(const struct vec *processes)
{
	uint64_t sum = 0, count = 0, least;

	for (size_t i = 0; i < processes->count; i++) {
		struct process *process = process_of(processes, i);

		if (process->role != PROCESS_WATCHED ||
		    process->cpu_then_ns == 0)
			continue;
		process->ran_ns = process->cpu_ns - process->cpu_then_ns;
		sum += process->ran_ns;
		count++;
	}
	least = count > 0 ? sum / count / PROCESS_QUIET_PART : 0;
	for (size_t i = 0; i < processes->count; i++) {
		struct process *process = process_of(processes, i);

		if (process->role != PROCESS_WATCHED)
			continue;
		process->space->quiet = process->cpu_then_ns != 0 &&
					process->ran_ns < least;
		process->cpu_then_ns = process->cpu_ns;
	}
}
