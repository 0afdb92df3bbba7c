/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Letting go; see release.h.
 */
#include "tracer/release.h"

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/syscall.h>

#include "base/clock.h"
#include "base/error.h"
#include "sys/procfs.h"
#include "sys/trace.h"
#include "tracee/breakpoint.h"
#include "tracee/resume.h"
#include "tracee/sigstate.h"
#include "tracee/step.h"
#include "tracee/thread.h"
#include "tracee/watch-update.h"
#include "tracee/writer.h"
#include "tracer/arm.h"
#include "tracer/copies.h"
#include "tracer/engine.h"
#include "tracer/forget.h"
#include "tracer/freeze.h"
#include "tracer/hunt.h"
#include "tracer/orphans.h"
#include "tracer/startup.h"

enum {
	/*
	 * A thread that runs is given a little time to fall asleep. It may
	 * only be waiting for a processor in the middle of a system call, and
	 * stopped there, it would notice.
	 */
	RELEASE_GRACE_NS = 50 * 1000 * 1000,
	RELEASE_GRACE_LOOKS = 5,
	/*
	 * Where requests are refused, what can be done has been done by then;
	 * our exit does the rest.
	 */
	RELEASE_PATIENCE_NS = 1000 * 1000 * 1000,
	/* and has been done so often: we may have been kept from it ourselves */
	RELEASE_LOOKS = 100,
};

static const uint64_t trap_bit = UINT64_C(1) << (SIGTRAP - 1);

/* Said: nobody else can take what is left out of children with copies. */
static void release_tell_unclean(struct engine *engine)
{
	pid_t first = 0;
	size_t count = 0;

	for (size_t i = 0; i < engine->core.tracees.processes.count; i++) {
		const struct process *process =
			tracees_process_at(&engine->core.tracees, i);

		if (process->unclean && count++ == 0)
			first = process->pid;
	}
	if (count > 0)
		core_note_last(
			&engine->core,
			error_create(ERROR_OTHER,
				     "breakpoints could not be removed from "
				     "%zu child%s of the program (the first is "
				     "%d): one that meets any dies of it",
				     count, count == 1 ? "" : "ren",
				     (int)first));
}

static bool release_overdue(const struct engine *engine)
{
	return engine->release_looks >= RELEASE_LOOKS &&
	       clock_now_ns() >= engine->release_ns + RELEASE_PATIENCE_NS;
}

/* Has the i-th process a text of its own: is it no copy, and the first of those? */
static bool release_has_text(const struct tracees *tracees, size_t i)
{
	const struct process *process = tracees_process_at(tracees, i);

	if (process->role == PROCESS_COPY)
		return false;
	for (size_t n = 0; n < i; n++) {
		const struct process *other = tracees_process_at(tracees, n);

		if (other->role != PROCESS_COPY &&
		    other->space->text == process->space->text)
			return false;
	}
	return true;
}

/* Said, and left to the guardian, if there is one. */
static void release_tell_left(struct engine *engine)
{
	const struct tracees *tracees = &engine->core.tracees;
	size_t left = 0;

	for (size_t i = 0; i < tracees->processes.count; i++) {
		const struct process *process = tracees_process_at(tracees, i);

		if (release_has_text(tracees, i))
			left += breakpoint_count_left(process->space);
	}
	engine->unrestored = left > 0;
	if (left > 0)
		core_note_last(
			&engine->core,
			error_create(ERROR_OTHER,
				     "%zu breakpoint%s could not be removed "
				     "from the program",
				     left, left == 1 ? "" : "s"));
	release_tell_unclean(engine);
}

void release_check_done(struct engine *engine)
{
	if (engine->core.phase != PHASE_RELEASING ||
	    engine->core.tracees.threads.count > engine->left ||
	    (engine->orphans.unannounced > 0 && !release_overdue(engine)))
		return;
	orphans_leave_all(&engine->orphans);
	engine->core.phase = PHASE_RELEASED;
	/* that of the others, where the first one has ended */
	release_tell_left(engine);
	if (engine->ended)
		return;
	engine_send_stats(engine);
	freeze_tell(&engine->freeze);
	core_send_notes(&engine->core);
	channel_send(&engine->core.channel, WIRE_DETACHED, NULL, 0);
	/* it ended when others were watched still */
	if (engine->first_ended)
		engine_tell_end(engine);
}

