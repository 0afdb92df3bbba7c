/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Setting and lifting breakpoints of the pool; see arm.h.
 */
#include "tracer/arm.h"

#include <string.h>

#include <time.h>

#include "base/clock.h"
#include "base/error.h"
#include "guardian/guardian.h"
#include "schedule/fill.h"
#include "sys/memory.h"
#include "tracee/breakpoint.h"
#include "tracee/parking.h"
#include "tracee/sigstate.h"
#include "tracee/thread.h"
#include "tracee/watch-update.h"
#include "tracee/writer.h"
#include "tracer/engine.h"
#include "tracer/startup.h"

enum { ARM_FULL_NS = 10 * 1000 * 1000 };

/* Does the process run that program, watched? */
static bool arm_runs(const struct process *process, uint32_t program)
{
	return process->role == PROCESS_WATCHED &&
	       process->space->text->program == program;
}

/* The address space of a process that runs the program, or NULL. */
static struct addrspace *arm_space(const struct engine *engine,
				   uint32_t program)
{
	for (size_t i = 0; i < engine->core.tracees.processes.count; i++) {
		const struct process *process =
			tracees_process_at(&engine->core.tracees, i);

		if (arm_runs(process, program))
			return process->space;
	}
	return NULL;
}

/* Lift `most' breakpoints of the program; their sites may be drawn again. */
static void arm_lift_some(struct engine *engine, struct addrspace *space,
			  size_t most)
{
	struct vec ids = VEC_INIT(uint64_t);

	writer_begin(&engine->core.tracees, space);
	core_note(&engine->core,
		  breakpoint_lift_range(space, 0, 0, UINT64_MAX, most, &ids));
	writer_end(space);
	for (size_t i = 0; i < ids.count; i++)
		core_return_site(&engine->core, space->text->program,
				 *(uint64_t *)vec_at(&ids, i), WIRE_LIFTED);
	vec_deinit(&ids);
}

void arm_shrink(struct engine *engine)
{
	size_t armed = core_armed(&engine->core),
	       pool = engine->govern.governor.pool;

	/* a little too many are used up soon; to lift them is work twice */
	if (engine->core.phase != PHASE_WATCHING || armed <= 2 * pool)
		return;
	for (size_t i = 0;
	     i < engine->core.tracees.processes.count && armed > pool; i++) {
		struct process *process =
			tracees_process_at(&engine->core.tracees, i);
		size_t most = armed - pool;
		const struct program_text *text = process->space->text;

		if (process->role != PROCESS_WATCHED)
			continue;
		if (most > text->armed - text->armed_once)
			most = text->armed - text->armed_once;
		arm_lift_some(engine, process->space, most);
		armed -= most;
	}
}

static bool arm_has_fired(const struct engine *engine,
			  const struct wire_site *site)
{
	const struct addrspace *space = arm_space(engine, site->program);
	const struct breakpoint *known =
		space ? breakpoint_find(space, site->address) : NULL;

	return known && known->fired;
}

void arm_queue(struct engine *engine, const struct wire_site *sites,
	       size_t count)
{
	bool few_places = engine->core.tracees.execpoints.watch;

	for (size_t i = 0; i < count; i++) {
		const struct wire_site *site = &sites[i];

		if (!pool_queue(&engine->pool, site,
				arm_has_fired(engine, site), few_places))
			core_return_site(&engine->core, site->program, site->id,
					 WIRE_LIFTED);
	}
}

/* Is its program beginning? */
static bool arm_is_recent(const struct engine *engine,
			  const struct wire_site *site)
{
	const struct addrspace *space = arm_space(engine, site->program);

	return space && startup_is_recent(space->text, clock_now_ns());
}

void arm_fired(struct engine *engine, const struct wire_site *site)
{
	pool_fired(&engine->pool, site, arm_is_recent(engine, site),
		   clock_now_ns());
}

