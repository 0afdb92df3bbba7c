/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Provoking the sides of a hunt; see hunt.h.
 */
#include "tracer/hunt.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/log.h"
#include "schedule/queue.h"
#include "sys/perfwatch.h"
#include "sys/remote.h"
#include "sys/trace.h"
#include "tracee/breakpoint.h"
#include "tracee/sigstate.h"
#include "tracee/thread.h"
#include "tracer/announce.h"
#include "tracer/engine.h"
#include "tracer/hunt-count.h"
#include "tracer/hunt-loader.h"
#include "tracer/hunt-meet.h"
#include "tracer/hunt-registers.h"
#include "tracer/hunt-text.h"
#include "tracer/hunt-waits.h"
#include "tracer/stall.h"
#include "tracer/startup.h"

void hunt_init(struct hunt *hunt)
{
	*hunt = (struct hunt){
		.targets = VEC_INIT(struct hunt_target *),
		.entries = VEC_INIT(struct hunt_entry),
		.loaders = VEC_INIT(struct hunt_loader),
	};
}

static struct hunt_target *hunt_target_at(const struct hunt *hunt, size_t i)
{
	return *(struct hunt_target **)vec_at(&hunt->targets, i);
}

static void hunt_target_free(struct hunt_target *target)
{
	vec_deinit(&target->counts);
	vec_deinit(&target->waits);
	vec_deinit(&target->met);
	free(target);
}

static void hunt_remove(struct hunt *hunt, size_t i)
{
	hunt_target_free(hunt_target_at(hunt, i));
	vec_remove(&hunt->targets, i);
}

void hunt_deinit(struct hunt *hunt)
{
	for (size_t i = 0; i < hunt->targets.count; i++)
		hunt_target_free(hunt_target_at(hunt, i));
	vec_deinit(&hunt->targets);
	vec_deinit(&hunt->entries);
	vec_deinit(&hunt->loaders);
}

/* However it was, and whether that was told or not. */
static bool hunt_is_over(const struct hunt_target *target)
{
	return target->state == HUNT_OVER || target->state == HUNT_TOLD;
}

/* Nothing waits for it any more. */
static void hunt_disarm(struct engine *engine, struct hunt_target *target)
{
	bool stood = target->stands;

	hunt_unclaim(engine, target);
	target->stands = false;
	if (stood)
		hunt_text_leave(engine, &target->wire.site);
}

/*
 * Others had a register: what a thread did then was not seen. Or there was no
 * memory to count it.
 */
static bool hunt_was_blind(const struct engine *engine,
			   const struct hunt_target *target,
			   enum wire_hunt_end end)
{
	return end != WIRE_HUNT_MET &&
	       (target->state == HUNT_COUNTING || target->state == HUNT_NEAR ||
		target->state == HUNT_HELD) &&
	       (target->uncounted ||
		engine->core.tracees.watch.refused != target->refused);
}

static void hunt_over(struct engine *engine, struct hunt_target *target,
		      enum wire_hunt_end end)
{
	if (hunt_was_blind(engine, target, end))
		end = WIRE_HUNT_UNTRIED;
	hunt_disarm(engine, target);
	if (engine->hunt.focus == target) {
		hunt_lift_partners(engine);
		engine->hunt.focus = NULL;
	}
	target->state = HUNT_OVER;
	target->news.end = end;
}

/* Has a thread run already whose executions are to be counted? */
static bool hunt_has_begun(const struct engine *engine,
			   const struct hunt_target *target)
{
	for (size_t i = 0; i < engine->core.tracees.processes.count; i++) {
		const struct process *process =
			tracees_process_at(&engine->core.tracees, i);

		if (process->role == PROCESS_WATCHED &&
		    process->space->text->program ==
			    target->wire.site.program &&
		    (target->wire.any ||
		     hunt_has_created(process, &target->place)))
			return true;
	}
	return false;
}

static bool hunt_is_held_up(const struct engine *engine, uint32_t program)
{
	const struct program_text *text = hunt_program(engine, program);

	return text && startup_waits(text);
}

