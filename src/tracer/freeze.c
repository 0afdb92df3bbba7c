/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Holding the threads of a conflict; see freeze.h.
 */
#include "tracer/freeze.h"

#include <signal.h>
#include <string.h>

#include "base/clock.h"
#include "base/error.h"
#include "sys/trace.h"
#include "tracee/parking.h"
#include "tracee/process.h"
#include "tracee/thread.h"
#include "tracer/core.h"
#include "tracer/stall.h"
#include "wire/message.h"

enum { FREEZE_SIDES = 2 };

/* To describe a conflict takes up to two seconds with much debug information */
static const uint64_t FREEZE_JUDGE_NS = 3 * CLOCK_NS_PER_S;
static const uint64_t FREEZE_STOP_NS = CLOCK_NS_PER_S;

void freeze_lose(struct freeze *freeze, const struct hold *hold)
{
	for (int i = 0; i < FREEZE_SIDES; i++) {
		if (&freeze->sides[i].hold == hold)
			freeze->sides[i].pid = 0;
	}
}

static void freeze_hold(struct freeze *freeze, struct freeze_side *side,
			struct thread *thread)
{
	side->pid = thread->process->pid;
	hold_begin(&freeze->core->tracees, &side->hold, thread);
}

void freeze_take(struct freeze *freeze, struct stall *stall,
		 struct thread *other, struct wire_conflict *wire)
{
	struct thread *thread = stall->hold.thread;

	if (!freeze->wanted || freeze->state != FREEZE_NONE ||
	    freeze->core->phase != PHASE_WATCHING || !thread)
		return;
	memset(freeze->sides, 0, sizeof(freeze->sides));
	stall->hold.thread = NULL;
	thread_park(thread, stall->site.address, &stall->regs);
	freeze_hold(freeze, &freeze->sides[0], thread);
	if (other && other->state == THREAD_STOPPED && !other->hold)
		freeze_hold(freeze, &freeze->sides[1], other);
	freeze->state = FREEZE_HELD;
	freeze->deadline_ns = clock_now_ns() + FREEZE_JUDGE_NS;
	/* 0 means that a conflict is not held */
	if (++freeze->number == 0)
		freeze->number = 1;
	wire->freeze = freeze->number;
}

static void freeze_go_on(struct freeze *freeze)
{
	freeze->state = FREEZE_NONE;
	for (int i = 0; i < FREEZE_SIDES; i++)
		hold_release(&freeze->core->tracees, &freeze->sides[i].hold);
}

/* Is another thread of that process the one to stop it? */
static bool freeze_is_asked(const struct freeze *freeze, pid_t pid)
{
	for (int i = 0; i < FREEZE_SIDES; i++) {
		if (freeze->sides[i].pid == pid && freeze->sides[i].asked)
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
static void freeze_ask(struct freeze *freeze, struct freeze_side *side)
{
	struct thread *thread = side->hold.thread;

	if (!thread || freeze_is_asked(freeze, side->pid))
		return;
	thread->deliver = 0;
	if (!thread_ok(thread, trace_continue(thread->tid, SIGSTOP)))
		return;
	thread->state = THREAD_RUNNING;
	side->asked = true;
}

static void freeze_stop(struct freeze *freeze)
{
	freeze->state = FREEZE_STOPPING;
	freeze->deadline_ns = clock_now_ns() + FREEZE_STOP_NS;
	for (int i = 0; i < FREEZE_SIDES; i++)
		freeze_ask(freeze, &freeze->sides[i]);
	for (int i = 0; i < FREEZE_SIDES; i++) {
		if (freeze->sides[i].asked)
			return;
	}
	/* both have died */
	freeze_go_on(freeze);
}

void freeze_judged(struct freeze *freeze, const void *payload, size_t size)
{
	const struct wire_judged *judged = payload;

	if (size != sizeof(*judged) || freeze->state != FREEZE_HELD ||
	    judged->freeze != freeze->number)
		return;
	if (judged->stop)
		freeze_stop(freeze);
	else
		freeze_go_on(freeze);
}

/* A side whose thread has not stopped yet, after it was asked to. */
static bool freeze_is_due(const struct freeze_side *side)
{
	const struct thread *thread = side->hold.thread;

	return side->asked && thread && thread->state != THREAD_STOPPED;
}

bool freeze_stopping(struct freeze *freeze, struct thread *thread)
{
	if (freeze->state != FREEZE_STOPPING)
		return false;
	for (int i = 0; i < FREEZE_SIDES; i++) {
		const struct freeze_side *side = &freeze->sides[i];

		if (side->hold.thread != thread || !side->asked)
			continue;
		if (thread_ok(thread, trace_continue(thread->tid, SIGSTOP)))
			thread->state = THREAD_RUNNING;
		return true;
	}
	return false;
}

enum freeze_group freeze_grouped(struct freeze *freeze,
				 const struct thread *thread)
{
	if (freeze->state != FREEZE_STOPPING ||
	    !freeze_is_asked(freeze, thread->process->pid))
		return FREEZE_GROUP_OTHER;
	for (int i = 0; i < FREEZE_SIDES; i++) {
		if (freeze_is_due(&freeze->sides[i]))
			return FREEZE_GROUP_WAITS;
	}
	freeze->state = FREEZE_STOPPED;
	return FREEZE_GROUP_BEGUN;
}

bool freeze_tick(struct freeze *freeze, uint64_t now)
{
	if (now < freeze_next_ns(freeze))
		return false;
	/* what was handed over will take effect */
	if (freeze->state == FREEZE_STOPPING)
		return true;
	core_note(freeze->core,
		  error_create(ERROR_OTHER, "a race was not described in "
					    "time: its threads went on"));
	freeze_go_on(freeze);
	return false;
}

uint64_t freeze_next_ns(const struct freeze *freeze)
{
	return freeze->state == FREEZE_HELD || freeze->state == FREEZE_STOPPING
		       ? freeze->deadline_ns
		       : UINT64_MAX;
}

/* Those that stand still are detached as they are. */
void freeze_end(struct freeze *freeze)
{
	freeze->state = freeze->state == FREEZE_STOPPING ||
					freeze->state == FREEZE_STOPPED
				? FREEZE_STOPPED
				: FREEZE_NONE;
	for (int i = 0; i < FREEZE_SIDES; i++)
		hold_drop(&freeze->sides[i].hold);
}

void freeze_tell(struct freeze *freeze)
{
	struct wire_stopped message = { { 0 } };

	if (freeze->state != FREEZE_STOPPED)
		return;
	for (int i = 0; i < FREEZE_SIDES; i++) {
		if (freeze->sides[i].asked)
			message.pids[i] = freeze->sides[i].pid;
	}
	if (!freeze->core->channel.closed) {
		channel_send(&freeze->core->channel, WIRE_STOPPED, &message,
			     sizeof(message));
		return;
	}
	/* the front end has died: nobody would know of them */
	for (int i = 0; i < FREEZE_SIDES; i++) {
		if (message.pids[i] != 0)
			kill(message.pids[i], SIGCONT);
	}
}