/* Forget the thread, and its process when it was the last. */
static void release_forget(struct engine *engine, struct thread *thread)
{
	struct process *process = thread->process;

	forget_thread(engine, thread);
	if (process->threads.count == 0 &&
	    engine->core.phase != PHASE_RELEASING)
		forget_process(engine, process);
	release_check_done(engine);
}

/* Where the queue cannot be read, any SIGTRAP in it may be ours. */
static bool release_trap_pending(struct thread *thread)
{
	struct thread_status status;
	struct error *err;
	bool pending;

	err = trace_trap_pending(thread->tid, &pending);
	if (!err)
		return pending;
	if (!thread_ok(thread, err) && thread->state == THREAD_GONE)
		return false;
	err = procfs_status(thread->tid, &status);
	error_free(err);
	return !err && (status.pending & trap_bit);
}

/*
 * A SIGTRAP that one of our traps caused is queued: detached, the thread
 * would die of it. Resumed, it takes the signal before it executes anything.
 */
static bool release_drain(struct thread *thread)
{
	uint64_t mask;

	if (!release_trap_pending(thread) ||
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
 * threads are detached when none of them has a pending trap any more
 * (release_tick). Those of a copy go one by one, and each puts back what its own
 * trap has reset (copies.h).
 */
static bool release_goes_together(const struct process *process)
{
	return process->role != PROCESS_COPY &&
	       (process->trap_ignored || process->trap_caught);
}

static void release_leave(struct engine *engine, struct thread *thread)
{
	if (thread->left)
		return;
	thread->left = true;
	thread->drained = true;
	engine->left++;
}

static void release_detach(struct engine *engine, struct thread *thread)
{
	struct error *err;

	if (thread->state != THREAD_STOPPED)
		return;
	err = trace_detach(thread->tid, thread->deliver);
	if (!err) {
		release_forget(engine, thread);
		return;
	}
	/* killed meanwhile: its end is still to be waited for */
	if (!thread_ok(thread, err) && thread->state == THREAD_GONE)
		return;
	/* refused: our exit does it, better not in a stop for a trap */
	if (thread_ok(thread, trace_continue(thread->tid, thread->deliver))) {
		thread->state = THREAD_RUNNING;
		thread->deliver = 0;
	}
	release_leave(engine, thread);
}

/* No more traps of them; those on their way are known by their cookie. */
static void release_close_events(struct engine *engine, struct thread *thread)
{
	if (watch_ops_of(&engine->core.tracees.watch, thread) == &watch_by_perf)
		watch_by_perf.clear(&engine->core.tracees, thread);
}

/*
 * Have the call end in the middle of which the thread is stopped, or its signal be
 * taken: it stops again a moment later, or, if it waits for a child (vfork(2)),
 * when that lets it go on.
 */
static bool release_end_call(struct thread *thread)
{
	if (!thread->vforking &&
	    !thread_ok(thread, trace_interrupt(thread->tid)))
		return false;
	thread->interrupting = !thread->vforking;
	if (thread_ok(thread, trace_continue(thread->tid, thread->deliver)))
		thread->state = THREAD_RUNNING;
	thread->deliver = 0;
	return true;
}

/*
 * A copy that cannot be cleaned runs on, traced, until it meets a breakpoint:
 * there it waits. When everything is released, it waits where it is until that is
 * overdue: then it is let go with them, and the user is told. To clean it may take
 * system calls of its own (copies_may_call): for those, it is stopped elsewhere if
 * need be.
 */
static bool release_clean_copy(struct engine *engine, struct thread *thread)
{
	struct process *process = thread->process;
	bool last = engine->core.phase == PHASE_RELEASING &&
		    release_overdue(engine);

	if ((process->unclean || process->trapped) &&
	    !copies_may_call(thread) && !last) {
		release_end_call(thread);
		return false;
	}
	if (copies_clean_again(&engine->core, thread) || last) {
		process->trap_restore_ns = 0;
		return true;
	}
	if (engine->core.phase == PHASE_WATCHING &&
	    !copies_stands_on_one(thread) &&
	    thread_ok(thread, trace_continue(thread->tid, thread->deliver))) {
		thread->state = THREAD_RUNNING;
		thread->deliver = 0;
	}
	return false;
}

/*
 * Breakpoints that could not be lifted from outside are by a stopped thread.
 * False: nor so, and it may help to wait.
 */
static bool release_clean_text(struct engine *engine, struct thread *thread)
{
	struct addrspace *space = thread->process->space;

	if (thread->process->role == PROCESS_COPY)
		return release_clean_copy(engine, thread);
	if (engine->core.phase != PHASE_RELEASING || space->text->armed == 0)
		return true;
	writer_begin(&engine->core.tracees, space);
	core_note(&engine->core,
		  breakpoint_lift_range(space, thread->tid, 0, UINT64_MAX,
					SIZE_MAX, NULL));
	writer_end(space);
	return space->text->armed == 0 || release_overdue(engine);
}

/*
 * SIG_IGN is to be put back, and not in the middle of a call: a moment later,
 * unless that is to end when a child ends.
 */
static bool release_ends_call(struct thread *thread)
{
	return thread->in_call && !thread->vforking &&
	       thread->process->trap_restore_ns != 0 &&
	       release_end_call(thread);
}

void release_thread(struct engine *engine, struct thread *thread)
{
	if (thread->state != THREAD_STOPPED ||
	    !release_clean_text(engine, thread) || release_ends_call(thread))
		return;
	if (thread->signals.draining) {
		thread->signals.draining = false;
		thread_ok(thread, trace_set_signal_mask(thread->tid,
							thread->signals.mask));
	}
	release_close_events(engine, thread);
	if (release_drain(thread))
		return;
	watch_by_registers.clear(&engine->core.tracees, thread);
	if (release_goes_together(thread->process))
		thread->drained = true;
	else
		release_detach(engine, thread);
}

void engine_go_on(struct engine *engine, struct thread *thread)
{
	if (engine->core.phase == PHASE_RELEASING ||
	    thread->process->role == PROCESS_COPY)
		release_thread(engine, thread);
	else
		thread_resume(&engine->core.tracees, thread);
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
		sigstate_settle(&engine->core.tracees,
				process_thread(process, i));
	for (size_t i = process->threads.count; i-- > 0;)
		release_detach(engine, process_thread(process, i));
}

static bool release_has_registers(const struct thread_watch *watch)
{
	bool any = watch->control != 0 || watch->shows_parent;

	for (int i = 0; i < DREGS_SLOTS; i++)
		any |= watch->address[i] != 0;
	return any;
}

/* Is there something in the thread that only a stop can take out? */
static bool release_needs_stop(const struct engine *engine,
			       const struct thread *thread)
{
	const struct thread_watch *watch = &thread->watch;

	/* our exit would kill it, or is far off: we wait for the program */
	if (engine->child || engine->exit_kill)
		return true;
	/* what could not be lifted so far, a stopped thread must help to */
	if (thread->process->space->text->armed > 0 ||
	    thread->process->unclean || thread->process->trapped)
		return true;
	return thread->state != THREAD_RUNNING || thread->newborn ||
	       thread->hold || thread->step || thread->stepping ||
	       thread->displaced.state != DISPLACED_NOT ||
	       thread->signals.draining || release_has_registers(watch) ||
	       watch->trap_pending || thread->process->trap_restore_ns != 0;
}

/*
 * In the middle of a fork, the child's copy of our breakpoints is made and not
 * yet announced: the thread may wait for memory or locks there,
 * uninterruptibly. With a vfork announced, it is past that, and waits for its
 * child, maybe for ever.
 */
static bool release_may_be_forking(const struct thread *thread)
{
	uint64_t args[PROCFS_ARGUMENTS];
	int number;

	if (thread->vforking)
		return false;
	if (!procfs_system_call(thread->tid, &number, args))
		return true;
	return number == SYS_clone || number == SYS_clone3 ||
	       number == SYS_fork || number == SYS_vfork ||
	       number == SYS_execve || number == SYS_execveat;
}

/*
 * Does it sleep where it has come by a system call or a fault, all its traps
 * told? One that has executed an int3 does not sleep before it has told that.
 */
static bool release_sleeps(const struct thread *thread,
			   const struct thread_status *status)
{
	return !(status->pending & trap_bit) &&
	       (status->state == 'S' ||
		(status->state == 'D' && !release_may_be_forking(thread)));
}

static bool release_has_ended(const struct thread_status *status)
{
	return status->state == 'Z' || status->state == 'X';
}

/*
 * Look at a thread that runs or sleeps. One that sleeps is left as it is, for
 * our exit to detach.
 *
 * It may wake up at any moment from here on, which is safe: its text has been
 * restored, no watch is in it, and no trap of ours is on its way. perf events
 * are closed first; one that has counted an access whose trap was not told
 * (watch->trap_pending) would raise its signal after that. It is still traced
 * until our exit: if it stops meanwhile, for any reason, it is detached in that
 * stop, or by the exit, which lets it go with the signal that it stopped for.
 * Its children inherit clean text.
 */
static void release_look(struct engine *engine, struct thread *thread,
			 uint64_t now)
{
	struct thread_status status;
	struct error *err;

	release_close_events(engine, thread);
	err = procfs_status(thread->tid, &status);
	if (err == error_gone && thread->newborn) {
		release_forget(engine, thread);
		return;
	}
	if (err == error_gone && !release_overdue(engine))
		/*
		 * about to come back with the leader's id, by exec, which no
		 * newborn can
		 */
		return;
	if (err)
		/* not to be told: as if it ran */
		status = (struct thread_status){ .state = 'R' };
	error_free(err);
	/*
	 * One whose id another thread has taken by exec, after that was
	 * detached, is not ours any more, and its end is never told.
	 */
	if (release_overdue(engine) && thread->interrupting && !thread->newborn)
		thread_ok(thread, trace_interrupt(thread->tid));
	if (release_has_ended(&status) ||
	    (release_overdue(engine) && thread->state == THREAD_GONE))
		release_forget(engine, thread);
	else if (release_overdue(engine) && !thread->interrupting &&
		 !thread->newborn)
		release_leave(engine, thread);
	else if (release_needs_stop(engine, thread))
		thread_interrupt(thread);
	else if (release_sleeps(thread, &status))
		release_leave(engine, thread);
	else if (engine->release_looks >= RELEASE_GRACE_LOOKS &&
		 now >= engine->release_ns + RELEASE_GRACE_NS)
		thread_interrupt(thread);
}

void release_tick(struct engine *engine, uint64_t now)
{
	engine->release_looks++;
	for (size_t i = engine->core.tracees.processes.count; i-- > 0;) {
		struct process *process =
			tracees_process_at(&engine->core.tracees, i);

		for (size_t j = process->threads.count; j-- > 0;) {
			struct thread *thread = process_thread(process, j);

			if (thread->left)
				continue;
			if (thread->state == THREAD_STOPPED && !thread->drained)
				release_thread(engine, thread);
			else if (thread->state != THREAD_STOPPED)
				release_look(engine, thread, now);
		}
		if (release_goes_together(process) &&
		    release_all_drained(process))
			release_together(engine, process);
	}
	release_check_done(engine);
}

/* From the end: a released thread leaves the list. */
static void release_copy(struct engine *engine, struct process *process)
{
	for (size_t i = process->threads.count; i-- > 0;) {
		struct thread *thread = process_thread(process, i);

		if (thread->newborn)
			continue;
		if (thread->state == THREAD_STOPPED)
			release_thread(engine, thread);
		else if (copies_clean_again(&engine->core, thread))
			thread_interrupt(thread);
	}
}

void release_copies(struct engine *engine)
{
	for (size_t i = engine->core.tracees.processes.count; i-- > 0;) {
		struct process *process =
			tracees_process_at(&engine->core.tracees, i);

		if (process->role == PROCESS_COPY)
			release_copy(engine, process);
	}
}

static void release_process(struct engine *engine, struct process *process)
{
	/* from the end: a released thread leaves the list */
	for (size_t i = process->threads.count; i-- > 0;) {
		struct thread *thread = process_thread(process, i);

		step_lose(&engine->core.tracees, thread);
		if (thread->state == THREAD_STOPPED)
			release_thread(engine, thread);
		else if (thread->state == THREAD_GONE)
			release_forget(engine, thread);
		else
			release_look(engine, thread, engine->release_ns);
	}
}

void engine_release(struct engine *engine)
{
	if (engine->core.phase >= PHASE_RELEASING)
		return;
	engine->core.phase = PHASE_RELEASING;
	engine->core.tracees.restoring = true;
	engine->release_ns = clock_now_ns();
	engine->release_looks = 0;
	engine->next_tick_ns = engine->release_ns;
	arm_lift_all(engine);
	stalls_end_all(engine);
	provoke_end(engine);
	hunt_end(engine);
	record_end(engine);
	freeze_end(&engine->freeze);
	startup_end(&engine->startups);
	profile_end(&engine->profile);
	for (size_t i = engine->core.tracees.processes.count; i-- > 0;)
		release_process(engine,
				tracees_process_at(&engine->core.tracees, i));
	release_check_done(engine);
}