void arm_return_fired(struct engine *engine, const struct wire_site *site,
		      enum pool_hit hit)
{
	bool keeps = engine->core.tracees.execpoints.watch ||
		     hit == POOL_HIT_RESTED;

	if (keeps && engine->core.phase == PHASE_WATCHING &&
	    pool_keep(&engine->pool, site))
		engine->core.stats.hits_rested += hit == POOL_HIT_RESTED;
	else
		core_return_site(&engine->core, site->program, site->id,
				 hit == POOL_HIT_DONE ? WIRE_FIRED
						      : WIRE_MISSED);
}

/*
 * Have all threads that would trap there again and again left? Is it in
 * nobody's handler of SIGTRAP?
 */
static enum wire_returned_why arm_judge(const struct engine *engine,
					const struct wire_site *site,
					bool parked)
{
	enum wire_returned_why why = WIRE_FIRED;

	for (size_t i = 0; i < engine->core.tracees.processes.count; i++) {
		const struct process *process =
			tracees_process_at(&engine->core.tracees, i);

		if (!arm_runs(process, site->program))
			continue;
		if (sigstate_in_handler(process, site))
			return WIRE_REFUSED;
		for (size_t j = 0; parked && j < process->threads.count; j++) {
			if (!thread_has_left(process_thread(process, j),
					     site->address))
				why = WIRE_DEFERRED;
		}
	}
	return why;
}

/* Where writes are refused, a thread is stopped for them. */
static struct error *arm_write(struct engine *engine, struct addrspace *space,
			       const struct wire_site *site, bool *ret_armed)
{
	struct error *err = NULL;

	for (int i = 0; i < 2; i++) {
		writer_begin(&engine->core.tracees, space);
		err = breakpoint_arm(space, site, ret_armed);
		writer_end(space);
		/* that they are refused is known from the first attempt on */
		if (!err || err->kind != ERROR_REFUSED || *ret_armed || i == 1)
			break;
		error_free(err);
	}
	return err;
}

/*
 * Which of two for the same location it is to be: the user's choice goes before
 * any draw, and one that was drawn uniformly before a likely one. The entry of
 * a function is the least: any other hit there shows as much.
 */
static int arm_precedence(const struct wire_site *site)
{
	if (site->id & WIRE_AIMED)
		return 3;
	if (site->id & WIRE_ENTRY)
		return 0;
	return site->id & WIRE_GUIDED ? 1 : 2;
}

/* The site is armed already: it keeps its place, or is replaced. */
static enum wire_returned_why arm_meet(struct engine *engine,
				       struct addrspace *space,
				       struct breakpoint *known,
				       const struct wire_site *site)
{
	/* what is restored when it is lifted are the bytes of the first one */
	if (known->site.insn.length != site->insn.length ||
	    memcmp(known->site.bytes, site->bytes, site->insn.length) != 0)
		return WIRE_REFUSED;
	if (arm_precedence(site) <= arm_precedence(&known->site))
		return WIRE_LIFTED;
	core_return_site(&engine->core, site->program, known->site.id,
			 WIRE_LIFTED);
	breakpoint_replace(space, known, site);
	return WIRE_FIRED;
}