static void hunt_mark_sites(struct wire_hunt *wire)
{
	wire->site.hunt = true;
	for (uint32_t i = 0; i < wire->partner_count; i++)
		wire->partners[i].hunt = true;
}

static struct hunt_target *hunt_find(const struct hunt *hunt,
				     const struct wire_hunt *wire)
{
	for (size_t i = 0; i < hunt->targets.count; i++) {
		struct hunt_target *target = hunt_target_at(hunt, i);

		if (target->wire.side == wire->side &&
		    target->wire.site.program == wire->site.program)
			return target;
	}
	return NULL;
}

/*
 * More is known of it now, or it is elsewhere. One that is held goes on as it is:
 * the watch sees whoever comes.
 */
static void hunt_update(struct engine *engine, struct hunt_target *target,
			const struct wire_hunt *wire)
{
	struct hunt *hunt = &engine->hunt;

	target->updated = false;
	if (target->state == HUNT_HELD || hunt_is_over(target) ||
	    (!target->away && !wire_site_is(&target->wire.site, &wire->site)))
		return;
	if (hunt->focus == target) {
		hunt_lift_partners(engine);
		hunt->focus = NULL;
	}
	target->wire = *wire;
	hunt_mark_sites(&target->wire);
	target->begun &= !target->away;
	target->away = false;
}

/* What has come while a thread was held at a partner. */
static void hunt_catch_up(struct engine *engine)
{
	const struct hunt *hunt = &engine->hunt;

	for (size_t i = 0; !hunt->holds && i < hunt->targets.count; i++) {
		struct hunt_target *target = hunt_target_at(hunt, i);

		if (target->updated)
			hunt_update(engine, target, &target->update);
	}
}

/* Is it there already? */
static bool hunt_updates(struct engine *engine, const struct wire_hunt *wire)
{
	struct hunt_target *target = hunt_find(&engine->hunt, wire);

	if (!target)
		return false;
	if (engine->hunt.focus == target && engine->hunt.holds) {
		target->update = *wire;
		target->updated = true;
	} else {
		hunt_update(engine, target, wire);
	}
	hunt_tick(engine);
	return true;
}

static void hunt_refuse(struct engine *engine, const struct wire_hunt *wire,
			enum wire_hunt_end end)
{
	const struct wire_hunted news = {
		.side = wire->side,
		.end = end,
	};

	channel_send(&engine->core.channel, WIRE_HUNTED, &news, sizeof(news));
}

void hunt_take(struct engine *engine, const void *payload, size_t size)
{
	struct hunt_target *target;
	const struct wire_hunt *wire = payload;

	(void)size;
	if (!engine->hunt.on || hunt_updates(engine, wire))
		return;
	/* else there could be any number of them */
	if (!hunt_program(engine, wire->site.program)) {
		hunt_refuse(engine, wire, WIRE_HUNT_UNREACHED);
		return;
	}
	target = calloc(1, sizeof(*target));
	if (!target || !vec_push(&engine->hunt.targets, &target)) {
		free(target);
		core_note(&engine->core, error_nomem);
		hunt_refuse(engine, wire, WIRE_HUNT_UNTRIED);
		return;
	}
	target->wire = *wire;
	target->place.length = wire->path_length;
	memcpy(target->place.path, wire->path, sizeof(wire->path));
	target->counts = (struct vec)VEC_INIT(struct hunt_count);
	target->waits = (struct vec)VEC_INIT(struct wire_hunt_wait);
	target->met = (struct vec)VEC_INIT(struct hunt_met);
	target->news = (struct wire_hunted){ .side = wire->side };
	target->begun = !hunt_is_held_up(engine, wire->site.program);
	hunt_mark_sites(&target->wire);
	hunt_tick(engine);
}

/* Its partners are armed from now on; those of another are not. */
static void hunt_focus(struct engine *engine, struct hunt_target *target)
{
	struct hunt *hunt = &engine->hunt;

	if (hunt->focus == target)
		return;
	hunt_lift_partners(engine);
	hunt->focus = target;
}

