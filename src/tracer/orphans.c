/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Letting threads go of which there is no record; see orphans.h.
 */
#include "tracer/orphans.h"

#include "base/error.h"
#include "sys/trace.h"
#include "sys/wait.h"
#include "tracee/breakpoint.h"
#include "tracee/copy.h"
#include "tracer/core.h"

void orphans_init(struct orphans *orphans, struct core *core)
{
	*orphans = (struct orphans){
		.core = core,
		.stops = VEC_INIT(struct stop_reason),
	};
}

void orphans_deinit(struct orphans *orphans)
{
	addrspace_release(orphans->last_space);
	vec_deinit(&orphans->stops);
}

void orphans_detach(struct orphans *orphans, const struct stop_reason *stop)
{
	int signal = stop->kind == STOP_SIGNAL ? stop->signal : 0;
	struct error *err = trace_detach(stop->tid, signal);

	if (err && err != error_gone) {
		error_free(trace_continue(stop->tid, signal));
		orphans->core->tracees.stuck = true;
	}
	core_note(orphans->core, err);
}

static void orphans_clean(struct orphans *orphans, struct addrspace *space,
			  pid_t tid)
{
	struct copy copy;

	copy_open(&copy, tid, tid, space, 0);
	core_note(orphans->core,
		  breakpoint_clean_copy(space, &copy.memory, tid, 0));
	core_note(orphans->core, copy_close(&copy));
}

void orphans_let_go(struct orphans *orphans, struct addrspace *space,
		    const struct stop_reason *stop)
{
	orphans_clean(orphans, space, stop->tid);
	orphans_detach(orphans, stop);
}

void orphans_leave_all(struct orphans *orphans)
{
	if (orphans->stops.count > 0)
		orphans->left = true;
	while (orphans->stops.count > 0) {
		size_t last = orphans->stops.count - 1;
		struct stop_reason stop =
			*(struct stop_reason *)vec_at(&orphans->stops, last);

		vec_remove_swap(&orphans->stops, last);
		for (size_t i = 0; i < orphans->core->tracees.processes.count;
		     i++)
			orphans_clean(
				orphans,
				tracees_process_at(&orphans->core->tracees, i)
					->space,
				stop.tid);
		if (orphans->last_space)
			orphans_clean(orphans, orphans->last_space, stop.tid);
		orphans_detach(orphans, &stop);
	}
}
