/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Provocation of one race; see provoke.h.
 */
#include "tracer/provoke.h"

#include <string.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/log.h"
#include "sys/trace.h"
#include "tracee/breakpoint.h"
#include "tracee/resume.h"
#include "tracee/sharing.h"
#include "tracee/thread.h"
#include "tracee/watch-update.h"
#include "tracer/engine.h"
#include "tracer/provoke-list.h"
#include "tracer/provoke-sites.h"
#include "x86/effective.h"

enum {
	/* elements of a string instruction that are stepped through */
	PROVOKE_STEPS = 4096,
	/*
	 * The number of holds of a run without a pause. After each further
	 * hold that was in vain, the program runs free for as long as the hold
	 * took, lest it stops at every turn of a loop.
	 */
	PROVOKE_HOLDS_FREE = 64,
};

/* For this time the second thread is ahead of the first. */
static const uint64_t PROVOKE_AHEAD_NS = 20 * CLOCK_NS_PER_MS;
/* A step that takes longer waits for something: both go on. */
static const uint64_t PROVOKE_STEP_NS = CLOCK_NS_PER_S;
/* Between looks at whether anybody else can run. */
static const uint64_t PROVOKE_LOOK_NS = 2 * CLOCK_NS_PER_MS;

void provoke_init(struct provoke *provoke, struct core *core)
{
	*provoke = (struct provoke){
		.core = core,
		.sites = VEC_INIT(struct wire_site),
	};
}

void provoke_deinit(struct provoke *provoke)
{
	vec_deinit(&provoke->sites);
}

void provoke_begin(struct provoke *provoke, const struct wire_provoke *params)
{
	provoke->params = *params;
	provoke->state = PROVOKE_WAITING;
}

static void provoke_tell(struct engine *engine)
{
	channel_send(&engine->core.channel, WIRE_PROVOKED,
		     &engine->provoke.news, sizeof(engine->provoke.news));
	channel_hurry(&engine->core.channel);
}

static void provoke_count_side(struct engine *engine,
			       const struct wire_site *site)
{
	bool first = false;

	for (int i = 0; i < WIRE_PROVOKE_SIDES; i++) {
		if (site->provoke & wire_side_bit(i))
			first |= engine->provoke.news.reached[i]++ == 0;
	}
	if (first)
		provoke_tell(engine);
}

static struct provoke_member *provoke_member(struct engine *engine, int i)
{
	return &engine->provoke.members[i];
}

/* The other threads have the watch on the member's bytes, as far as it goes. */
static void provoke_watch(struct engine *engine,
			  const struct provoke_member *member)
{
	struct provoke *provoke = &engine->provoke;

	provoke->touched = false;
	provoke->claimed = 0;
	for (int i = 0; i < member->access_count; i++) {
		const struct mem_access *access = &member->accesses[i];
		bool writes = access->kind & ACCESS_WRITE;

		if (watch_claim(&engine->core.tracees.watch,
				member->hold.thread->process->space,
				access->address, access->size,
				writes ? DREGS_READ_WRITE : DREGS_WRITE,
				&provoke->claims[i]))
			provoke->claimed |= 1u << i;
	}
	watch_publish(&engine->core.tracees);
}

static void provoke_unwatch(struct engine *engine)
{
	struct provoke *provoke = &engine->provoke;

	for (int i = 0; i < X86_OPERANDS_MAX; i++) {
		if (provoke->claimed & 1u << i)
			watch_release(&engine->core.tracees.watch,
				      &provoke->claims[i]);
	}
	provoke->claimed = 0;
}

/* The member goes on, over the breakpoint if that is still there. */
static void provoke_let_go(struct engine *engine, struct provoke_member *member)
{
	struct thread *thread = member->hold.thread;
	struct breakpoint *breakpoint;

	if (!thread)
		return;
	hold_drop(&member->hold);
	breakpoint =
		breakpoint_find(thread->process->space, member->site.address);
	if (breakpoint && (breakpoint->armed || breakpoint->passing > 0 ||
			   provoke_sites_returns(engine, breakpoint)))
		provoke_sites_pass(engine, thread, breakpoint, &member->regs);
	thread_resume(&engine->core.tracees, thread);
}

