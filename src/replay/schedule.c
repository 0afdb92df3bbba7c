/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Two threads run by the steps of a schedule; see schedule-parts.h.
 */
#include "replay/schedule-parts.h"

#include <string.h>

#include "base/clock.h"
#include "base/error.h"
#include "replay/orders.h"
#include "replay/processor-parts.h"

enum {
	/* how often threads may wait for each other */
	SCHEDULE_TURNS = 64,
	/* of CPU time, before it is asked whether a thread waits in a loop */
	SCHEDULE_SPIN_NS = 2 * CLOCK_NS_PER_MS,
};

/* The bytes that a split instruction has yet to store. */
struct pending {
	bool set;
	uint8_t bytes[X86_ACCESS_MAX];
};

struct schedule {
	struct processor *processor;
	struct replay_outcome *ret;
	uint64_t until_cpu_ns[REPLAY_THREADS];
	bool begun[REPLAY_THREADS], ended[REPLAY_THREADS];
	struct pending pending[REPLAY_THREADS];
	unsigned int turns;
	bool failed; /* nothing more is run */
};

bool orders_can_split(const struct processor *processor, int thread)
{
	const struct thread_access *access = &processor->accesses[thread];
	uint64_t page = replay_page_of(access->update.address);

	if (access->length > 1)
		return true;
	return access->update.size != 0 &&
	       access->update.address + access->update.size <=
		       page + REPLAY_PAGE;
}

/* The thread was run: what does its stop mean? */
static void schedule_stopped(struct schedule *schedule, int thread)
{
	const struct replay_stop *stop = &schedule->ret->stop;

	schedule->ret->stopped = thread;
	schedule->ret->ends[thread] = *stop;
	schedule->begun[thread] = true;
	if (stop->kind == REPLAY_RETURNED || stop->kind == REPLAY_ARRIVED ||
	    stop->kind == REPLAY_SYSTEM_CALL || stop->kind == REPLAY_UNCAPTURED)
		schedule->ended[thread] = true;
	else if (stop->kind != REPLAY_STEPPED)
		schedule->failed = true;
}

static struct error *schedule_region(struct schedule *schedule, int thread,
				     enum region_extent extent, uint64_t until)
{
	struct error *err = region_run(schedule->processor, thread, extent,
				       until, &schedule->ret->contexts[thread],
				       &schedule->ret->stop);

	if (!err)
		schedule_stopped(schedule, thread);
	return err;
}

static struct error *schedule_instructions(struct schedule *schedule,
					   int thread, unsigned int count)
{
	struct error *err = NULL;

	for (unsigned int i = 0; i < count && !err; i++) {
		if (schedule->ended[thread] || schedule->failed)
			return NULL;
		err = schedule_region(schedule, thread, REGION_INSTRUCTION,
				      schedule->until_cpu_ns[thread]);
		/* without its access there is nothing to compare */
		if (!err && schedule->ret->stop.kind == REPLAY_UNCAPTURED)
			schedule->failed = true;
	}
	return err;
}

/* The memory that the thread updates, as it is now. False: it is not there. */
static bool schedule_read(const struct schedule *schedule, int thread,
			  uint8_t *bytes)
{
	const struct mem_access *update =
		&schedule->processor->accesses[thread].update;

	return processor_read(processor_space(schedule->processor, thread),
			      update->address, bytes, update->size);
}

static struct error *schedule_write(const struct schedule *schedule, int thread,
				    const uint8_t *bytes)
{
	const struct mem_access *update =
		&schedule->processor->accesses[thread].update;

	struct processor *processor = schedule->processor;
	struct error *err = processor_enter(processor, thread);

	if (!err)
		err = scratch_poke(processor_space(processor, thread)->scratch,
				   update->address, bytes, update->size);
	return processor_fail(processor, err);
}

/*
 * The first part of one instruction: it is run as a whole, and what it stored is
 * taken back and kept for later.
 */
static struct error *schedule_split(struct schedule *schedule, int thread)
{
	uint8_t before[X86_ACCESS_MAX];
	struct pending *pending = &schedule->pending[thread];
	struct error *err =
		processor_fail(schedule->processor,
			       processor_enter(schedule->processor, thread));
	bool known = !err && schedule_read(schedule, thread, before);

	if (!err)
		err = schedule_instructions(schedule, thread, 1);
	/* it has stopped at a page that it needs, or the access is another */
	if (err || schedule->failed || schedule->ended[thread] || !known)
		return err;
	pending->set = schedule_read(schedule, thread, pending->bytes);
	return pending->set ? schedule_write(schedule, thread, before) : NULL;
}

static struct error *schedule_load(struct schedule *schedule, int thread)
{
	unsigned int length = schedule->processor->accesses[thread].length;

	if (length > 1)
		return schedule_instructions(schedule, thread, length - 1);
	return schedule_split(schedule, thread);
}

static struct error *schedule_store(struct schedule *schedule, int thread)
{
	struct pending *pending = &schedule->pending[thread];

	if (schedule->processor->accesses[thread].length > 1)
		return schedule_instructions(schedule, thread, 1);
	if (!pending->set)
		return NULL;
	pending->set = false;
	return schedule_write(schedule, thread, pending->bytes);
}

static struct error *schedule_access(struct schedule *schedule, int thread)
{
	unsigned int length = schedule->processor->accesses[thread].length;

	return schedule_instructions(schedule, thread, length > 1 ? length : 1);
}

