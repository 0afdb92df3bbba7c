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
#include "tracer/engine.h"

void orphans_detach(struct engine *engine, const struct stop_reason *stop)
{
	int signal = stop->kind == STOP_SIGNAL ? stop->signal : 0;
	struct error *err = trace_detach(stop->tid, signal);

	if (err && err != error_gone) {
		error_free(trace_continue(stop->tid, signal));
		engine->core.tracees.stuck = true;
	}
	core_note(&engine->core, err);
}

void orphans_let_go(struct engine *engine, struct addrspace *space,
		    const struct stop_reason *stop)
{
	struct memory memory;

	memory_init(&memory, stop->tid);
	core_note(&engine->core,
		  breakpoint_clean_copy(space, &memory, stop->tid, 0));
	memory_deinit(&memory);
	orphans_detach(engine, stop);
}

void orphans_leave_all(struct engine *engine)
{
	if (engine->orphans.count > 0)
		engine->orphans_left = true;
	while (engine->orphans.count > 0) {
		size_t last = engine->orphans.count - 1;
		struct stop_reason stop =
			*(struct stop_reason *)vec_at(&engine->orphans, last);
		struct memory memory;

		vec_remove_swap(&engine->orphans, last);
		memory_init(&memory, stop.tid);
		for (size_t i = 0; i < engine->core.tracees.processes.count;
		     i++)
			core_note(&engine->core,
				  breakpoint_clean_copy(
					  tracees_process_at(
						  &engine->core.tracees, i)
						  ->space,
					  &memory, stop.tid, 0));
		if (engine->last_space)
			core_note(&engine->core,
				  breakpoint_clean_copy(engine->last_space,
							&memory, stop.tid, 0));
		memory_deinit(&memory);
		orphans_detach(engine, &stop);
	}
}