static void provoke_finish(struct engine *engine)
{
	struct provoke *provoke = &engine->provoke;

	provoke->state = PROVOKE_DONE;
	for (int i = 0; i < WIRE_PROVOKE_SIDES; i++)
		provoke_let_go(engine, &provoke->members[i]);
	provoke->news.done = true;
	provoke_tell(engine);
}

static void provoke_hold(struct engine *engine,
			 const struct provoke_member *arrival,
			 struct thread *thread)
{
	struct provoke *provoke = &engine->provoke;
	struct provoke_member *member = &provoke->members[0];

	*member = *arrival;
	hold_begin(&engine->core.tracees, &member->hold, thread);
	provoke->state = PROVOKE_HOLDING;
	provoke->news.holds++;
	provoke->since_ns = clock_now_ns();
	provoke->until_ns = provoke->since_ns + provoke->params.hold_ns;
	provoke->look_ns = provoke->since_ns + PROVOKE_LOOK_NS;
	provoke_watch(engine, member);
	provoke_sites_free(engine);
}

/* Do the two make the two accesses of the pair, of the same bytes? */
static bool provoke_meets(const struct provoke_member *held,
			  const struct provoke_member *arrival,
			  const struct thread *thread)
{
	if (!provoke_pairs(&held->site, &arrival->site))
		return false;
	for (int j = 0; j < arrival->access_count; j++) {
		struct mem_access there = arrival->accesses[j];

		if (!sharing_translate(
			    thread->process->space, there.address, there.size,
			    held->hold.thread->process->space, &there.address))
			continue;
		for (int i = 0; i < held->access_count; i++) {
			if (mem_access_conflict(&held->accesses[i], &there))
				return true;
		}
	}
	return false;
}

static bool provoke_is_of(const struct thread *thread,
			  const struct wire_provoke_side *side)
{
	return side->path_length > 0 &&
	       side->path_length == thread->path_length &&
	       memcmp(side->path, thread->path,
		      side->path_length * sizeof(side->path[0])) == 0;
}

/* Which member makes the access of side a? */
static int provoke_side_a(const struct provoke *provoke)
{
	const struct provoke_member *members = provoke->members;
	const struct wire_provoke_side *sides = provoke->params.sides;
	const struct thread *held = members[0].hold.thread;
	const struct thread *arrival = members[1].hold.thread;

	if (members[0].site.provoke == wire_side_bit(0) ||
	    members[1].site.provoke == wire_side_bit(1))
		return 0;
	if (members[0].site.provoke == wire_side_bit(1) ||
	    members[1].site.provoke == wire_side_bit(0))
		return 1;
	if (provoke_is_of(held, &sides[0]) || provoke_is_of(arrival, &sides[1]))
		return 0;
	return provoke_is_of(arrival, &sides[0]) ||
	       provoke_is_of(held, &sides[1]);
}

static bool provoke_stepped(struct step *step);

/* The member makes its access: one instruction. */
static void provoke_step(struct engine *engine, int i)
{
	struct provoke_member *member = provoke_member(engine, i);
	struct thread *thread = member->hold.thread;

	engine->provoke.until_ns = clock_now_ns() + PROVOKE_STEP_NS;
	member->step.stepped = provoke_stepped;
	member->engine = engine;
	member->steps = PROVOKE_STEPS;
	step_begin(&member->step, thread);
	/* they came during the hold, and would lead it into their handlers */
	step_block_signals(&member->step);
	hold_drop(&member->hold);
	thread_resume(&engine->core.tracees, thread);
}

/*
 * The first has made its access. It stops again before anything else (step.h);
 * provoke_stopped() holds it then.
 */
