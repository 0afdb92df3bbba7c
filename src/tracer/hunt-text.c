/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * INT3s of a hunt; see hunt-text.h.
 */
#include "tracer/hunt-text.h"

#include "tracee/breakpoint.h"
#include "tracee/process.h"
#include "tracee/writer.h"
#include "tracer/arm.h"
#include "tracer/engine.h"
#include "tracer/hunt.h"

bool hunt_text_has(const struct engine *engine, const struct wire_site *site)
{
	const struct hunt *hunt = &engine->hunt;

	for (size_t i = 0; i < hunt->targets.count; i++) {
		const struct hunt_target *target =
			*(struct hunt_target **)vec_at(&hunt->targets, i);

		if (target->stands && wire_site_is(&target->wire.site, site))
			return true;
	}
	for (size_t i = 0; i < hunt->partner_count; i++) {
		if (hunt->partners[i].stands &&
		    wire_site_is(&hunt->partners[i].site, site))
			return true;
	}
	return false;
}

bool hunt_text_stand(struct engine *engine, const struct wire_site *site)
{
	return hunt_text_has(engine, site) ||
	       arm_standing(engine, site) == WIRE_FIRED;
}

/* Wherever it was set. */
void hunt_text_leave(struct engine *engine, const struct wire_site *site)
{
	if (hunt_text_has(engine, site))
		return;
	for (size_t i = 0; i < engine->core.tracees.processes.count; i++) {
		const struct process *process =
			tracees_process_at(&engine->core.tracees, i);
		struct breakpoint *breakpoint;

		if (process->role != PROCESS_WATCHED ||
		    process->space->text->program != site->program)
			continue;
		breakpoint = breakpoint_find(process->space, site->address);
		if (!breakpoint)
			return;
		/* who is on its way over it would set it again */
		breakpoint->policy = BREAKPOINT_ONE_SHOT;
		writer_begin(&engine->core.tracees, process->space);
		core_note(&engine->core,
			  breakpoint_lift(process->space, 0, breakpoint));
		writer_end(process->space);
		return;
	}
}
