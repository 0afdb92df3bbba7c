/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The first threads of a program; see startup.h.
 */
#include "tracer/startup.h"

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
static const uint64_t STARTUP_RECENT_NS = 100 * CLOCK_NS_PER_MS;

/* A thread comes round a short loop in that time, with some stops on its way. */
static const uint64_t STARTUP_PATIENCE_NS = 120 * CLOCK_NS_PER_US;

/* One program in this number has patience. */
enum { STARTUP_PATIENT_PART = 4 };

/* Threads for which what has run is armed again; each of them costs stops. */
enum { STARTUP_BIRTHS_MAX = 4 };

struct startup *startup_of(struct program_text *text)
{
	struct startup *startup = text->startup;

	if (startup)
		return startup;
	startup = calloc(1, sizeof(*startup));
	if (startup)
		startup->creator.in_creation = startup->newborn.in_creation =
			true;
	text->startup = startup;
	return startup;
}

/* NULL: nothing is known of it. */
static struct startup *startup_known(const struct process *process)
{
	return process->space->text->startup;
}

/* Is what has run to be armed again, for a thread that was born just now? */
static bool startup_takes(const struct engine *engine,
			  const struct process *process)
{
	struct startup *startup = startup_known(process);

	if (process->role != PROCESS_WATCHED ||
	    engine->core.phase != PHASE_WATCHING ||
	    startup->births == STARTUP_BIRTHS_MAX ||
	    !startup_is_recent(process->space->text, clock_now_ns()))
		return false;
	startup->births++;
	startup->born_ns = clock_now_ns();
	return true;
}

bool startup_begin(struct engine *engine, struct thread *creator)
{
	struct process *process = creator->process;
	struct startup *startup = startup_of(process->space->text);
	struct wire_startup message = {
		.program = process->space->text->program,
	};

	if (!startup)
		return false;
	if (startup->had)
		return startup_takes(engine, process);
	if (engine->pool.params.startup_ns == 0 ||
	    engine->core.phase != PHASE_WATCHING ||
	    process->role != PROCESS_WATCHED || process->threads.count != 2 ||
	    creator->vforking)
		return false;
	/* nobody would answer */
	if (!channel_send(&engine->core.channel, WIRE_STARTUP, &message,
			  sizeof(message)))
		return false;
	startup->had = true;
	startup->begun_ns = clock_now_ns();
	pool_forget_spent(&engine->pool, message.program);
	startup->maker = creator->tid;
	engine->startups++;
	hold_begin(&engine->core.tracees, &startup->creator, creator);
	return false;
}

void startup_newborn(struct engine *engine, struct thread *thread)
{
	struct startup *startup = startup_known(thread->process);

	if (startup && startup->creator.thread && !startup->newborn.thread &&
	    startup->creator.thread->process == thread->process)
		hold_begin(&engine->core.tracees, &startup->newborn, thread);
}

bool startup_is_recent(const struct program_text *text, uint64_t now)
{
	return text->startup && now < text->startup->recent_ns;
}

uint64_t startup_patience_ns(const struct program_text *text)
{
	return text->startup ? text->startup->patience_ns : 0;
}

uint64_t startup_stall_ns(const struct program_text *text, uint64_t now)
{
	const struct startup *startup = text->startup;

	if (!startup_is_recent(text, now) || startup->births == 0)
		return UINT64_MAX;
	return lengths_young(now > startup->born_ns ? now - startup->born_ns
						    : 0);
}

uint64_t startup_all_until(const struct engine *engine, uint64_t now)
{
	uint64_t until = 0;

	for (size_t i = 0; i < engine->core.tracees.processes.count; i++) {
		const struct process *process =
			tracees_process_at(&engine->core.tracees, i);
		const struct startup *startup = startup_known(process);

		if (process->role != PROCESS_WATCHED ||
		    !core_may_race(&engine->core, process))
			continue;
		if (!startup || now >= startup->recent_ns)
			return 0;
		until = startup->recent_ns > until ? startup->recent_ns : until;
	}
	return until;
}