static void provoke_settle(struct engine *engine, struct thread *thread)
{
	struct provoke *provoke = &engine->provoke;

	provoke->made = true;
	provoke->settling = thread->tid;
	provoke->state = PROVOKE_SETTLING;
	thread->interrupting = thread_must(&engine->core.tracees, thread,
					   trace_interrupt(thread->tid));
}

/* The first has made its access, or died of it: it is the second's turn. */
static void provoke_second(struct engine *engine)
{
	struct provoke *provoke = &engine->provoke;
	int second = 1 - provoke->first;

	if (!provoke->members[second].hold.thread) {
		provoke_finish(engine);
		return;
	}
	provoke->state = PROVOKE_SECOND;
	provoke_step(engine, second);
}

static void provoke_ahead(struct engine *engine)
{
	struct provoke *provoke = &engine->provoke;
	uint64_t now = clock_now_ns();

	provoke->news.met = provoke->made;
	provoke_tell(engine);
	provoke->state = PROVOKE_AHEAD;
	provoke->until_ns = now + PROVOKE_AHEAD_NS;
	provoke->look_ns = now + PROVOKE_LOOK_NS;
}

/* An element of a string instruction leaves the thread where it is. */
static bool provoke_steps_on(struct provoke_member *member)
{
	const struct thread *thread = member->step.thread;
	struct x86_registers regs;
	struct error *err = trace_registers(thread->tid, &regs);
	bool on = !err && regs.rip == member->site.address &&
		  --member->steps > 0;

	error_free(err);
	return on;
}

static bool provoke_stepped(struct step *step)
{
	struct provoke_member *member = (struct provoke_member *)step;
	struct engine *engine = member->engine;

	if (engine->core.phase != PHASE_WATCHING)
		return false;
	if (provoke_steps_on(member))
		return true;
	if (engine->provoke.state == PROVOKE_FIRST) {
		provoke_settle(engine, step->thread);
	} else if (engine->provoke.state == PROVOKE_SECOND) {
		provoke_ahead(engine);
	}
	return false;
}

void provoke_stopped(struct engine *engine, struct thread *thread)
{
	struct provoke *provoke = &engine->provoke;

	if (engine->core.phase != PHASE_WATCHING ||
	    provoke->state != PROVOKE_SETTLING ||
	    thread->tid != provoke->settling)
		return;
	hold_begin(&engine->core.tracees,
		   &provoke->members[provoke->first].hold, thread);
	provoke_second(engine);
}

void provoke_raised(struct engine *engine, const struct thread *thread)
{
	for (int i = 0; i < WIRE_PROVOKE_SIDES; i++) {
		struct provoke_member *member = provoke_member(engine, i);

		member->raised |= member->step.thread == thread;
	}
}

/* An access that kills its thread, and mostly the program, was made too. */
void provoke_ended(struct engine *engine, const struct thread *thread)
{
	struct provoke *provoke = &engine->provoke;

	for (int i = 0; i < WIRE_PROVOKE_SIDES; i++) {
		const struct provoke_member *member = &provoke->members[i];

		if (member->step.thread != thread || !member->raised)
			continue;
		provoke->made |= i == provoke->first;
		provoke->news.met = provoke->made;
		provoke_tell(engine);
	}
}

/* Both are there: from now on nobody else is stopped. */
static void provoke_meet(struct engine *engine,
			 const struct provoke_member *arrival,
			 struct thread *thread)
{
	struct provoke *provoke = &engine->provoke;
	int side_a;

	provoke->members[1] = *arrival;
	hold_begin(&engine->core.tracees, &provoke->members[1].hold, thread);
	provoke_unwatch(engine);
	provoke_sites_lift(engine, true);
	watch_retire(&engine->core.tracees);
	side_a = provoke_side_a(provoke);
	provoke->first = provoke->params.order == WIRE_ORDER_AB ? side_a
								: 1 - side_a;
	log_debug(LOG_TARGET, "threads %d and %d meet after %.1f ms",
		  (int)provoke->members[0].hold.thread->tid, (int)thread->tid,
		  (double)(clock_now_ns() - provoke->since_ns) /
			  CLOCK_NS_PER_MS);
	provoke_tell(engine);
	provoke->state = PROVOKE_FIRST;
	provoke_step(engine, provoke->first);
}