/* Others have the rest: the one that is left is for the held bytes. */
static bool hunt_has_one_register(const struct engine *engine)
{
	return engine->core.tracees.watch.dregs.taken >= DREGS_SLOTS - 1;
}

static bool hunt_is_for_text(const struct engine *engine,
			     const struct hunt_target *target)
{
	return (target->wire.by_text || hunt_has_one_register(engine)) &&
	       target->wire.ordinal <= WIRE_HUNT_TEXT_ORDINAL;
}

/* By what was counted of it, which is nothing as a rule. */
static enum hunt_state hunt_state_of(const struct hunt_target *target)
{
	uint64_t most = 0;

	for (size_t i = 0; i < target->counts.count; i++) {
		const struct hunt_count *count = vec_at(&target->counts, i);

		most = count->executions > most ? count->executions : most;
	}
	return most >= target->wire.ordinal ? HUNT_NEAR : HUNT_COUNTING;
}

static void hunt_arm_target(struct engine *engine, struct hunt_target *target)
{
	bool late = target->begun && hunt_has_begun(engine, target);

	if (target->away)
		return;
	if (late || !hunt_program(engine, target->wire.site.program)) {
		hunt_over(engine, target, WIRE_HUNT_UNTRIED);
		return;
	}
	target->state = hunt_state_of(target);
	target->refused = engine->core.tracees.watch.refused;
	if (hunt_is_for_text(engine, target))
		target->stands = hunt_text_stand(engine, &target->wire.site);
	if (!target->stands && !hunt_claim(engine, target))
		target->state = HUNT_QUEUED;
}

/* As many wait as there may be, in their order. */
static void hunt_arm(struct engine *engine)
{
	const struct hunt *hunt = &engine->hunt;
	int armed = 0;

	for (size_t i = 0; i < hunt->targets.count; i++) {
		const struct hunt_target *target = hunt_target_at(hunt, i);

		armed += target->claimed || target->state == HUNT_HELD;
	}
	for (size_t i = 0; i < hunt->targets.count; i++) {
		struct hunt_target *target = hunt_target_at(hunt, i);

		if (target->state != HUNT_QUEUED ||
		    (armed >= HUNT_ARMED && !hunt_is_for_text(engine, target)))
			continue;
		hunt_arm_target(engine, target);
		armed += target->claimed;
	}
	for (size_t i = 0; i < hunt->targets.count; i++) {
		struct hunt_target *target = hunt_target_at(hunt, i);

		target->begun |=
			!hunt_is_held_up(engine, target->wire.site.program);
	}
}

/* The first of those that are near, unless partners were held enough for it. */
static void hunt_look_ahead(struct engine *engine)
{
	struct hunt *hunt = &engine->hunt;

	for (size_t i = 0; !hunt->focus && i < hunt->targets.count; i++) {
		struct hunt_target *target = hunt_target_at(hunt, i);

		if (target->state == HUNT_NEAR && target->claimed &&
		    target->early < HUNT_EARLY)
			hunt_focus(engine, target);
	}
	if (hunt->focus && !hunt->holds && hunt->focus->state == HUNT_NEAR)
		hunt_arm_partners(engine, false);
}

/* A hold at a partner, before the side was reached, has ended. */
static void hunt_early_over(struct engine *engine, enum wire_outcome outcome,
			    uint64_t held_ns, uint64_t moved_ns)
{
	struct hunt *hunt = &engine->hunt;

	(void)held_ns;
	hunt->holds = false;
	hunt->met |= outcome == WIRE_RACED;
	hunt->moved_ns += moved_ns;
	if (!hunt->focus || hunt->focus->state != HUNT_NEAR)
		return;
	hunt->focus->early_ns += moved_ns;
	if (outcome != WIRE_RACED && ++hunt->focus->early >= HUNT_EARLY) {
		hunt_lift_partners(engine);
		hunt->focus = NULL;
	}
}

