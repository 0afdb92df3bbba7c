/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Breakpoints that stay; see provoke-sites.h.
 */
#include "tracer/provoke-sites.h"

#include "base/error.h"
#include "tracee/breakpoint.h"
#include "tracer/arm.h"
#include "tracer/engine.h"
#include "tracer/provoke-list.h"
#include "tracer/provoke.h"

void provoke_sites_arm(struct engine *engine)
{
	struct provoke *provoke = &engine->provoke;

	provoke->unset = 0;
	provoke->deferred = false;
	for (size_t i = provoke->sites.count; i-- > 0;) {
		const struct wire_site *site = provoke_site(provoke, i);
		enum wire_returned_why why = WIRE_FIRED;

		if (!provoke_is_set(engine, site))
			why = arm_standing(engine, site);
		provoke->unset += why != WIRE_FIRED;
		/* of nobody who can race with it, a birth will tell */
		provoke->deferred |= why != WIRE_FIRED && why != WIRE_IDLE;
		if (why != WIRE_REFUSED)
			continue;
		engine_return_site(engine, site->program, site->id, why);
		vec_remove_swap(&provoke->sites, i);
	}
}

void provoke_sites_lift(struct engine *engine, bool for_good)
{
	struct provoke *provoke = &engine->provoke;

	for (size_t i = 0; i < provoke->sites.count; i++) {
		struct addrspace *space;
		struct breakpoint *breakpoint = provoke_breakpoint(
			engine, provoke_site(provoke, i), &space);

		if (!breakpoint)
			continue;
		/* who is on its way over it would set it again */
		if (for_good)
			breakpoint->policy = BREAKPOINT_ONE_SHOT;
		engine_note(engine, breakpoint_lift(space, 0, breakpoint));
	}
	provoke->unset = provoke->sites.count;
}
