/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The first threads of a program; see onset.h.
 */
#include "tracer/onset.h"

#include <stdlib.h>

#include "base/clock.h"
#include "base/log.h"
#include "schedule/lengths.h"
#include "tracee/breakpoint.h"
#include "tracee/process.h"
#include "tracee/sigstate.h"
#include "tracee/thread.h"
#include "tracer/engine.h"
#include "wire/message.h"

/* Threads have set up what they share after so long, as a rule. */
static const uint64_t ONSET_RECENT_NS = 100 * CLOCK_NS_PER_MS;

/* A thread comes round a short loop in that time, with some stops on its way. */
static const uint64_t ONSET_PATIENCE_NS = 120 * CLOCK_NS_PER_US;

/* One program in so many has patience. */
enum { ONSET_PATIENT_PART = 4 };

/* Threads for which what has run is armed again; each of them costs stops. */
enum { ONSET_BIRTHS_MAX = 4 };

struct onset *onset_of(struct program_text *text)
{
	struct onset *onset = text->onset;

	if (onset)
		return onset;
	onset = calloc(1, sizeof(*onset));
	if (onset)
		onset->creator.in_creation = onset->newborn.in_creation = true;
	text->onset = onset;
	return onset;
}

/* NULL: nothing is known of it. */
static struct onset *onset_known(const struct process *process)
{
	return process->space->text->onset;
}

/* Is what has run to be armed again, for a thread that was born just now? */
static bool onset_takes(const struct engine *engine,
			const struct process *process)
{
	struct onset *onset = onset_known(process);

	if (process->role != PROCESS_WATCHED ||
	    engine->phase != ENGINE_WATCHING ||
	    onset->births == ONSET_BIRTHS_MAX ||
	    !onset_is_recent(process->space->text, clock_now_ns()))
		return false;
	onset->births++;
	onset->born_ns = clock_now_ns();
	return true;
}

bool onset_begin(struct engine *engine, struct thread *creator)
{
	struct process *process = creator->process;
	struct onset *onset = onset_of(process->space->text);
	struct wire_onset message = {
		.program = process->space->text->program,
	};

	if (!onset)
		return false;
	if (onset->had)
		return onset_takes(engine, process);
	if (engine->pool.params.onset_ns == 0 ||
	    engine->phase != ENGINE_WATCHING ||
	    process->role != PROCESS_WATCHED || process->threads.count != 2 ||
	    creator->vforking)
		return false;
	/* nobody would answer */
	if (!channel_send(&engine->channel, WIRE_ONSET, &message,
			  sizeof(message)))
		return false;
	onset->had = true;
	onset->begun_ns = clock_now_ns();
	pool_forget_spent(&engine->pool, message.program);
	onset->maker = creator->tid;
	engine->onsets++;
	hold_begin(&engine->tracees, &onset->creator, creator);
	return false;
}

void onset_newborn(struct engine *engine, struct thread *thread)
{
	struct onset *onset = onset_known(thread->process);

	if (onset && onset->creator.thread && !onset->newborn.thread &&
	    onset->creator.thread->process == thread->process)
		hold_begin(&engine->tracees, &onset->newborn, thread);
}

bool onset_is_recent(const struct program_text *text, uint64_t now)
{
	return text->onset && now < text->onset->recent_ns;
}

uint64_t onset_patience_ns(const struct program_text *text)
{
	return text->onset ? text->onset->patience_ns : 0;
}

uint64_t onset_stall_ns(const struct program_text *text, uint64_t now)
{
	const struct onset *onset = text->onset;

	if (!onset_is_recent(text, now) || onset->births == 0)
		return UINT64_MAX;
	return lengths_young(now > onset->born_ns ? now - onset->born_ns : 0);
}