static enum wire_hunt_end hunt_end_of(enum wire_outcome outcome)
{
	switch (outcome) {
	case WIRE_RACED:
		return WIRE_HUNT_MET;
	case WIRE_ALONE:
		return WIRE_HUNT_ALONE;
	case WIRE_QUIET:
		return WIRE_HUNT_QUIET;
	case WIRE_ABANDONED:
	case WIRE_PASSED:
	case WIRE_PRIVATE:
		break;
	}
	return WIRE_HUNT_LOST;
}

/* Of the process whose thread is held there. */
static void hunt_look_at_others(struct engine *engine,
				struct hunt_target *target)
{
	const struct thread *held =
		tracees_thread(&engine->core.tracees, engine->hunt.again.tid);

	if (held)
		hunt_waits_take(target, held->process);
}

/* The hold at the side has ended. */
static void hunt_held_over(struct engine *engine, enum wire_outcome outcome,
			   uint64_t held_ns, uint64_t moved_ns)
{
	struct hunt *hunt = &engine->hunt;
	const struct wire_site *site;

	hunt->holds = false;
	hunt->met |= outcome == WIRE_RACED;
	hunt->moved_ns += moved_ns;
	if (!hunt->focus || hunt->focus->state != HUNT_HELD)
		return;
	site = &hunt->focus->wire.site;
	hunt->focus->news.held_ns = held_ns;
	if (outcome == WIRE_ALONE)
		hunt_look_at_others(engine, hunt->focus);
	hunt_over(engine, hunt->focus, hunt_end_of(outcome));
	hunt->again.left = hunt_text_has(engine, site);
}

/* A thread is held: another one has come to this side. */
static void hunt_pass(struct engine *engine, struct hunt_target *target)
{
	target->passed = true;
	if (!target->stands || !target->wire.any)
		hunt_over(engine, target, WIRE_HUNT_UNTRIED);
}

/* It has met a partner that was held; does it wait for others? */
static bool hunt_goes_on(struct engine *engine, struct hunt_target *target)
{
	const struct hunt_met *met = &engine->hunt.early_met;
	bool more = hunt_meet(target, met->after, met->caller) == STALL_STAYS;

	if (more)
		hunt_tell_meeting(engine);
	return more;
}

/* The thread stands before the side itself. */
static void hunt_hold(struct engine *engine, struct hunt_target *target,
		      struct thread *thread, const struct x86_registers *regs)
{
	const struct stall_terms terms = { .length_ns = target->wire.hold_ns,
					   .over = hunt_held_over,
					   .met = hunt_meet_focus,
					   .told = hunt_tell_meeting };
	struct hunt *hunt = &engine->hunt;

	if (hunt->holds && hunt->focus != target) {
		hunt_pass(engine, target);
		return;
	}
	if (hunt->holds &&
	    stall_meet(engine, thread, &target->wire.site, regs) &&
	    !hunt_goes_on(engine, target)) {
		hunt_over(engine, target, WIRE_HUNT_MET);
		return;
	}
	/* that of a partner, which has come for other bytes */
	stalls_end_all(engine);
	hunt_focus(engine, target);
	hunt_unclaim(engine, target);
	target->state = HUNT_HELD;
	hunt->holds = true;
	hunt->again = (struct hunt_again){ thread->tid, regs->rip, false };
	/* while a partner was held, it did not come earlier for that */
	target->news.before_ns = hunt->moved_ns - target->early_ns;
	log_debug(LOG_TARGET, "thread %d is held at side %u", (int)thread->tid,
		  target->wire.side);
	if (!stall_hold(engine, thread, &target->wire.site, regs, &terms)) {
		hunt->holds = false;
		hunt_over(engine, target, WIRE_HUNT_LOST);
		return;
	}
	if (target->state == HUNT_HELD)
		hunt_arm_partners(engine, true);
}

/* Another thread has to come there, or the two cannot meet. */
static bool hunt_is_own(const struct hunt_target *target,
			const struct thread *thread)
{
	return !target->wire.any && thread_is_at(thread, &target->place);
}