/* It has run for some time: does it wait in a loop? Else on to the limit. */
static struct error *schedule_on(struct schedule *schedule, int thread,
				 bool *ret_waits)
{
	struct error *err = region_round(schedule->processor, thread,
					 schedule->until_cpu_ns[thread],
					 &schedule->ret->contexts[thread],
					 &schedule->ret->stop, ret_waits);

	if (err)
		return err;
	if (*ret_waits)
		schedule->ret->stop =
			(struct replay_stop){ .kind = REPLAY_LIMIT };
	schedule->failed = false;
	schedule_stopped(schedule, thread);
	if (schedule->failed || schedule->ended[thread])
		return NULL;
	return schedule_region(schedule, thread, REGION_REST,
			       schedule->until_cpu_ns[thread]);
}

/* By the clock of the thread's scratch process. */
static struct error *schedule_cpu(struct processor *processor, int thread,
				  uint64_t *ret_ns)
{
	const struct space *space = processor_space(processor, thread);

	return processor_fail(processor, scratch_cpu(space->scratch, ret_ns));
}

/* To the end of the region, or until the thread waits: *ret_waits. */
static struct error *schedule_go(struct schedule *schedule, int thread,
				 bool *ret_waits)
{
	const struct replay_stop *stop = &schedule->ret->stop;
	uint64_t now = 0;
	struct error *err = schedule_cpu(schedule->processor, thread, &now);

	*ret_waits = false;
	if (!err)
		err = schedule_region(schedule, thread, REGION_REST,
				      now + SCHEDULE_SPIN_NS);
	if (!err && stop->kind == REPLAY_LIMIT)
		err = schedule_on(schedule, thread, ret_waits);
	if (stop->kind == REPLAY_WAITS || stop->kind == REPLAY_YIELDED)
		*ret_waits = true;
	return err;
}

/*
 * The thread waits: the other one is to run. A thread that yields and has nobody
 * to wait for goes on.
 */
static int schedule_turn(struct schedule *schedule, int thread)
{
	bool yields = schedule->ret->stop.kind == REPLAY_YIELDED;
	int other = schedule->ended[!thread] ? thread : !thread;

	if ((other == thread && !yields) || schedule->turns++ == SCHEDULE_TURNS)
		return thread;
	schedule->failed = false;
	schedule->ret->waited |= other != thread;
	return other;
}

/*
 * Need the access not be run by itself before the rest? It must where the next
 * arrival at it is the end, and where it is several instructions.
 */
static bool schedule_is_whole(const struct schedule *schedule, int thread)
{
	const struct processor *processor = schedule->processor;

	return processor->accesses[thread].length <= 1 &&
	       processor->ends[REPLAY_THREADS + thread].address == 0;
}

/*
 * Has the thread not got over its first instruction? It may be there again, in a
 * loop: then its registers are others. Those that a repeated string instruction
 * changes before it is over do not count.
 */
static bool schedule_stands(const struct schedule *schedule, int thread)
{
	const struct x86_registers *start =
		&schedule->processor->starts[thread].regs;
	const struct x86_registers *now = &schedule->ret->contexts[thread].regs;

	if (schedule->ret->stop.rip != start->rip)
		return false;
	for (int i = X86_RAX; i <= X86_R15; i++) {
		if (i != X86_RCX && i != X86_RSI && i != X86_RDI &&
		    now->gpr[i] != start->gpr[i])
			return false;
	}
	return true;
}

/* The region from its start. Without its access there is nothing to compare. */
static struct error *schedule_begin(struct schedule *schedule, int thread,
				    bool *ret_waits)
{
	const struct replay_stop *stop = &schedule->ret->stop;
	struct error *err = schedule_go(schedule, thread, ret_waits);

	if (!err && stop->kind == REPLAY_UNCAPTURED &&
	    schedule_stands(schedule, thread))
		schedule->failed = true;
	return err;
}

static struct error *schedule_rest(struct schedule *schedule, int thread)
{
	struct error *err = NULL;
	int now = thread;

	while (!schedule->ended[thread] && !schedule->failed && !err) {
		bool waits = false;

		bool first = !schedule->begun[now];
		bool whole = schedule_is_whole(schedule, now);

		if (first && !whole)
			err = schedule_access(schedule, now);
		if (first && whole)
			err = schedule_begin(schedule, now, &waits);
		else if (!err && !schedule->failed && !schedule->ended[now])
			err = schedule_go(schedule, now, &waits);
		if (waits)
			now = schedule_turn(schedule, now);
		else
			now = thread;
	}
	return err;
}

static struct error *schedule_step(struct schedule *schedule,
				   const struct replay_step *step)
{
	switch (step->extent) {
	case REPLAY_ACCESS:
		return schedule_access(schedule, step->thread);
	case REPLAY_LOAD:
		return schedule_load(schedule, step->thread);
	case REPLAY_STORE:
		return schedule_store(schedule, step->thread);
	case REPLAY_REST:
	default:
		return schedule_rest(schedule, step->thread);
	}
}

struct error *schedule_run(struct processor *processor,
			   const struct replay_step *steps, size_t count,
			   struct replay_outcome *ret)
{
	struct schedule schedule = { .processor = processor, .ret = ret };
	struct error *err = NULL;

	memset(ret->ends, 0, sizeof(ret->ends));
	ret->waited = false;
	for (int i = 0; i < REPLAY_THREADS && !err; i++) {
		err = schedule_cpu(processor, i, &schedule.until_cpu_ns[i]);
		schedule.until_cpu_ns[i] += processor->instance.limit_ns;
	}
	for (size_t i = 0; i < count && !err && !schedule.failed; i++) {
		if (!schedule.ended[steps[i].thread])
			err = schedule_step(&schedule, &steps[i]);
	}
	ret->complete = !err && !schedule.failed;
	return err;
}
