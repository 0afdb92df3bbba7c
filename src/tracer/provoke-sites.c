/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Breakpoints that stay; see provoke-sites.h.
 */
#include "tracer/provoke-sites.h"

#include "base/clock.h"
#include "tracee/breakpoint.h"
#include "tracee/parking.h"
#include "tracee/process.h"
#include "tracee/step.h"
#include "tracee/thread.h"
#include "tracer/arm.h"
#include "tracer/engine.h"
#include "tracer/provoke-list.h"
#include "tracer/provoke.h"

/*
 * For so long a breakpoint is lifted for a thread that is to pass it. Of the
 * threads that are in a trap when the tracer is killed some die: at 50 traps per
 * second it is few (tests/fault/kill-provoke.sh).
 */
static const uint64_t PROVOKE_REARM_NS = 20 * CLOCK_NS_PER_MS;

/* See provoke_sites_free(). */
static bool provoke_sites_wants(const struct engine *engine,
				const struct wire_site *site)
{
	const struct provoke *provoke = &engine->provoke;

	return engine->child || provoke->state != PROVOKE_HOLDING ||
	       provoke_pairs(&provoke->members[0].site, site);
}

void provoke_sites_free(struct engine *engine)
{
	struct provoke *provoke = &engine->provoke;

	for (size_t i = 0; i < provoke->sites.count; i++) {
		const struct wire_site *site = provoke_site(provoke, i);
		struct addrspace *space;
		struct breakpoint *breakpoint;

		if (provoke_sites_wants(engine, site))
			continue;
		breakpoint = provoke_breakpoint(&engine->provoke, site, &space);
		if (breakpoint)
			core_note(&engine->core,
				  breakpoint_lift(space, 0, breakpoint));
	}
}

void provoke_sites_arm(struct engine *engine)
{
	struct provoke *provoke = &engine->provoke;

	provoke->unset = 0;
	provoke->deferred = false;
	provoke->rearm_ns = 0;
	for (size_t i = provoke->sites.count; i-- > 0;) {
		const struct wire_site *site = provoke_site(provoke, i);
		enum wire_returned_why why = WIRE_FIRED;

		if (!provoke_sites_wants(engine, site))
			continue;
		if (!provoke_is_set(&engine->provoke, site))
			why = arm_standing(engine, site);
		provoke->unset += why != WIRE_FIRED;
		/* of nobody who can race with it, a birth will tell */
		provoke->deferred |= why != WIRE_FIRED && why != WIRE_IDLE;
		if (why != WIRE_REFUSED)
			continue;
		core_return_site(&engine->core, site->program, site->id, why);
		vec_remove_swap(&provoke->sites, i);
	}
}

void provoke_sites_pass(struct engine *engine, struct thread *thread,
			struct breakpoint *breakpoint,
			const struct x86_registers *regs)
{
	if (engine->child) {
		step_over_breakpoint(&engine->core.tracees, thread, breakpoint,
				     regs);
		return;
	}
	core_note(&engine->core, breakpoint_lift(thread->process->space,
						 thread->tid, breakpoint));
	thread_park(thread, breakpoint->site.address, regs);
	if (engine->provoke.rearm_ns == 0)
		engine->provoke.rearm_ns = clock_now_ns() + PROVOKE_REARM_NS;
}

bool provoke_sites_returns(const struct engine *engine,
			   const struct breakpoint *breakpoint)
{
	return engine->core.phase == PHASE_WATCHING && !engine->child &&
	       breakpoint->site.provoke &&
	       breakpoint->policy == BREAKPOINT_PERSISTENT;
}

void provoke_sites_lift(struct engine *engine, bool for_good)
{
	struct provoke *provoke = &engine->provoke;

	for (size_t i = 0; i < provoke->sites.count; i++) {
		struct addrspace *space;
		struct breakpoint *breakpoint = provoke_breakpoint(
			&engine->provoke, provoke_site(provoke, i), &space);

		if (!breakpoint)
			continue;
		/* who is on its way over it would set it again */
		if (for_good)
			breakpoint->policy = BREAKPOINT_ONE_SHOT;
		core_note(&engine->core, breakpoint_lift(space, 0, breakpoint));
	}
	provoke->unset = provoke->sites.count;
}
