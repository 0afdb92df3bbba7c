/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The moment of a conflict; see moment.h.
 */
#include "tracer/moment.h"

#include <signal.h>
#include <string.h>

#include "base/clock.h"
#include "base/error.h"
#include "sys/trace.h"
#include "tracee/parking.h"
#include "tracee/process.h"
#include "tracee/thread.h"
#include "tracer/engine.h"
#include "tracer/stall.h"
#include "wire/message.h"

enum { MOMENT_SIDES = 2 };

/* To describe a conflict takes up to two seconds with much debug information */
static const uint64_t MOMENT_JUDGE_NS = 3 * CLOCK_NS_PER_S;
static const uint64_t MOMENT_STOP_NS = CLOCK_NS_PER_S;

void moment_lose(struct moment *moment, const struct hold *hold)
{
	for (int i = 0; i < MOMENT_SIDES; i++) {
		if (&moment->sides[i].hold == hold)
			moment->sides[i].pid = 0;
	}
}

static void moment_hold(struct engine *engine, struct moment_side *side,
			struct thread *thread)
{
	side->pid = thread->process->pid;
	hold_begin(&engine->tracees, &side->hold, thread);
}

void moment_take(struct engine *engine, struct stall *stall,
		 struct thread *other, struct wire_conflict *wire)
{
	struct moment *moment = &engine->moment;
	struct thread *thread = stall->hold.thread;

	if (!moment->wanted || moment->state != MOMENT_NONE ||
	    engine->phase != ENGINE_WATCHING || !thread)
		return;
	memset(moment->sides, 0, sizeof(moment->sides));
	stall->hold.thread = NULL;
	thread_park(thread, stall->site.address, &stall->regs);
	moment_hold(engine, &moment->sides[0], thread);
	if (other && other->state == THREAD_STOPPED && !other->hold)
		moment_hold(engine, &moment->sides[1], other);
	moment->state = MOMENT_HELD;
	moment->deadline_ns = clock_now_ns() + MOMENT_JUDGE_NS;
	/* 0 means that a conflict is not held */
	if (++moment->number == 0)
		moment->number = 1;
	wire->moment = moment->number;
}

static void moment_go_on(struct engine *engine)
{
	engine->moment.state = MOMENT_NONE;
	for (int i = 0; i < MOMENT_SIDES; i++)
		hold_release(&engine->tracees, &engine->moment.sides[i].hold);
}

/* Is another thread of that process the one to stop it? */
static bool moment_is_asked(const struct moment *moment, pid_t pid)
{
	for (int i = 0; i < MOMENT_SIDES; i++) {
		if (moment->sides[i].pid == pid && moment->sides[i].asked)
			return true;
	}
	return false;
}

/*
 * Both stand in the stop for a SIGTRAP, where another signal may be handed
 * over instead (ptrace(2), signal-delivery-stop). SIGSTOP cannot be blocked
 * nor handled: the thread comes to its group-stop without having executed
 * anything.
 */
static void moment_ask(struct engine *engine, struct moment_side *side)
{
	struct thread *thread = side->hold.thread;

	if (!thread || moment_is_asked(&engine->moment, side->pid))
		return;
	thread->deliver = 0;
	if (!thread_ok(thread, trace_continue(thread->tid, SIGSTOP)))
		return;
	thread->state = THREAD_RUNNING;
	side->asked = true;
}

static void moment_stop(struct engine *engine)
{
	struct moment *moment = &engine->moment;

	moment->state = MOMENT_STOPPING;
	moment->deadline_ns = clock_now_ns() + MOMENT_STOP_NS;
	for (int i = 0; i < MOMENT_SIDES; i++)
		moment_ask(engine, &moment->sides[i]);
	for (int i = 0; i < MOMENT_SIDES; i++) {
		if (moment->sides[i].asked)
			return;
	}
	/* both have died */
	moment_go_on(engine);
}

void moment_judged(struct engine *engine, const void *payload, size_t size)
{
	const struct wire_judged *judged = payload;
	const struct moment *moment = &engine->moment;

	if (size != sizeof(*judged) || moment->state != MOMENT_HELD ||
	    judged->moment != moment->number)
		return;
	if (judged->stop)
		moment_stop(engine);
	else
		moment_go_on(engine);
}

/* A side whose thread has not stopped yet, after it was asked to. */
static bool moment_is_due(const struct moment_side *side)
{
	const struct thread *thread = side->hold.thread;

	return side->asked && thread && thread->state != THREAD_STOPPED;
}

bool moment_stopping(struct engine *engine, struct thread *thread)
{
	const struct moment *moment = &engine->moment;

	if (moment->state != MOMENT_STOPPING)
		return false;
	for (int i = 0; i < MOMENT_SIDES; i++) {
		const struct moment_side *side = &moment->sides[i];

		if (side->hold.thread != thread || !side->asked)
			continue;
		if (thread_ok(thread, trace_continue(thread->tid, SIGSTOP)))
			thread->state = THREAD_RUNNING;
		return true;
	}
	return false;
}

enum moment_group moment_grouped(struct engine *engine,
				 const struct thread *thread)
{
	struct moment *moment = &engine->moment;

	if (moment->state != MOMENT_STOPPING ||
	    !moment_is_asked(moment, thread->process->pid))
		return MOMENT_GROUP_OTHER;
	for (int i = 0; i < MOMENT_SIDES; i++) {
		if (moment_is_due(&moment->sides[i]))
			return MOMENT_GROUP_WAITS;
	}
	moment->state = MOMENT_STOPPED;
	return MOMENT_GROUP_BEGUN;
}

bool moment_tick(struct engine *engine, uint64_t now)
{
	if (now < moment_next_ns(engine))
		return false;
	/* what was handed over will take effect */
	if (engine->moment.state == MOMENT_STOPPING)
		return true;
	engine_note(engine,
		    error_create(ERROR_OTHER, "a race was not described in "
					      "time: its threads went on"));
	moment_go_on(engine);
	return false;
}

uint64_t moment_next_ns(const struct engine *engine)
{
	const struct moment *moment = &engine->moment;

	return moment->state == MOMENT_HELD || moment->state == MOMENT_STOPPING
		       ? moment->deadline_ns
		       : UINT64_MAX;
}

/* Those that stand still are detached as they are. */
void moment_end(struct engine *engine)
{
	struct moment *moment = &engine->moment;

	moment->state = moment->state == MOMENT_STOPPING ||
					moment->state == MOMENT_STOPPED
				? MOMENT_STOPPED
				: MOMENT_NONE;
	for (int i = 0; i < MOMENT_SIDES; i++)
		hold_drop(&moment->sides[i].hold);
}

void moment_tell(struct engine *engine)
{
	const struct moment *moment = &engine->moment;
	struct wire_stopped message = { { 0 } };

	if (moment->state != MOMENT_STOPPED)
		return;
	for (int i = 0; i < MOMENT_SIDES; i++) {
		if (moment->sides[i].asked)
			message.pids[i] = moment->sides[i].pid;
	}
	if (!engine->channel.closed) {
		channel_send(&engine->channel, WIRE_STOPPED, &message,
			     sizeof(message));
		return;
	}
	/* the front end has died: nobody would know of them */
	for (int i = 0; i < MOMENT_SIDES; i++) {
		if (message.pids[i] != 0)
			kill(message.pids[i], SIGCONT);
	}
}
