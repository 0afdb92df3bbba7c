/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Letting threads go of which there is no record; see orphans.h.
 */
#include "tracer/orphans.h"

#include "base/error.h"
#include "sys/memory.h"
#include "sys/trace.h"
#include "sys/wait.h"
#include "tracee/breakpoint.h"
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

void orphans_let_go(struct orphans *orphans, struct addrspace *space,
		    const struct stop_reason *stop)
{
	struct memory memory;

	memory_init(&memory, stop->tid);
	core_note(orphans->core,
		  breakpoint_clean_copy(space, &memory, stop->tid, 0));
	memory_deinit(&memory);
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
		struct memory memory;

		vec_remove_swap(&orphans->stops, last);
		memory_init(&memory, stop.tid);
		for (size_t i = 0; i < orphans->core->tracees.processes.count;
		     i++)
			core_note(orphans->core,
				  breakpoint_clean_copy(
					  tracees_process_at(
						  &orphans->core->tracees, i)
						  ->space,
					  &memory, stop.tid, 0));
		if (orphans->last_space)
			core_note(orphans->core,
				  breakpoint_clean_copy(orphans->last_space,
							&memory, stop.tid, 0));
		memory_deinit(&memory);
		orphans_detach(orphans, &stop);
	}
}