uint64_t onset_all_until(const struct engine *engine, uint64_t now)
{
	uint64_t until = 0;

	for (size_t i = 0; i < engine->tracees.processes.count; i++) {
		const struct process *process =
			tracees_process_at(&engine->tracees, i);
		const struct onset *onset = onset_known(process);

		if (process->role != PROCESS_WATCHED ||
		    !engine_may_race(engine, process))
			continue;
		if (!onset || now >= onset->recent_ns)
			return 0;
		until = onset->recent_ns > until ? onset->recent_ns : until;
	}
	return until;
}

bool onset_makes(const struct thread *thread, uint64_t now)
{
	const struct onset *onset = onset_known(thread->process);

	return onset && thread->tid == onset->maker && now < onset->recent_ns;
}

/* A process whose program's first threads wait, from there on; or NULL. */
static struct process *onset_next(const struct engine *engine, size_t *i)
{
	while (engine->onsets > 0 && *i < engine->tracees.processes.count) {
		struct process *process =
			tracees_process_at(&engine->tracees, (*i)++);

		if (process->role == PROCESS_WATCHED && onset_known(process) &&
		    onset_known(process)->begun_ns != 0)
			return process;
	}
	return NULL;
}

void onset_sent(struct engine *engine, const void *payload, size_t size)
{
	const struct wire_onset *message = payload;
	struct process *process;

	if (size != sizeof(*message))
		return;
	for (size_t i = 0; (process = onset_next(engine, &i));) {
		if (process->space->text->program == message->program)
			onset_known(process)->sent = true;
	}
}

static void onset_finish(struct engine *engine, struct onset *onset,
			 uint64_t now)
{
	log_debug(LOG_TARGET, "the first threads waited for %.1f ms",
		  (double)(now - onset->begun_ns) / CLOCK_NS_PER_MS);
	engine->load.budget.lost_ns += (double)(now - onset->begun_ns);
	engine->stats.onset_ns += now - onset->begun_ns;
	onset->begun_ns = 0;
	onset->recent_ns = now + ONSET_RECENT_NS;
	onset->patience_ns = rng_below(&engine->rng, ONSET_PATIENT_PART) == 0
				     ? ONSET_PATIENCE_NS
				     : 0;
	/* it sets itself up from now on */
	if (onset->newborn.thread && onset->creator.thread)
		sigstate_newborn(&engine->tracees, onset->newborn.thread,
				 onset->creator.thread);
	hold_release(&engine->tracees, &onset->creator);
	hold_release(&engine->tracees, &onset->newborn);
}

/* When the time of those that wait is over at the latest. */
static uint64_t onset_until_ns(const struct engine *engine,
			       const struct onset *onset)
{
	return onset->begun_ns + engine->pool.params.onset_ns;
}

/* Nothing is kept waiting for its place in the program's text. */
static bool onset_armed(const struct engine *engine,
			const struct process *process)
{
	return onset_known(process)->sent &&
	       !pool_waits_once(&engine->pool, process->space->text->program) &&
	       !provoke_waits(engine, process->space->text->program);
}

void onset_tick(struct engine *engine, uint64_t now)
{
	struct process *process;
	uint32_t waiting = 0;

	for (size_t i = 0; (process = onset_next(engine, &i));) {
		struct onset *onset = onset_known(process);

		if (onset_armed(engine, process) ||
		    now >= onset_until_ns(engine, onset))
			onset_finish(engine, onset, now);
		waiting += onset->begun_ns != 0;
	}
	/* those that have ended with their program wait no more */
	engine->onsets = waiting;
}

uint64_t onset_next_ns(const struct engine *engine)
{
	const struct process *process;
	uint64_t next = UINT64_MAX;

	for (size_t i = 0; (process = onset_next(engine, &i));) {
		uint64_t until = onset_until_ns(engine, onset_known(process));

		next = until < next ? until : next;
	}
	return next;
}

void onset_end(struct engine *engine)
{
	struct process *process;

	for (size_t i = 0; (process = onset_next(engine, &i));) {
		struct onset *onset = onset_known(process);

		onset->begun_ns = 0;
		hold_drop(&onset->creator);
		hold_drop(&onset->newborn);
	}
	engine->onsets = 0;
}
