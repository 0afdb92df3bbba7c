/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The first threads of a program; see onset.h.
 */
#include "target/onset.h"

#include "base/clock.h"
#include "base/log.h"
#include "target/breakpoint.h"
#include "target/engine.h"
#include "target/pool.h"
#include "target/process.h"
#include "target/sigstate.h"
#include "target/stall.h"
#include "target/thread.h"
#include "wire/message.h"

/* Threads have set up what they share after so long, as a rule. */
static const uint64_t ONSET_RECENT_NS = 100 * CLOCK_NS_PER_MS;

/* Threads for which what has run is armed again; each of them costs stops. */
enum { ONSET_BIRTHS_MAX = 4 };

static void onset_rearm(struct engine *engine, struct process *process)
{
	if (process->role != PROCESS_WATCHED ||
	    engine->phase != ENGINE_WATCHING ||
	    engine->onset.births == ONSET_BIRTHS_MAX ||
	    !onset_is_recent(engine, clock_now_ns()))
		return;
	engine->onset.births++;
	stalls_end_once(engine);
	sigstate_settle_young(engine, process);
	pool_rearm_spent(engine);
}

void onset_begin(struct engine *engine, struct thread *creator)
{
	struct process *process = creator->process;
	struct wire_onset message = {
		.program = process->space->text->program,
	};
	struct onset *onset = &engine->onset;

	/* another program has a beginning of its own, however soon it comes */
	if (message.program < onset->programs) {
		onset_rearm(engine, process);
		return;
	}
	if (engine->pool.params.onset_ns == 0 || onset->begun_ns != 0 ||
	    engine->phase != ENGINE_WATCHING ||
	    process->role != PROCESS_WATCHED || process->threads.count != 2 ||
	    creator->vforking)
		return;
	/* nobody would answer */
	if (!channel_send(&engine->channel, WIRE_ONSET, &message,
			  sizeof(message)))
		return;
	onset->programs = message.program + 1;
	onset->begun_ns = clock_now_ns();
	onset->births = 0;
	engine->pool.spent.count = 0;
	onset->maker = creator->tid;
	onset->sent = false;
	hold_begin(engine, &onset->creator, creator);
}

void onset_newborn(struct engine *engine, struct thread *thread)
{
	struct onset *onset = &engine->onset;

	if (onset->creator.thread && !onset->newborn.thread &&
	    onset->creator.thread->process == thread->process)
		hold_begin(engine, &onset->newborn, thread);
}

bool onset_holds(const struct engine *engine, const struct thread *thread)
{
	return thread->hold && (thread->hold == &engine->onset.creator ||
				thread->hold == &engine->onset.newborn);
}

bool onset_is_recent(const struct engine *engine, uint64_t now)
{
	return now < engine->onset.recent_ns;
}

bool onset_makes(const struct engine *engine, const struct thread *thread,
		 uint64_t now)
{
	return thread->tid == engine->onset.maker &&
	       onset_is_recent(engine, now);
}

void onset_sent(struct engine *engine, const void *payload, size_t size)
{
	(void)payload;
	(void)size;
	engine->onset.sent = true;
}

static void onset_finish(struct engine *engine, uint64_t now)
{
	struct onset *onset = &engine->onset;

	log_debug(LOG_TARGET, "the first threads waited for %.1f ms",
		  (double)(now - onset->begun_ns) / CLOCK_NS_PER_MS);
	engine->load.budget.lost_ns += (double)(now - onset->begun_ns);
	engine->stats.onset_ns += now - onset->begun_ns;
	onset->begun_ns = 0;
	onset->recent_ns = now + ONSET_RECENT_NS;
	/* it sets itself up from now on */
	if (onset->newborn.thread && onset->creator.thread)
		sigstate_newborn(engine, onset->newborn.thread,
				 onset->creator.thread);
	hold_release(engine, &onset->creator);
	hold_release(engine, &onset->newborn);
}

/* Nothing is kept waiting for its place in the text. */
static bool onset_armed(const struct engine *engine)
{
	return engine->onset.sent && engine->pool.once.count == 0;
}

void onset_tick(struct engine *engine, uint64_t now)
{
	if (engine->onset.begun_ns != 0 &&
	    (onset_armed(engine) || now >= onset_next_ns(engine)))
		onset_finish(engine, now);
}

uint64_t onset_next_ns(const struct engine *engine)
{
	return engine->onset.begun_ns != 0
		       ? engine->onset.begun_ns + engine->pool.params.onset_ns
		       : UINT64_MAX;
}

void onset_end(struct engine *engine)
{
	engine->onset.begun_ns = 0;
	hold_drop(&engine->onset.creator);
	hold_drop(&engine->onset.newborn);
}
