/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The breakpoints of a hunt; see hunt-registers.h.
 */
#include "tracer/hunt-registers.h"

#include "tracee/breakpoint.h"
#include "tracee/process.h"
#include "tracee/watch-update.h"
#include "tracer/engine.h"
#include "tracer/hunt-text.h"
#include "tracer/hunt.h"
#include "tracer/stall.h"

/* To open an event anew costs as much as some stops. */
static const uint64_t HUNT_PERIOD_MIN = 4;

const struct program_text *hunt_program(const struct engine *engine,
					uint32_t program)
{
	for (size_t i = 0; i < engine->core.tracees.processes.count; i++) {
		const struct process *process =
			tracees_process_at(&engine->core.tracees, i);

		if (process->role == PROCESS_WATCHED &&
		    process->space->text->program == program)
			return process->space->text;
	}
	return NULL;
}

/*
 * The kernel counts up to the execution before the side. One with the stack of
 * another side does not count: then each is looked at.
 */
static uint64_t hunt_period(const struct engine *engine,
			    const struct hunt_target *target)
{
	uint64_t ordinal = target->wire.ordinal;

	return engine->core.tracees.watch.ops == &watch_by_perf &&
			       target->wire.stack_count == 0 &&
			       target->state == HUNT_COUNTING &&
			       target->counts.count == 0 &&
			       ordinal >= HUNT_PERIOD_MIN
		       ? ordinal
		       : 0;
}

/* A slot would be shared, and be for the thread of one of the two only. */
static bool hunt_is_taken(const struct engine *engine, uint64_t address)
{
	const struct hunt *hunt = &engine->hunt;

	for (size_t i = 0; i < hunt->targets.count; i++) {
		const struct hunt_target *target =
			*(struct hunt_target **)vec_at(&hunt->targets, i);

		if (target->claimed && target->wire.site.address == address)
			return true;
	}
	for (size_t i = 0; i < hunt->partner_count; i++) {
		if (hunt->partners[i].claimed &&
		    hunt->partners[i].site.address == address)
			return true;
	}
	return false;
}

bool hunt_claim(struct engine *engine, struct hunt_target *target)
{
	const struct program_text *text =
		hunt_program(engine, target->wire.site.program);
	uint64_t address = target->wire.site.address;

	if (!text || target->claimed || hunt_is_taken(engine, address) ||
	    !watch_claim_execution(&engine->core.tracees.watch, text, address,
				   &target->claim))
		return false;
	target->claimed = engine->hunt.changed = true;
	target->period = hunt_period(engine, target);
	watch_narrow(&engine->core.tracees.watch, &target->claim,
		     target->wire.any ? NULL : &target->place, target->period);
	return true;
}

void hunt_unclaim(struct engine *engine, struct hunt_target *target)
{
	if (!target->claimed)
		return;
	watch_release(&engine->core.tracees.watch, &target->claim);
	target->claimed = false;
	engine->hunt.changed = true;
}

/* A side that waits at the same instruction cannot be counted any more. */
static void hunt_give_way(struct engine *engine, uint64_t address)
{
	struct hunt *hunt = &engine->hunt;

	for (size_t i = 0; i < hunt->targets.count; i++) {
		struct hunt_target *target =
			*(struct hunt_target **)vec_at(&hunt->targets, i);

		if (!target->claimed || target->wire.site.address != address)
			continue;
		hunt_unclaim(engine, target);
		target->state = HUNT_OVER;
		target->news.end = WIRE_HUNT_UNTRIED;
	}
}

/* One register is left for the bytes, until they are watched. */
static bool hunt_has_register(const struct engine *engine)
{
	return dregs_free(&engine->core.tracees.watch.dregs) >
	       !engine->hunt.holds;
}

static void hunt_arm_partner(struct engine *engine,
			     struct hunt_partner *partner, bool by_text)
{
	const struct program_text *text =
		hunt_program(engine, partner->site.program);

	if (!text || partner->claimed || partner->stands ||
	    partner->elsewhere >= HUNT_ELSEWHERE)
		return;
	/* with a register as well, it would stop twice */
	if (hunt_text_has(engine, &partner->site))
		partner->stands = true;
	else if (hunt_has_register(engine) &&
		 watch_claim_execution(&engine->core.tracees.watch, text,
				       partner->site.address, &partner->claim))
		partner->claimed = engine->hunt.changed = true;
	else if (by_text)
		partner->stands = hunt_text_stand(engine, &partner->site);
}

/*
 * While the side is only near, its own instruction keeps its register, which
 * is for its thread alone, though another thread's may be a partner.
 */
void hunt_arm_partners(struct engine *engine, bool by_text)
{
	struct hunt *hunt = &engine->hunt;
	const struct wire_hunt *wire = &hunt->focus->wire;
	size_t count = hunt->focus->state == HUNT_HELD ? wire->partner_count
						       : wire->early_count;

	for (size_t i = 0; i < count; i++) {
		struct hunt_partner *partner = &hunt->partners[i];
		uint64_t address = wire->partners[i].address;

		if (i == hunt->partner_count)
			*partner = (struct hunt_partner){
				.site = wire->partners[hunt->partner_count++],
			};
		if (hunt->focus->claimed && address == wire->site.address)
			continue;
		if (!partner->claimed)
			hunt_give_way(engine, address);
		hunt_arm_partner(engine, partner, by_text);
	}
}

static void hunt_lift_partner(struct engine *engine,
			      struct hunt_partner *partner)
{
	bool stood = partner->stands;

	if (partner->claimed) {
		watch_release(&engine->core.tracees.watch, &partner->claim);
		engine->hunt.changed = true;
	}
	partner->claimed = partner->stands = false;
	if (stood)
		hunt_text_leave(engine, &partner->site);
}

void hunt_lift_partners(struct engine *engine)
{
	struct hunt *hunt = &engine->hunt;

	for (size_t i = 0; i < hunt->partner_count; i++)
		hunt_lift_partner(engine, &hunt->partners[i]);
	hunt->partner_count = 0;
}

void hunt_partner_elsewhere(struct engine *engine, const struct wire_site *site)
{
	struct hunt *hunt = &engine->hunt;

	/* nobody else tells of bytes that are not watched everywhere */
	if (!hunt->focus || hunt->focus->state != HUNT_HELD ||
	    engine->core.tracees.watch.refused != hunt->focus->refused ||
	    !stalls_see_all(engine))
		return;
	for (size_t i = 0; i < hunt->partner_count; i++) {
		struct hunt_partner *partner = &hunt->partners[i];

		if (wire_site_is(&partner->site, site) &&
		    ++partner->elsewhere == HUNT_ELSEWHERE)
			hunt_lift_partner(engine, partner);
	}
}

bool hunt_claim_entry(struct engine *engine, const struct program_text *text,
		      uint64_t address)
{
	struct hunt_entry entry = { .text = text, .address = address };

	if (!watch_claim_execution(&engine->core.tracees.watch, text, address,
				   &entry.claim))
		return false;
	if (vec_push(&engine->hunt.entries, &entry))
		return true;
	watch_release(&engine->core.tracees.watch, &entry.claim);
	return false;
}

void hunt_unclaim_entry(struct engine *engine, size_t i)
{
	const struct hunt_entry *entry = vec_at(&engine->hunt.entries, i);

	watch_release(&engine->core.tracees.watch, &entry->claim);
	vec_remove_swap(&engine->hunt.entries, i);
	engine->hunt.changed = true;
}

void hunt_publish(struct engine *engine)
{
	if (!engine->hunt.changed)
		return;
	engine->hunt.changed = false;
	watch_publish(&engine->core.tracees);
}