/* Why the site was not armed; WIRE_FIRED: it was. */
static enum wire_returned_why arm_try(struct engine *engine,
				      struct addrspace *space,
				      const struct wire_site *site)
{
	struct breakpoint *known = breakpoint_find(space, site->address);
	enum wire_returned_why why;
	bool armed = false;

	if (known && known->armed)
		return arm_meet(engine, space, known, site);
	why = arm_judge(engine, site, known && known->parked > 0);

	if (why == WIRE_FIRED && space->text->execpoints &&
	    !execpoints_has_room(space->text->execpoints))
		return WIRE_LIFTED;
	if (why == WIRE_FIRED &&
	    !guardian_has_room(engine->core.tracees.guardian)) {
		/* not at once again: the text is full */
		engine->pool.retry_ns = clock_now_ns() + ARM_FULL_NS;
		return WIRE_LIFTED;
	}
	if (why == WIRE_FIRED) {
		core_note(&engine->core,
			  arm_write(engine, space, site, &armed));
		/* text that is not in memory may be there when it has run */
		if (!armed && memory_is_served(&space->memory, site->address,
					       site->insn.length))
			return WIRE_LIFTED;
		why = armed ? WIRE_FIRED : WIRE_REFUSED;
	}
	if (armed) {
		known = breakpoint_find(space, site->address);
		known->armed_ns = clock_now_ns();
		engine->core.stats.arms++;
		if (engine->core.stats.first_armed_ns == 0)
			engine->core.stats.first_armed_ns = known->armed_ns;
	}
	if (why == WIRE_REFUSED)
		engine->core.stats.arms_refused++;
	return why;
}

/* The same, unless nothing can race with any of those that run it. */
static struct addrspace *arm_racing_space(const struct engine *engine,
					  uint32_t program)
{
	for (size_t i = 0; i < engine->core.tracees.processes.count; i++) {
		const struct process *process =
			tracees_process_at(&engine->core.tracees, i);

		if (arm_runs(process, program) &&
		    core_may_race(&engine->core, process))
			return process->space;
	}
	return NULL;
}

static bool arm_set(struct engine *engine, const struct wire_site *site)
{
	struct addrspace *space = arm_racing_space(engine, site->program);
	enum wire_returned_why why = space ? arm_try(engine, space, site)
					   : WIRE_IDLE;

	if (why == WIRE_FIRED)
		return true;
	core_return_site(&engine->core, site->program, site->id, why);
	return false;
}

static bool arm_may(const struct engine *engine)
{
	if (engine->core.phase != PHASE_WATCHING ||
	    engine->stalls.list.count != 0 || engine->pool.params.rate == 0)
		return false;
	for (size_t i = 0; i < engine->core.tracees.processes.count; i++) {
		const struct process *process =
			tracees_process_at(&engine->core.tracees, i);

		if (process->role == PROCESS_WATCHED &&
		    core_may_race(&engine->core, process))
			return true;
	}
	return false;
}

/* What cannot wait, since a thread waits for it: young threads are looked at. */
static void arm_hurry(struct engine *engine, const struct wire_site *site)
{
	for (size_t i = 0; i < engine->core.tracees.processes.count; i++) {
		struct process *process =
			tracees_process_at(&engine->core.tracees, i);

		if (arm_runs(process, site->program))
			sigstate_settle_young(&engine->core.tracees, process);
	}
}

/* Is enough known of every process to set breakpoints in any? */
static bool arm_ready(void *context, uint64_t now)
{
	struct engine *engine = context;
	bool little = budget_is_small(&engine->load.budget);
	bool ready = underway_is_over(&engine->underway);

	for (size_t i = 0; i < engine->core.tracees.processes.count; i++) {
		struct process *process =
			tracees_process_at(&engine->core.tracees, i);

		if (process->role == PROCESS_WATCHED &&
		    core_may_race(&engine->core, process))
			ready &= sigstate_ready(&engine->core.tracees, process,
						little, now);
	}
	return ready;
}

enum wire_returned_why arm_standing(struct engine *engine,
				    const struct wire_site *site)
{
	struct addrspace *space =
		site->record || site->hunt
			? arm_space(engine, site->program)
			: arm_racing_space(engine, site->program);
	const struct breakpoint *known;
	enum wire_returned_why why;

	if (!space)
		return WIRE_IDLE;
	/* it is set, but for the moment */
	known = breakpoint_find(space, site->address);
	if (known && known->passing > 0 && known->site.record)
		return WIRE_FIRED;
	/* what is set already changes nothing of the program */
	if (!known || !known->armed) {
		if (site->record || site->hunt)
			arm_hurry(engine, site);
		if (!arm_ready(engine, clock_now_ns()))
			return WIRE_DEFERRED;
	}
	why = arm_try(engine, space, site);
	if (why == WIRE_FIRED)
		breakpoint_find(space, site->address)->policy =
			BREAKPOINT_PERSISTENT;
	return why;
}

