/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * One process; see process.h.
 */
#include "target/process.h"

#include <stdlib.h>

#include "base/error.h"
#include "target/breakpoint.h"
#include "target/death.h"
#include "target/thread.h"

struct error *process_create(pid_t pid, enum process_role role,
			     struct addrspace *space, struct process **ret)
{
	struct process *process = calloc(1, sizeof(*process));

	if (!process)
		return error_nomem;
	process->pid = pid;
	process->role = role;
	process->space = space;
	process->threads = (struct vec)VEC_INIT(struct thread *);
	*ret = process;
	return NULL;
}

void process_destroy(struct process *process)
{
	addrspace_release(process->space);
	vec_deinit(&process->threads);
	death_forget(process);
	free(process);
}
