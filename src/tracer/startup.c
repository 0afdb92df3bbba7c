/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The first threads of a program; see startup.h.
 */
#include "tracer/startup.h"

#include <stdlib.h>

#include "base/clock.h"
#include "base/log.h"
#include "schedule/lengths.h"
#include "schedule/pool.h"
#include "tracee/breakpoint.h"
#include "tracee/process.h"
#include "tracee/sigstate.h"
#include "tracee/thread.h"
#include "tracer/core.h"
#include "tracer/load.h"
#include "tracer/provoke.h"
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
static bool startup_takes(const struct startups *startups,
			  const struct process *process)
{
	struct startup *startup = startup_known(process);

	if (process->role != PROCESS_WATCHED ||
	    startups->core->phase != PHASE_WATCHING ||
	    startup->births == STARTUP_BIRTHS_MAX ||
	    !startup_is_recent(process->space->text, clock_now_ns()))
		return false;
	startup->births++;
	startup->born_ns = clock_now_ns();
	return true;
}

/* The thread waits from now on; false: nobody would answer. */
static bool startup_hold(struct startups *startups, struct startup *startup,
			 struct thread *thread)
{
	struct wire_startup message = {
		.begun_ns = clock_now_ns(),
		.program = thread->process->space->text->program,
	};

	if (!channel_send(&startups->core->channel, WIRE_STARTUP, &message,
			  sizeof(message)))
		return false;
	startup->had = true;
	startup->sent = false;
	startup->begun_ns = message.begun_ns;
	pool_forget_spent(startups->pool, message.program);
	startup->maker = thread->tid;
	startups->waiting++;
	hold_begin(&startups->core->tracees, &startup->creator, thread);
	return true;
}

bool startup_begin(struct startups *startups, struct thread *creator)
{
	struct process *process = creator->process;
	struct startup *startup = startup_of(process->space->text);

	if (!startup)
		return false;
	if (startup->had)
		return startup_takes(startups, process);
	if (startups->pool->params.startup_ns == 0 ||
	    startups->core->phase != PHASE_WATCHING ||
	    process->role != PROCESS_WATCHED || process->threads.count != 2 ||
	    creator->vforking)
		return false;
	startup_hold(startups, startup, creator);
	return false;
}

void startup_enter(struct startups *startups, struct thread *thread)
{
	struct startup *startup = startup_of(thread->process->space->text);

	if (!startup || startup->had ||
	    startups->pool->params.startup_ns == 0 ||
	    startups->core->phase != PHASE_WATCHING)
		return;
	startup->creator.in_creation = false;
	startup_hold(startups, startup, thread);
}

bool startup_again(struct startups *startups, struct thread *thread)
{
	struct startup *startup = startup_of(thread->process->space->text);

	if (!startup || startup->begun_ns != 0 ||
	    startups->pool->params.startup_ns == 0 ||
	    startups->core->phase != PHASE_WATCHING)
		return false;
	startup->creator.in_creation = false;
	return startup_hold(startups, startup, thread);
}

void startup_delay(struct program_text *text, bool delayed)
{
	if (text->startup)
		text->startup->delayed = delayed;
}

bool startup_waits(const struct program_text *text)
{
	return text->startup && text->startup->begun_ns != 0;
}

void startup_newborn(struct startups *startups, struct thread *thread)
{
	struct startup *startup = startup_known(thread->process);

	if (startup && startup->creator.thread &&
	    startup->creator.in_creation && !startup->newborn.thread &&
	    startup->creator.thread->process == thread->process)
		hold_begin(&startups->core->tracees, &startup->newborn, thread);
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

uint64_t startup_all_until(const struct startups *startups, uint64_t now)
{
	uint64_t until = 0;

	for (size_t i = 0; i < startups->core->tracees.processes.count; i++) {
		const struct process *process =
			tracees_process_at(&startups->core->tracees, i);
		const struct startup *startup = startup_known(process);

		if (process->role != PROCESS_WATCHED ||
		    !core_may_race(startups->core, process))
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
static struct process *startup_next(const struct startups *startups, size_t *i)
{
	while (startups->waiting > 0 &&
	       *i < startups->core->tracees.processes.count) {
		struct process *process =
			tracees_process_at(&startups->core->tracees, (*i)++);

		if (process->role == PROCESS_WATCHED &&
		    startup_known(process) &&
		    startup_known(process)->begun_ns != 0)
			return process;
	}
	return NULL;
}

void startup_sent(struct startups *startups, const void *payload, size_t size)
{
	const struct wire_startup *message = payload;
	struct process *process;

	if (size != sizeof(*message))
		return;
	for (size_t i = 0; (process = startup_next(startups, &i));) {
		if (process->space->text->program == message->program)
			startup_known(process)->sent = true;
	}
}

static void startup_finish(struct startups *startups, struct startup *startup,
			   uint64_t now)
{
	log_debug(LOG_TARGET, "the first threads waited for %.1f ms",
		  (double)(now - startup->begun_ns) / CLOCK_NS_PER_MS);
	startups->load->budget.lost_ns += (double)(now - startup->begun_ns);
	startups->core->stats.startup_ns += now - startup->begun_ns;
	startup->begun_ns = 0;
	startup->recent_ns = now + STARTUP_RECENT_NS;
	startup->patience_ns =
		rng_below(&startups->core->rng, STARTUP_PATIENT_PART) == 0
			? STARTUP_PATIENCE_NS
			: 0;
	/* it sets itself up from now on */
	if (startup->newborn.thread && startup->creator.thread)
		sigstate_newborn(&startups->core->tracees,
				 startup->newborn.thread,
				 startup->creator.thread);
	hold_release(&startups->core->tracees, &startup->creator);
	hold_release(&startups->core->tracees, &startup->newborn);
}

/* When the time of those that wait is over at the latest. */
static uint64_t startup_until_ns(const struct startups *startups,
				 const struct startup *startup)
{
	return startup->begun_ns + startups->pool->params.startup_ns;
}

/* Nothing is kept waiting for its place in the program's text. */
static bool startup_armed(const struct startups *startups,
			  const struct process *process)
{
	return startup_known(process)->sent &&
	       !startup_known(process)->delayed &&
	       !pool_waits_once(startups->pool,
				process->space->text->program) &&
	       !provoke_waits(startups->provoke, process->space->text->program);
}

void startup_tick(struct startups *startups, uint64_t now)
{
	struct process *process;
	uint32_t waiting = 0;

	for (size_t i = 0; (process = startup_next(startups, &i));) {
		struct startup *startup = startup_known(process);

		if (startup_armed(startups, process) ||
		    now >= startup_until_ns(startups, startup))
			startup_finish(startups, startup, now);
		waiting += startup->begun_ns != 0;
	}
	/* those that have ended with their program wait no more */
	startups->waiting = waiting;
}

uint64_t startup_next_ns(const struct startups *startups)
{
	const struct process *process;
	uint64_t next = UINT64_MAX;

	for (size_t i = 0; (process = startup_next(startups, &i));) {
		uint64_t until =
			startup_until_ns(startups, startup_known(process));

		next = until < next ? until : next;
	}
	return next;
}

void startup_end(struct startups *startups)
{
	struct process *process;

	for (size_t i = 0; (process = startup_next(startups, &i));) {
		struct startup *startup = startup_known(process);

		startup->begun_ns = 0;
		hold_drop(&startup->creator);
		hold_drop(&startup->newborn);
	}
	startups->waiting = 0;
}
