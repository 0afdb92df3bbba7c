/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Letting go; see release.h.
 */
#include "target/release.h"

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "sys/procfs.h"
#include "sys/trace.h"
#include "target/breakpoint.h"
#include "target/engine.h"
#include "target/sigstate.h"
#include "target/step.h"
#include "target/thread.h"
#include "target/writer.h"

static const uint64_t trap_bit = UINT64_C(1) << (SIGTRAP - 1);

void release_check_done(struct engine *engine)
{
	if (engine->phase != ENGINE_RELEASING || engine->threads.count > 0)
		return;
	engine->phase = ENGINE_RELEASED;
	if (engine->ended)
		return;
	engine_send_stats(engine);
	channel_send(&engine->channel, WIRE_DETACHED, NULL, 0);
}

/* Forget the thread, and its process when it was the last. */
static void release_forget(struct engine *engine, struct thread *thread)
{
	struct process *process = thread->process;

	thread_destroy(engine, thread);
	if (process->threads.count == 0 && engine->phase != ENGINE_RELEASING)
		engine_remove_process(engine, process);
	release_check_done(engine);
}

/*
 * A SIGTRAP that one of our traps caused is queued: detached, the thread
 * would die of it. Resumed, it takes the signal before it executes anything.
 */
static bool release_drain(struct thread *thread)
{
	bool pending;
	uint64_t mask;

	if (!thread_ok(thread, trace_trap_pending(thread->tid, &pending)) ||
	    !pending ||
	    !thread_ok(thread, trace_signal_mask(thread->tid, &mask)))
		return false;
	if (mask & trap_bit) {
		thread->signals.mask = mask;
		thread->signals.draining = true;
		thread_ok(thread,
			  trace_set_signal_mask(thread->tid, mask & ~trap_bit));
	}
	if (thread_ok(thread, trace_continue(thread->tid, thread->deliver)))
		thread->state = THREAD_RUNNING;
	thread->deliver = 0;
	return true;
}

/*
 * A program that handles or ignores SIGTRAP may send it to itself, and would
 * die of it if a trap of ours in another thread had just reset that: its
 * threads are let go when none of them has a trap on its way any more
 * (release_tick).
 */
static bool release_goes_together(const struct process *process)
{
	return process->trap_ignored || process->trap_caught;
}

static void release_detach(struct engine *engine, struct thread *thread)
{
	if (thread->state == THREAD_STOPPED &&
	    !thread_ok(thread, trace_detach(thread->tid, thread->deliver)))
		/* killed meanwhile: its end is still to be waited for */
		return;
	if (thread->state == THREAD_STOPPED)
		release_forget(engine, thread);
}

/* What could not be taken out without a stopped thread: here is one. */
static void release_lift(struct engine *engine, const struct thread *thread)
{
	struct addrspace *space = thread->process->space;

	if (!space->memory.refused || space->text->armed == 0)
		return;
	writer_begin(engine, space);
	engine_note(engine, breakpoint_lift_range(space, thread->tid, 0,
						  UINT64_MAX, SIZE_MAX, NULL));
	writer_end(space);
}

void release_thread(struct engine *engine, struct thread *thread)
{
	if (thread->state != THREAD_STOPPED)
		return;
	release_lift(engine, thread);
	if (thread->signals.draining) {
		thread->signals.draining = false;
		thread_ok(thread, trace_set_signal_mask(thread->tid,
							thread->signals.mask));
	}
	/* no more of them; those on their way are known by their cookie */
	watch_by_perf.clear(engine, thread);
	if (release_drain(thread))
		return;
	watch_by_registers.clear(engine, thread);
	if (release_goes_together(thread->process))
		thread->drained = true;
	else
		release_detach(engine, thread);
}

/* Is every thread of the process stopped, with no trap on its way? */
static bool release_all_drained(const struct process *process)
{
	for (size_t i = 0; i < process->threads.count; i++) {
		const struct thread *thread = process_thread(process, i);

		if (thread->state != THREAD_GONE && !thread->drained)
			return false;
	}
	return process->threads.count > 0;
}

static void release_together(struct engine *engine, struct process *process)
{
	for (size_t i = 0; i < process->threads.count; i++)
		sigstate_settle(engine, process_thread(process, i));
	for (size_t i = process->threads.count; i-- > 0;)
		release_detach(engine, process_thread(process, i));
}

static bool release_has_ended(const struct thread *thread)
{
	struct thread_status status;
	struct error *err = procfs_status(thread->tid, &status);
	/* not there at all: about to come back with the leader's id, by exec */
	bool ended = !err && (status.state == 'Z' || status.state == 'X');

	error_free(err);
	return ended;
}

void release_tick(struct engine *engine)
{
	for (size_t i = engine->processes.count; i-- > 0;) {
		struct process *process = engine_process_at(engine, i);

		for (size_t j = process->threads.count; j-- > 0;) {
			struct thread *thread = process_thread(process, j);

			if (thread->state != THREAD_STOPPED &&
			    release_has_ended(thread))
				release_forget(engine, thread);
		}
		if (release_goes_together(process) &&
		    release_all_drained(process))
			release_together(engine, process);
	}
}

static void release_process(struct engine *engine, struct process *process)
{
	/* from the end: a released thread leaves the list */
	for (size_t i = process->threads.count; i-- > 0;) {
		struct thread *thread = process_thread(process, i);

		step_lost(engine, thread);
		if (thread->state == THREAD_STOPPED)
			release_thread(engine, thread);
		else if (thread->state == THREAD_GONE)
			release_forget(engine, thread);
		else
			thread_interrupt(thread);
	}
}

void engine_release(struct engine *engine)
{
	if (engine->phase >= ENGINE_RELEASING)
		return;
	engine->phase = ENGINE_RELEASING;
	pool_lift_all(engine);
	stalls_end_all(engine);
	for (size_t i = engine->processes.count; i-- > 0;)
		release_process(engine, engine_process_at(engine, i));
	release_check_done(engine);
}