bool provoke_hit(struct engine *engine, struct thread *thread,
		 const struct breakpoint *breakpoint,
		 const struct x86_registers *regs)
{
	struct provoke *provoke = &engine->provoke;
	struct provoke_member arrival = { .site = breakpoint->site,
					  .regs = *regs };

	if (engine->core.phase != PHASE_WATCHING ||
	    thread->process->role != PROCESS_WATCHED || thread->step ||
	    (provoke->state != PROVOKE_WAITING &&
	     provoke->state != PROVOKE_HOLDING))
		return false;
	provoke_count_side(engine, &breakpoint->site);
	arrival.access_count = effective_accesses(&breakpoint->site.insn, regs,
						  arrival.accesses);
	if (provoke->state == PROVOKE_WAITING) {
		/* in a pause, one may have been on its way */
		if (provoke->until_ns != 0)
			return false;
		provoke_hold(engine, &arrival, thread);
		return true;
	}
	if (!provoke_meets(&provoke->members[0], &arrival, thread))
		return false;
	provoke_meet(engine, &arrival, thread);
	return true;
}

bool provoke_trap(struct engine *engine, uint8_t slots,
		  const uint64_t gens[DREGS_SLOTS])
{
	struct provoke *provoke = &engine->provoke;
	bool ours = false;

	for (int i = 0; i < X86_OPERANDS_MAX; i++)
		ours |= (provoke->claimed & 1u << i) &&
			watch_claim_traps(&provoke->claims[i], slots, gens);
	if (!ours)
		return false;
	provoke->touched = true;
	engine->core.stats.watch_traps++;
	/* once is enough to know, and others may do it all the time */
	provoke_unwatch(engine);
	watch_retire(&engine->core.tracees);
	return true;
}

/* Was the other access, by whatever instruction, to go first? */
static bool provoke_is_second(const struct provoke *provoke)
{
	uint8_t own = provoke->members[0].site.provoke;
	int second = provoke->params.order == WIRE_ORDER_AB ? 1 : 0;

	return own & wire_side_bit(second);
}

/* The hold ends without the other; alone: since nobody else can run. */
static void provoke_give_up(struct engine *engine, bool alone)
{
	struct provoke *provoke = &engine->provoke;
	uint64_t now = clock_now_ns();

	provoke_unwatch(engine);
	if (provoke->touched && provoke->params.by_watch &&
	    provoke_is_second(provoke)) {
		provoke->news.met = provoke->news.by_watch = true;
		provoke_sites_lift(engine, true);
		provoke_finish(engine);
		watch_retire(&engine->core.tracees);
		return;
	}
	provoke->state = PROVOKE_WAITING;
	provoke->until_ns = 0;
	if (!alone && provoke->news.holds >= PROVOKE_HOLDS_FREE) {
		provoke->until_ns = now + (now - provoke->since_ns);
		provoke_sites_lift(engine, false);
	}
	provoke_let_go(engine, &provoke->members[0]);
	watch_retire(&engine->core.tracees);
}

bool provoke_lose(struct engine *engine, const struct hold *hold)
{
	struct provoke *provoke = &engine->provoke;

	if (hold != &provoke->members[0].hold &&
	    hold != &provoke->members[1].hold)
		return false;
	if (provoke->state == PROVOKE_HOLDING) {
		provoke_unwatch(engine);
		provoke->state = PROVOKE_WAITING;
		provoke->until_ns = 0;
	}
	return true;
}

/* Does the one that goes on without the held one have nothing to do any more? */
static bool provoke_is_alone(struct engine *engine, uint64_t now)
{
	struct provoke *provoke = &engine->provoke;

	if (now < provoke->look_ns)
		return false;
	provoke->look_ns = now + PROVOKE_LOOK_NS;
	return !stalls_others_run(engine);
}