/* A thread that came to a partner of the focus. */
static void hunt_partner_came(struct engine *engine, struct thread *thread,
			      const struct wire_site *site,
			      const struct x86_registers *regs)
{
	struct hunt *hunt = &engine->hunt;
	struct stall_terms terms = { .over = hunt_early_over };

	if (hunt->holds) {
		if (!stall_meet(engine, thread, site, regs))
			hunt_partner_elsewhere(engine, site);
		return;
	}
	if (!hunt->focus || hunt->focus->state != HUNT_NEAR ||
	    hunt_is_own(hunt->focus, thread))
		return;
	hunt->holds = true;
	hunt->early_met.after = wire_site_end(site);
	hunt->early_met.caller = hunt_caller(thread, regs);
	terms.length_ns = hunt->focus->wire.hold_ns;
	if (!stall_hold(engine, thread, site, regs, &terms))
		hunt->holds = false;
}

/* Count an execution of the target's; it may be the side. */
static void hunt_target_trap(struct engine *engine, struct hunt_target *target,
			     struct thread *thread,
			     const struct x86_registers *regs)
{
	enum hunt_state before = target->state;

	if (!hunt_is_meant(target, thread, regs))
		return;
	if (hunt_counts(target, thread)) {
		hunt_hold(engine, target, thread, regs);
		return;
	}
	/* from now on, each stop counts as one */
	if (before == HUNT_COUNTING && target->state == HUNT_NEAR &&
	    target->period > 0) {
		hunt_unclaim(engine, target);
		if (!hunt_claim(engine, target))
			hunt_over(engine, target, WIRE_HUNT_UNTRIED);
	}
}

static bool hunt_targets_trap(struct engine *engine, struct thread *thread,
			      const struct x86_registers *regs, uint8_t slots,
			      const uint64_t gens[DREGS_SLOTS])
{
	const struct hunt *hunt = &engine->hunt;

	for (size_t i = 0; i < hunt->targets.count; i++) {
		struct hunt_target *target = hunt_target_at(hunt, i);

		if (!target->claimed ||
		    !watch_claim_traps(&target->claim, slots, gens))
			continue;
		if (regs->rip == target->wire.site.address)
			hunt_target_trap(engine, target, thread, regs);
		return true;
	}
	return false;
}

static bool hunt_partners_trap(struct engine *engine, struct thread *thread,
			       const struct x86_registers *regs, uint8_t slots,
			       const uint64_t gens[DREGS_SLOTS])
{
	struct hunt *hunt = &engine->hunt;

	for (size_t i = 0; i < hunt->partner_count; i++) {
		const struct hunt_partner *partner = &hunt->partners[i];
		struct wire_site site = partner->site;

		if (!partner->claimed ||
		    !watch_claim_traps(&partner->claim, slots, gens))
			continue;
		if (regs->rip == site.address)
			hunt_partner_came(engine, thread, &site, regs);
		return true;
	}
	return false;
}

static bool hunt_entries_trap(struct engine *engine, struct thread *thread,
			      uint8_t slots, const uint64_t gens[DREGS_SLOTS])
{
	struct hunt *hunt = &engine->hunt;

	for (size_t i = 0; i < hunt->entries.count; i++) {
		const struct hunt_entry *entry = vec_at(&hunt->entries, i);

		if (!watch_claim_traps(&entry->claim, slots, gens))
			continue;
		hunt_unclaim_entry(engine, i);
		announce_loaded(&engine->core, &engine->govern,
				thread->process);
		hunt_loader_begin(engine, thread->process);
		startup_enter(&engine->startups, thread);
		return true;
	}
	return false;
}

/* It stands where it was held, and has been counted. */
static bool hunt_is_again(struct hunt *hunt, const struct thread *thread,
			  uint64_t address)
{
	bool is = hunt->again.left && hunt->again.tid == thread->tid;

	if (is)
		hunt->again.left = false;
	return is && hunt->again.address == address;
}