/* Breakpoints of the pool in the program, counted for one of its processes. */
static size_t arm_share(const struct process *process)
{
	const struct program_text *text = process->space->text;

	return process->role == PROCESS_WATCHED && core_counts_text(process)
		       ? text->armed - text->armed_once
		       : 0;
}

static void arm_lift(void *context, size_t count)
{
	struct engine *engine = context;
	size_t armed = core_armed(&engine->core);

	for (size_t i = 0;
	     i < engine->core.tracees.processes.count && armed > 0; i++) {
		struct process *process =
			tracees_process_at(&engine->core.tracees, i);
		size_t share = arm_share(process);

		if (share > 0)
			arm_lift_some(engine, process->space,
				      (share * count + armed - 1) / armed);
	}
}

/* Locations that were not reached in their time make room for others. */
static void arm_rotate(void *context, uint64_t now)
{
	struct engine *engine = context;
	const struct execpoint *point;

	execpoints_set_rate(&engine->core.tracees.execpoints,
			    (uint32_t)pool_rate(&engine->pool));
	while ((point = execpoints_due(&engine->core.tracees.execpoints,
				       now))) {
		const struct program_text *text = point->text;
		struct addrspace *space =
			*(struct addrspace **)vec_at(&text->spaces, 0);
		struct breakpoint *breakpoint =
			breakpoint_find(space, point->address);

		core_note(&engine->core, breakpoint_lift(space, 0, breakpoint));
		core_return_site(&engine->core, text->program,
				 breakpoint->site.id, WIRE_LIFTED);
	}
}

static bool arm_site(void *context, const struct wire_site *site)
{
	return arm_set(context, site);
}

static void arm_give_back(void *context, const struct wire_site *site)
{
	struct engine *engine = context;

	core_return_site(&engine->core, site->program, site->id, WIRE_LIFTED);
}

static void arm_count(void *context, size_t *ret_armed, size_t *ret_once)
{
	const struct engine *engine = context;

	*ret_armed = core_armed(&engine->core);
	*ret_once = core_armed_once(&engine->core);
}

static uint64_t arm_cpu_ns(void *context)
{
	(void)context;
	return clock_process_cpu_ns();
}

static const struct fill_ops arm_ops = {
	.ready = arm_ready,
	.arm = arm_site,
	.lift = arm_lift,
	.rotate = arm_rotate,
	.give_back = arm_give_back,
	.count = arm_count,
	.cpu_ns = arm_cpu_ns,
};

static struct fill arm_state(struct engine *engine, uint64_t now)
{
	bool untouched = engine->core.tracees.execpoints.watch;

	return (struct fill){
		.pool = &engine->pool,
		.ops = &arm_ops,
		.context = engine,
		.now_ns = now,
		.armed = core_armed(&engine->core),
		.armed_once = core_armed_once(&engine->core),
		.threads = tracees_thread_count(&engine->core.tracees),
		.places = untouched ? EXECPOINT_MAX : 0,
		.place_due_ns =
			untouched ? execpoints_next_ns(
					    &engine->core.tracees.execpoints)
				  : UINT64_MAX,
		.begins = engine->startups.waiting > 0,
		.begins_until = startup_all_until(&engine->startups, now),
	};
}

/* Not by the wall clock: to wait for a processor costs nobody anything. */
static uint64_t arm_thread_cpu_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return (uint64_t)now.tv_sec * CLOCK_NS_PER_S + (uint64_t)now.tv_nsec;
}