/* The thread that is stepped may have died, of its access or otherwise. */
static bool provoke_is_lost(const struct provoke *provoke, int i)
{
	return !provoke->members[i].step.thread;
}

static void provoke_tick_state(struct engine *engine, uint64_t now)
{
	struct provoke *provoke = &engine->provoke;
	bool over = provoke->until_ns != 0 && now >= provoke->until_ns;

	switch (provoke->state) {
	case PROVOKE_WAITING:
		if (over)
			provoke->until_ns = 0;
		break;
	case PROVOKE_HOLDING:
		if (over)
			provoke_give_up(engine, false);
		else if (provoke_is_alone(engine, now))
			provoke_give_up(engine, true);
		break;
	case PROVOKE_FIRST:
		if (over || (provoke_is_lost(provoke, provoke->first) &&
			     !provoke->made))
			provoke_finish(engine);
		else if (provoke_is_lost(provoke, provoke->first))
			provoke_second(engine);
		break;
	case PROVOKE_SETTLING:
		if (over)
			provoke_finish(engine);
		else if (!tracees_thread(&engine->core.tracees,
					 provoke->settling))
			provoke_second(engine);
		break;
	case PROVOKE_SECOND:
		if (over || provoke_is_lost(provoke, 1 - provoke->first))
			provoke_finish(engine);
		break;
	case PROVOKE_AHEAD:
		if (over || provoke_is_alone(engine, now))
			provoke_finish(engine);
		break;
	case PROVOKE_OFF:
	case PROVOKE_DONE:
		break;
	}
}

/* Are the sites to be armed? Not when the two are there, nor in a pause. */
static bool provoke_arms(const struct provoke *provoke)
{
	return provoke->state == PROVOKE_HOLDING ||
	       (provoke->state == PROVOKE_WAITING && provoke->until_ns == 0);
}

void provoke_tick(struct engine *engine, uint64_t now)
{
	struct provoke *provoke = &engine->provoke;

	if (engine->core.phase != PHASE_WATCHING ||
	    provoke->state == PROVOKE_OFF || provoke->state == PROVOKE_DONE)
		return;
	provoke_tick_state(engine, now);
	if (provoke_arms(provoke) && now >= provoke->rearm_ns)
		provoke_sites_arm(engine);
}

/* What is looked at now and then, since the step's end is told otherwise. */
static uint64_t provoke_look_next(const struct provoke *provoke)
{
	switch (provoke->state) {
	case PROVOKE_FIRST:
	case PROVOKE_SETTLING:
	case PROVOKE_SECOND:
		return clock_now_ns() + PROVOKE_LOOK_NS;
	case PROVOKE_HOLDING:
	case PROVOKE_AHEAD:
		return provoke->look_ns;
	case PROVOKE_OFF:
	case PROVOKE_WAITING:
	case PROVOKE_DONE:
		break;
	}
	return UINT64_MAX;
}

uint64_t provoke_next_ns(const struct engine *engine)
{
	const struct provoke *provoke = &engine->provoke;
	uint64_t next = provoke_look_next(provoke);

	if (engine->core.phase != PHASE_WATCHING ||
	    provoke->state == PROVOKE_OFF || provoke->state == PROVOKE_DONE)
		return UINT64_MAX;
	if (provoke->until_ns != 0 && provoke->until_ns < next)
		next = provoke->until_ns;
	if (provoke_arms(provoke) && provoke->rearm_ns != 0 &&
	    provoke->rearm_ns < next)
		next = provoke->rearm_ns;
	if (provoke->deferred && clock_now_ns() + CLOCK_NS_PER_MS < next)
		next = clock_now_ns() + CLOCK_NS_PER_MS;
	return next;
}

void provoke_end(struct engine *engine)
{
	struct provoke *provoke = &engine->provoke;

	if (provoke->state == PROVOKE_OFF)
		return;
	provoke_unwatch(engine);
	provoke->state = PROVOKE_DONE;
	for (int i = 0; i < WIRE_PROVOKE_SIDES; i++)
		hold_drop(&provoke->members[i].hold);
}