static bool hunt_is_partner(const struct hunt *hunt,
			    const struct wire_site *site)
{
	for (size_t i = 0; i < hunt->partner_count; i++) {
		if (hunt->partners[i].stands &&
		    wire_site_is(&hunt->partners[i].site, site))
			return true;
	}
	return false;
}

/* Count the stop for a side that waits there; true: it is the side. */
static bool hunt_target_hit(struct engine *engine, struct hunt_target *target,
			    const struct thread *thread,
			    const struct x86_registers *regs)
{
	if (hunt_is_meant(target, thread, regs) && hunt_counts(target, thread))
		return true;
	if (++target->stops >= HUNT_STOPS)
		hunt_over(engine, target, WIRE_HUNT_UNTRIED);
	return false;
}

static void hunt_targets_hit(struct engine *engine, struct thread *thread,
			     const struct wire_site *site,
			     const struct x86_registers *regs)
{
	const struct hunt *hunt = &engine->hunt;
	struct hunt_target *due = NULL;

	for (size_t i = 0; i < hunt->targets.count; i++) {
		struct hunt_target *target = hunt_target_at(hunt, i);

		if (!target->stands || target->state == HUNT_HELD ||
		    !wire_site_is(&target->wire.site, site) ||
		    !hunt_target_hit(engine, target, thread, regs))
			continue;
		/* one that had to come at the same time */
		if (due)
			hunt_pass(engine, due);
		due = target;
	}
	if (due)
		hunt_hold(engine, due, thread, regs);
}

void hunt_hit(struct engine *engine, struct thread *thread,
	      const struct wire_site *site, const struct x86_registers *regs)
{
	if (!engine->hunt.on || engine->core.phase != PHASE_WATCHING ||
	    thread->step || thread->process->role != PROCESS_WATCHED ||
	    hunt_is_again(&engine->hunt, thread, site->address) ||
	    hunt_loader_hit(engine, thread, site))
		return;
	if (hunt_is_partner(&engine->hunt, site))
		hunt_partner_came(engine, thread, site, regs);
	if (!thread->hold && thread->state != THREAD_RUNNING)
		hunt_targets_hit(engine, thread, site, regs);
}

bool hunt_trap(struct engine *engine, struct thread *thread, uint8_t slots,
	       const uint64_t gens[DREGS_SLOTS])
{
	struct x86_registers regs;

	if (!engine->hunt.on || engine->core.phase != PHASE_WATCHING ||
	    !thread_ok(thread, trace_registers(thread->tid, &regs)))
		return false;
	return hunt_entries_trap(engine, thread, slots, gens) ||
	       hunt_targets_trap(engine, thread, &regs, slots, gens) ||
	       hunt_partners_trap(engine, thread, &regs, slots, gens);
}

void hunt_exec(struct engine *engine, struct process *process)
{
	uint64_t entry = 0;
	struct error *err;

	if (!engine->hunt.on)
		return;
	/* its mask as it is; the next look may be within pthread_create(3) */
	if (process->threads.count > 0)
		sigstate_refresh(&engine->core.tracees,
				 process_thread(process, 0));
	err = remote_entry(process->pid, &entry);
	if (!err)
		hunt_claim_entry(engine, process->space->text, entry);
	core_note(&engine->core, err);
}

static void hunt_drop_told(struct hunt *hunt, uint32_t program)
{
	for (size_t i = hunt->targets.count; i-- > 0;) {
		const struct hunt_target *target = hunt_target_at(hunt, i);

		if (target->state == HUNT_TOLD &&
		    target->wire.site.program == program)
			hunt_remove(hunt, i);
	}
}