/* Bring threads into line with the locations in debug registers. */
static void arm_update_places(struct engine *engine)
{
	struct execpoints *execpoints = &engine->core.tracees.execpoints;
	enum execpoints_news news;
	uint64_t begun;

	if (!execpoints->watch || engine->core.phase != PHASE_WATCHING)
		return;
	news = execpoints_resume(execpoints, engine->stalls.list.count > 0);
	if (news == EXECPOINTS_SAME)
		return;
	begun = arm_thread_cpu_ns();
	if (news == EXECPOINTS_SET)
		watch_publish(&engine->core.tracees);
	else
		watch_retire(&engine->core.tracees);
	execpoints->cost_ns = arm_thread_cpu_ns() - begun;
}

bool arm_may_trap(const struct engine *engine)
{
	return engine->core.phase == PHASE_WATCHING &&
	       (engine->pool.params.rate > 0 || core_armed(&engine->core) > 0 ||
		core_armed_once(&engine->core) > 0);
}

void arm_leave_handler(struct engine *engine, const struct thread *thread)
{
	const struct process *process = thread->process;
	const struct vec *breakpoints = &process->space->text->breakpoints;

	for (size_t i = 0; i < breakpoints->count; i++) {
		struct breakpoint *breakpoint =
			*(struct breakpoint **)vec_at(breakpoints, i);

		if (!breakpoint->armed ||
		    !sigstate_in_handler(process, &breakpoint->site))
			continue;
		core_note(&engine->core,
			  breakpoint_lift(process->space, thread->tid,
					  breakpoint));
		core_return_site(&engine->core, breakpoint->site.program,
				 breakpoint->site.id, WIRE_REFUSED);
	}
}

void arm_refill(struct engine *engine, uint64_t now)
{
	if (arm_may(engine)) {
		struct fill fill = arm_state(engine, now);

		fill_run(&fill);
	}
	arm_update_places(engine);
}

uint64_t arm_next_ns(struct engine *engine)
{
	struct fill fill;

	if (!arm_may(engine))
		return UINT64_MAX;
	fill = arm_state(engine, clock_now_ns());
	return fill_next_ns(&fill);
}

void arm_spent(struct engine *engine, uint32_t program)
{
	pool_rearm_spent(&engine->pool, program);
	arm_refill(engine, clock_now_ns());
}

void arm_pair(struct engine *engine, uint64_t id)
{
	struct wire_site site;

	if (pool_take(&engine->pool, id, &site))
		arm_set(engine, &site);
}

/* Is there a process with a copy of the text that is not clean yet? */
static bool arm_is_copied(const struct engine *engine,
			  const struct program_text *text)
{
	const struct tracees *tracees = &engine->core.tracees;

	for (size_t i = 0; i < tracees->processes.count; i++) {
		const struct process *process = tracees_process_at(tracees, i);

		if (process->role == PROCESS_COPY &&
		    process->space->text == text)
			return true;
	}
	return false;
}

void arm_forget(struct engine *engine, const struct wire_range *range)
{
	struct addrspace *space = arm_space(engine, range->program);

	pool_forget(&engine->pool, range);
	if (!space)
		return;
	writer_begin(&engine->core.tracees, space);
	core_note(&engine->core,
		  breakpoint_lift_range(space, 0, range->start, range->end,
					SIZE_MAX, NULL));
	writer_end(space);
	space->text->copied = arm_is_copied(engine, space->text);
	breakpoint_forget_range(space, range->start, range->end);
}

void arm_lift_all(struct engine *engine)
{
	pool_clear(&engine->pool);
	for (size_t i = 0; i < engine->core.tracees.processes.count; i++) {
		struct process *process =
			tracees_process_at(&engine->core.tracees, i);

		writer_begin(&engine->core.tracees, process->space);
		core_note(&engine->core,
			  breakpoint_lift_range(process->space, 0, 0,
						UINT64_MAX, SIZE_MAX, NULL));
		writer_end(process->space);
	}
}
