/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The "ptrace" back-end: debug registers written into each stopped thread
 * (PTRACE_POKEUSER of DR0-DR7; Intel SDM volume 3, chapter 17.2). Works
 * everywhere watchpoints do; every update stops every thread; accesses by the
 * kernel are not seen.
 *
 * A running thread is only asked to stop; it is updated on its way back
 * (prepare). One asleep in a system call that stops would end early is left
 * alone until it has woken up. What is in a new thread's registers is not read
 * back: readback shows the parent's DR7 there while nothing is armed.
 */
#include "tracee/watch.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>

#include "base/error.h"
#include "guardian/guardian.h"
#include "sys/procfs.h"
#include "sys/trace.h"
#include "tracee/breakpoint.h"
#include "tracee/process.h"
#include "tracee/thread.h"
#include "tracee/tracees.h"

enum { DR_STATUS = 6, DR_CONTROL = 7, DR_STATUS_SLOTS = 0xf };

/*
 * Where breakpoints are perf's (execpoint.h), watches only: a thread has these
 * registers since it blocks SIGTRAP, and the trap of each location that is drawn
 * would be forced on it.
 */
static void registers_view(const struct tracees *tracees,
			   const struct thread *thread, struct watch_view *ret)
{
	watch_view_thread(&tracees->watch, thread, ret);
	for (int i = 0; i < DREGS_SLOTS; i++) {
		if (!thread->process->space->text->execpoints ||
		    ret->dregs.slots[i].type != DREGS_EXECUTE)
			continue;
		ret->dregs.slots[i] = (struct dregs_slot){ .users = 0 };
		ret->generation[i] = 0;
	}
}

/*
 * A thread that sleeps where the stop would be seen is not told to: it touches
 * nothing, and is looked at again when the stall goes on. What is in its
 * registers from before is known to be of the past by its generation.
 *
 * With perf, the few threads that block SIGTRAP are watched this way, helpers
 * that sleep most of the time. They are not woken up to be stopped at all:
 * where processors are busy that takes milliseconds, and the stall would last
 * as long. What one of them writes after it has woken up is seen by its value.
 * That is not enough for a hunt (watch.exact).
 */
static bool registers_let_sleep(const struct tracees *tracees,
				const struct thread *thread)
{
	uint64_t args[PROCFS_ARGUMENTS];
	int number;

	return tracees->watch.ops == &watch_by_registers || tracees->watch.exact
		       ? procfs_notices_stops(thread->tid)
		       : procfs_system_call(thread->tid, &number, args);
}

static void registers_update(struct tracees *tracees, struct thread *thread)
{
	struct watch_view view;

	registers_view(tracees, thread, &view);
	if (watch_current(&view, thread) || thread->watch.dirty ||
	    registers_let_sleep(tracees, thread))
		return;
	thread_interrupt(thread);
	if (!thread->interrupting)
		return;
	thread->watch.dirty = true;
	tracees->watch.pending++;
}

/*
 * DR7, addresses, DR7: a stale length in a slot rejects an address. Where it
 * fails, as others may have the slots, what was written until then is known.
 */
static struct error *registers_write(struct thread *thread,
				     const struct dregs *dregs)
{
	uint64_t control = dregs_control(dregs);
	struct thread_watch *watch = &thread->watch;
	struct error *err = NULL;

	if (watch->control != 0) {
		err = trace_set_debug(thread->tid, DR_CONTROL,
				      dregs_control_neutral());
		if (!err)
			watch->control = dregs_control_neutral();
	}
	for (int i = 0; i < DREGS_SLOTS && !err; i++) {
		uint64_t address = dregs->slots[i].address;

		if (dregs->slots[i].users == 0 || watch->address[i] == address)
			continue;
		err = trace_set_debug(thread->tid, i, address);
		if (!err)
			watch->address[i] = address;
	}
	if (!err)
		err = trace_set_debug(thread->tid, DR_CONTROL, control);
	if (!err) {
		watch->control = control;
		watch->shows_parent = false;
	}
	return err;
}

/*
 * Is a trap on its way that has not been told yet? The thread then stops
 * again before it executes anything; what is in its registers must stay until
 * then, to tell what trapped.
 */
static bool registers_trap_pending(struct thread *thread)
{
	uint64_t status;

	return thread->watch.control != 0 &&
	       thread_ok(thread,
			 trace_debug(thread->tid, DR_STATUS, &status)) &&
	       (status & DR_STATUS_SLOTS);
}

static void registers_prepare(struct tracees *tracees, struct thread *thread)
{
	struct watch_view view;
	struct error *err;

	if (thread->process->role != PROCESS_WATCHED)
		return;
	registers_view(tracees, thread, &view);
	if (watch_current(&view, thread) || registers_trap_pending(thread))
		return;
	guardian_note_registers(tracees->guardian);
	err = registers_write(thread, &view.dregs);
	tracees->watch.refused += err && err->code == ENOSPC;
	if (thread_ok(thread, err))
		memcpy(thread->watch.generation, view.generation,
		       sizeof(thread->watch.generation));
}

/* Writing to a slot that nobody has used would take it. */
static struct error *registers_zero_one(struct thread *thread, int number)
{
	uint64_t value;
	struct error *err = trace_debug(thread->tid, number, &value);

	if (!err && value != 0)
		err = trace_set_debug(thread->tid, number, 0);
	return err;
}

/*
 * Addresses are zeroed too, and what a new thread shows of its parent's DR7, so
 * that the thread is detached with its registers as if never used.
 */
static struct error *registers_zero(struct thread *thread)
{
	struct thread_watch *watch = &thread->watch;
	struct error *err = registers_zero_one(thread, DR_CONTROL);

	for (int i = 0; i < DREGS_SLOTS && !err; i++)
		err = registers_zero_one(thread, i);
	watch->control = 0;
	memset(watch->address, 0, sizeof(watch->address));
	return err;
}

static void registers_clear(struct tracees *tracees, struct thread *thread)
{
	(void)tracees;
	if (thread->state != THREAD_STOPPED)
		return;
	thread_ok(thread, registers_zero(thread));
	memset(thread->watch.generation, 0, sizeof(thread->watch.generation));
}

static uint8_t registers_trapped(struct thread *thread,
				 const struct trap_info *info,
				 uint64_t gens[DREGS_SLOTS])
{
	uint64_t status = 0;

	/* the program has no debug registers but through its tracer: us */
	if (info->code != TRAP_CODE_WATCH)
		return 0;
	thread_ok(thread, trace_debug(thread->tid, DR_STATUS, &status));
	thread_ok(thread, trace_set_debug(thread->tid, DR_STATUS, 0));
	memcpy(gens, thread->watch.generation,
	       sizeof(thread->watch.generation));
	return (status & DR_STATUS_SLOTS) ? status & DR_STATUS_SLOTS
					  : watch_trap_of_the_past(gens);
}

const struct watch_ops watch_by_registers = {
	.name = "ptrace",
	.update = registers_update,
	.prepare = registers_prepare,
	.clear = registers_clear,
	.trapped = registers_trapped,
};