void hunt_leave(struct engine *engine, const struct process *process)
{
	struct hunt *hunt = &engine->hunt;
	const struct program_text *text = process->space ? process->space->text
							 : NULL;

	if (!hunt->on || !text || text->spaces.count > 1 ||
	    process->space->users > 1)
		return;
	for (size_t i = hunt->entries.count; i-- > 0;) {
		const struct hunt_entry *entry = vec_at(&hunt->entries, i);

		if (entry->text == text)
			hunt_unclaim_entry(engine, i);
	}
	hunt_loader_end(engine, text);
	for (size_t i = 0; i < hunt->targets.count; i++) {
		struct hunt_target *target = hunt_target_at(hunt, i);

		if (!hunt_is_over(target) &&
		    target->wire.site.program == text->program)
			hunt_over(engine, target,
				  target->passed ? WIRE_HUNT_UNTRIED
						 : WIRE_HUNT_UNREACHED);
	}
	hunt_drop_told(hunt, text->program);
}

void hunt_unmapped(struct engine *engine, const struct wire_range *range)
{
	struct hunt *hunt = &engine->hunt;

	for (size_t i = 0; i < hunt->targets.count; i++) {
		struct hunt_target *target = hunt_target_at(hunt, i);

		if (!queue_in_range(&target->wire.site, range) ||
		    target->state == HUNT_HELD || hunt_is_over(target))
			continue;
		if (hunt->focus == target) {
			hunt_lift_partners(engine);
			hunt->focus = NULL;
		}
		/* the INT3 is lifted with all that is there */
		target->stands = false;
		hunt_unclaim(engine, target);
		target->period = 0;
		target->state = HUNT_QUEUED;
		target->away = true;
		target->updated = false; /* of what is gone */
	}
}

void hunt_forget(struct engine *engine, const struct thread *thread)
{
	const struct hunt *hunt = &engine->hunt;

	for (size_t i = 0; i < hunt->targets.count; i++) {
		struct hunt_target *target = hunt_target_at(hunt, i);

		for (int s = 0; target->claimed && s < DREGS_SLOTS; s++) {
			uint64_t count = 0;

			if (target->period == 0 || thread->watch.fds[s] < 0 ||
			    thread->watch.generation[s] !=
				    target->claim.generation[s] ||
			    !(target->claim.claim.slots & 1u << s))
				continue;
			error_free(
				perfwatch_count(thread->watch.fds[s], &count));
			if (count > target->news.reached)
				target->news.reached = count;
		}
	}
}

/* The front end may send a side again before it reads what came of it. */
static void hunt_tell(struct engine *engine)
{
	struct hunt *hunt = &engine->hunt;

	for (size_t i = 0; i < hunt->targets.count; i++) {
		struct hunt_target *target = hunt_target_at(hunt, i);

		if (target->state != HUNT_OVER ||
		    !hunt_waits_tell(engine, target) ||
		    !channel_send(&engine->core.channel, WIRE_HUNTED,
				  &target->news, sizeof(target->news)))
			continue;
		channel_hurry(&engine->core.channel);
		target->state = HUNT_TOLD;
		if (!hunt_program(engine, target->wire.site.program))
			hunt_remove(hunt, i--);
	}
}

void hunt_tick(struct engine *engine)
{
	if (!engine->hunt.on || engine->core.phase != PHASE_WATCHING)
		return;
	hunt_loader_tick(engine);
	hunt_catch_up(engine);
	hunt_tell(engine);
	hunt_arm(engine);
	hunt_look_ahead(engine);
	hunt_publish(engine);
}

void hunt_end(struct engine *engine)
{
	struct hunt *hunt = &engine->hunt;

	if (!hunt->on)
		return;
	hunt_lift_partners(engine);
	hunt->focus = NULL;
	while (hunt->entries.count > 0)
		hunt_unclaim_entry(engine, 0);
	for (size_t i = 0; i < hunt->targets.count; i++) {
		struct hunt_target *target = hunt_target_at(hunt, i);

		if (!hunt_is_over(target))
			hunt_over(engine, target,
				  target->state == HUNT_HELD ? WIRE_HUNT_LOST
				  : (target->state == HUNT_QUEUED &&
				     !target->away) ||
						  target->passed
					  ? WIRE_HUNT_UNTRIED
					  : WIRE_HUNT_UNREACHED);
	}
	hunt_tell(engine);
	hunt->on = false;
	hunt->changed = false;
}