bool startup_makes(const struct thread *thread, uint64_t now)
{
	const struct startup *startup = startup_known(thread->process);

	return startup && thread->tid == startup->maker &&
	       now < startup->recent_ns;
}

/* A process whose program's first threads wait, from there on; or NULL. */
static struct process *startup_next(const struct engine *engine, size_t *i)
{
	while (engine->startups > 0 &&
	       *i < engine->core.tracees.processes.count) {
		struct process *process =
			tracees_process_at(&engine->core.tracees, (*i)++);

		if (process->role == PROCESS_WATCHED &&
		    startup_known(process) &&
		    startup_known(process)->begun_ns != 0)
			return process;
	}
	return NULL;
}

void startup_sent(struct engine *engine, const void *payload, size_t size)
{
	const struct wire_startup *message = payload;
	struct process *process;

	if (size != sizeof(*message))
		return;
	for (size_t i = 0; (process = startup_next(engine, &i));) {
		if (process->space->text->program == message->program)
			startup_known(process)->sent = true;
	}
}

static void startup_finish(struct engine *engine, struct startup *startup,
			   uint64_t now)
{
	log_debug(LOG_TARGET, "the first threads waited for %.1f ms",
		  (double)(now - startup->begun_ns) / CLOCK_NS_PER_MS);
	engine->load.budget.lost_ns += (double)(now - startup->begun_ns);
	engine->core.stats.startup_ns += now - startup->begun_ns;
	startup->begun_ns = 0;
	startup->recent_ns = now + STARTUP_RECENT_NS;
	startup->patience_ns =
		rng_below(&engine->core.rng, STARTUP_PATIENT_PART) == 0
			? STARTUP_PATIENCE_NS
			: 0;
	/* it sets itself up from now on */
	if (startup->newborn.thread && startup->creator.thread)
		sigstate_newborn(&engine->core.tracees, startup->newborn.thread,
				 startup->creator.thread);
	hold_release(&engine->core.tracees, &startup->creator);
	hold_release(&engine->core.tracees, &startup->newborn);
}

/* When the time of those that wait is over at the latest. */
static uint64_t startup_until_ns(const struct engine *engine,
				 const struct startup *startup)
{
	return startup->begun_ns + engine->pool.params.startup_ns;
}

/* Nothing is kept waiting for its place in the program's text. */
static bool startup_armed(const struct engine *engine,
			  const struct process *process)
{
	return startup_known(process)->sent &&
	       !pool_waits_once(&engine->pool, process->space->text->program) &&
	       !provoke_waits(engine, process->space->text->program);
}

void startup_tick(struct engine *engine, uint64_t now)
{
	struct process *process;
	uint32_t waiting = 0;

	for (size_t i = 0; (process = startup_next(engine, &i));) {
		struct startup *startup = startup_known(process);

		if (startup_armed(engine, process) ||
		    now >= startup_until_ns(engine, startup))
			startup_finish(engine, startup, now);
		waiting += startup->begun_ns != 0;
	}
	/* those that have ended with their program wait no more */
	engine->startups = waiting;
}

uint64_t startup_next_ns(const struct engine *engine)
{
	const struct process *process;
	uint64_t next = UINT64_MAX;

	for (size_t i = 0; (process = startup_next(engine, &i));) {
		uint64_t until =
			startup_until_ns(engine, startup_known(process));

		next = until < next ? until : next;
	}
	return next;
}

void startup_end(struct engine *engine)
{
	struct process *process;

	for (size_t i = 0; (process = startup_next(engine, &i));) {
		struct startup *startup = startup_known(process);

		startup->begun_ns = 0;
		hold_drop(&startup->creator);
		hold_drop(&startup->newborn);
	}
	engine->startups = 0;
}
