/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Stops and ends of tracees, one function each. The table at the end says
 * which.
 */
#include <signal.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/log.h"
#include "sys/memory.h"
#include "sys/trace.h"
#include "tracee/breakpoint.h"
#include "tracee/displaced.h"
#include "tracee/parking.h"
#include "tracee/resume.h"
#include "tracee/sigstate.h"
#include "tracee/step.h"
#include "tracee/thread.h"
#include "tracee/upstart.h"
#include "tracee/watch-update.h"
#include "tracer/arm.h"
#include "tracer/birth.h"
#include "tracer/death.h"
#include "tracer/engine.h"
#include "tracer/forget.h"
#include "tracer/freeze.h"
#include "tracer/hunt.h"
#include "tracer/orphans.h"
#include "tracer/profile-stops.h"
#include "tracer/provoke-sites.h"
#include "tracer/record.h"
#include "tracer/release.h"
#include "x86/int3.h"

enum { INT_IMM8 = 0xcd, INT_NUMBER = 3, DR_STATUS = 6, DR_STATUS_SLOTS = 0xf };

/*
 * The end of the first process is told when no other is watched any more, as
 * strace(1) -f has it.
 */
static void event_check_ended(struct engine *engine)
{
	if (!engine->first_ended || engine->ended ||
	    (engine->core.phase == PHASE_WATCHING &&
	     (tracees_watched_count(&engine->core.tracees) > 0 ||
	      birth_may_exec(engine))))
		return;
	hunt_end(engine);
	record_end(engine);
	engine_tell_end(engine);
	/* children made by vfork may outlive it, and are still traced */
	if (engine->core.tracees.threads.count > 0)
		engine_release(engine);
	else
		engine->core.phase = PHASE_DONE;
}

static void event_first_ended(struct engine *engine,
			      const struct stop_reason *stop)
{
	engine->first_ended = true;
	engine->first_status = stop->raw;
	if (engine->rest_ns != 0)
		engine->rest_until_ns = clock_now_ns() + engine->rest_ns;
	event_check_ended(engine);
}

/*
 * The last thread of the process has ended. A process that has children whose
 * first stop is still to come stays on record until then: they begin with its
 * program, and with what it did with signals.
 */
static void event_process_over(struct engine *engine, struct process *process)
{
	if (birth_is_awaited(engine, process))
		return;
	if (process->role == PROCESS_WATCHED && !engine->orphans.last_space &&
	    tracees_watched_count(&engine->core.tracees) == 1) {
		engine->orphans.last_space = process->space;
		engine->orphans.last_space->users++;
	}
	forget_process(engine, process);
}

/* A child of it has had its first stop, or has ended before that. */
static void event_parent_over(struct engine *engine, pid_t pid)
{
	struct process *parent =
		pid ? tracees_process(&engine->core.tracees, pid) : NULL;

	if (!parent || parent->threads.count > 0 ||
	    engine->core.phase != PHASE_WATCHING)
		return;
	event_process_over(engine, parent);
	event_check_ended(engine);
}

static void event_end(struct engine *engine, struct thread *thread,
		      const struct stop_reason *stop)
{
	struct process *process = thread->process;
	pid_t parent = process->parent;
	bool headless;

	thread->state = THREAD_GONE;
	provoke_ended(engine, thread);
	forget_thread(engine, thread);
	/*
	 * the leader had exited before we attached, so its end, which is that
	 * of the process, is not ours to wait for
	 */
	headless = process->threads.count == 0 && process->pid == engine->pid &&
		   stop->tid != engine->pid &&
		   engine->core.phase == PHASE_WATCHING;
	if (process->threads.count == 0) {
		death_ended(&engine->core, process, stop);
		birth_leave_orphans(engine, process);
		event_process_over(engine, process);
		event_parent_over(engine, parent);
	}
	/*
	 * the leader's end is told last, and is that of the process; when
	 * releasing, other threads may end after the leader was detached
	 */
	if (stop->tid == engine->pid || headless)
		event_first_ended(engine, stop);
	else
		event_check_ended(engine);
	release_check_done(engine);
}

/* A stop or end of somebody unknown. */
static void event_unknown(struct engine *engine, const struct stop_reason *stop)
{
	bool end = stop->kind == STOP_EXITED || stop->kind == STOP_KILLED;

	if (end && stop->tid == engine->pid)
		event_first_ended(engine, stop);
	else if (stop->kind == STOP_EXEC &&
		 engine->core.phase >= PHASE_RELEASING)
		/* forgotten while it had neither id: the text is new anyway */
		orphans_detach(&engine->orphans, stop);
	else if (!end && engine->orphans.last_space &&
		 engine->core.tracees.threads.count == 0)
		/* nobody is left to announce it */
		orphans_let_go(&engine->orphans, engine->orphans.last_space,
			       stop);
	else if (!end && !vec_push(&engine->orphans.stops, stop))
		core_note(&engine->core, error_nomem);
	else if (engine->orphans.unannounced > 0)
		engine->orphans.unannounced--;
	/* on a busy machine it may come when waiting for it has ended */
	if (engine->core.phase == PHASE_RELEASED)
		orphans_leave_all(&engine->orphans);
}

/*
 * After an exec by another thread than the leader, that thread has the leader's
 * id. The leader's record was freed already if it was detached.
 */
static struct thread *event_former(struct engine *engine,
				   const struct stop_reason *stop)
{
	unsigned long former;
	struct thread *thread;
	struct error *err;

	if (stop->kind != STOP_EXEC)
		return NULL;
	err = trace_event_message(stop->tid, &former);
	thread = err ? NULL
		     : tracees_thread(&engine->core.tracees, (pid_t)former);
	error_free(err);
	if (!thread)
		return NULL;
	/* room for the one has just become free */
	map_remove(&engine->core.tracees.threads, (uint64_t)thread->tid);
	thread->tid = stop->tid;
	thread->own_tid = 0;
	map_set(&engine->core.tracees.threads, (uint64_t)thread->tid,
		(uint64_t)(uintptr_t)thread);
	return thread;
}

/* The program's own trap: it gets its signal. */
static void event_deliver(struct engine *engine, struct thread *thread,
			  int signal)
{
	log_debug(LOG_TARGET, "thread %d: signal %d is its own",
		  (int)thread->tid, signal);
	step_signalled(&engine->core.tracees, thread, signal);
	if (signal != SIGSTOP)
		provoke_raised(engine, thread);
	death_signal(thread, signal);
	thread->deliver = signal;
	engine_go_on(engine, thread);
}

/* Is there an int3 in the text now? *ret_known: it could be read. */
static bool event_has_int3(const struct thread *thread, uint64_t address,
			   bool *ret_known)
{
	const struct memory *memory = &thread->process->space->memory;
	struct error *err;
	uint8_t byte = 0;
	size_t size;

	err = memory_read(memory, address, &byte, 1, &size);
	*ret_known = !err;
	error_free(err);
	if (err || byte != INT_NUMBER)
		return !err && byte == X86_INT3;
	/* the long form, of two bytes */
	err = memory_read(memory, address - 1, &byte, 1, &size);
	error_free(err);
	return !err && byte == INT_IMM8;
}

/*
 * Is the int3 that ends there the program's own? One that is in the text and
 * not armed is; one that is not in the text any more was of ours, which may
 * have been forgotten since.
 */
static bool event_is_own(const struct thread *thread,
			 const struct breakpoint *breakpoint, uint64_t address)
{
	bool known;

	if (breakpoint && breakpoint->armed)
		return false;
	return event_has_int3(thread, address, &known) ||
	       (!known && !breakpoint);
}

/* The thread stands on a breakpoint of its own address space, rip back. */
static void event_hit(struct engine *engine, struct thread *thread,
		      struct breakpoint *breakpoint,
		      const struct x86_registers *regs)
{
	struct addrspace *space = thread->process->space;
	bool wanted =
		!breakpoint->predicate ||
		breakpoint->predicate(thread, regs, breakpoint->predicate_data);
	struct wire_site site = breakpoint->site;
	bool stays = breakpoint->policy == BREAKPOINT_PERSISTENT || !wanted;
	enum pool_hit hit = POOL_HIT_DONE;

	if (site.provoke && provoke_hit(engine, thread, breakpoint, regs))
		return;
	if (site.record && record_hit(engine, thread, breakpoint, regs)) {
		engine_go_on(engine, thread);
		return;
	}
	if (site.hunt) {
		hunt_hit(engine, thread, &site, regs);
		/* held, or let go on by a hold that has ended already */
		if (thread->hold || thread->state == THREAD_RUNNING)
			return;
	}
	if (stays && space->text->execpoints) {
		/* the kernel has set the resume flag */
		engine_go_on(engine, thread);
		return;
	}
	if (stays && site.provoke && !engine->child) {
		provoke_sites_pass(engine, thread, breakpoint, regs);
		engine_go_on(engine, thread);
		return;
	}
	if (stays) {
		step_over_breakpoint(&engine->core.tracees, thread, breakpoint,
				     regs);
		thread_resume(&engine->core.tracees, thread);
		return;
	}
	core_note(&engine->core,
		  breakpoint_lift(space, thread->tid, breakpoint));
	engine->core.stats.hits += !(site.id & WIRE_PROBE);
	engine->core.stats.hits_once += site.once;
	engine->core.stats.hits_aimed += (site.id & WIRE_AIMED) != 0;
	breakpoint->fired = true;
	breakpoint->predicate = NULL;
	arm_fired(engine, &site);
	if (thread->process->role == PROCESS_WATCHED &&
	    engine->core.phase == PHASE_WATCHING && !thread->step)
		hit = stall_hit(engine, thread, breakpoint, regs);
	else
		engine_go_on(engine, thread);
	arm_return_fired(engine, &site, hit);
}

/* The record of an int3 there that may be ours. */
static struct breakpoint *event_breakpoint(const struct thread *thread,
					   uint64_t address)
{
	const struct addrspace *space = thread->process->space;

	return space->text->execpoints ? NULL : breakpoint_find(space, address);
}

/*
 * In a copy of the memory that could not be cleaned. What is read is the text of
 * another process: the records alone tell whose int3 it is.
 */
static void event_copied(struct engine *engine, struct thread *thread)
{
	struct x86_registers regs;

	if (!thread_ok(thread, trace_registers(thread->tid, &regs)))
		return;
	if (!event_breakpoint(thread, regs.rip - 1)) {
		event_deliver(engine, thread, SIGTRAP);
		return;
	}
	if (!thread_ok(thread, trace_set_rip(thread->tid, regs.rip - 1)))
		return;
	/* whether it has lost anything is not told while no file can be opened */
	thread->process->trapped = true;
	sigstate_restore_mask(thread);
	engine_go_on(engine, thread);
}

static void event_int3(struct engine *engine, struct thread *thread)
{
	struct breakpoint *breakpoint;
	struct x86_registers regs;

	if (thread->process->role == PROCESS_COPY) {
		event_copied(engine, thread);
		return;
	}
	if (!thread_ok(thread, trace_registers(thread->tid, &regs)))
		return;
	breakpoint = event_breakpoint(thread, regs.rip - 1);
	if (event_is_own(thread, breakpoint, regs.rip - 1)) {
		event_deliver(engine, thread, SIGTRAP);
		return;
	}
	/* first of all: a thread that stands there lives if we die now */
	regs.rip--;
	if (!thread_ok(thread, trace_set_rip(thread->tid, regs.rip)))
		return;
	sigstate_restore(&engine->core.tracees, thread);
	profile_stopped(&engine->profile, thread, &regs);
	/* lifted for a moment only, it was met all the same */
	if (breakpoint && (breakpoint->armed || breakpoint->passing > 0 ||
			   provoke_sites_returns(engine, breakpoint))) {
		event_hit(engine, thread, breakpoint, &regs);
		return;
	}
	/*
	 * the trap of a location lifted since, of which nothing may be known any
	 * more: it goes on as if nothing was
	 */
	engine_go_on(engine, thread);
}

/*
 * Did the thread stop before an instruction that is armed? A stop that comes
 * late, since SIGTRAP was blocked, finds it elsewhere.
 */
static bool event_execution(struct engine *engine, struct thread *thread,
			    uint8_t slots, const uint64_t gens[DREGS_SLOTS])
{
	const struct addrspace *space = thread->process->space;
	const struct program_text *text = space->text;
	const struct execpoint *point = NULL;
	struct breakpoint *breakpoint;
	struct x86_registers regs;

	if (text->execpoints)
		point = execpoint_of_trap(text->execpoints, text, slots, gens);
	if (!point || !thread_ok(thread, trace_registers(thread->tid, &regs)))
		return false;
	breakpoint = breakpoint_find(space, point->address);
	if (!breakpoint || regs.rip != point->address ||
	    !breakpoint_text_matches(space, &breakpoint->site))
		return false;
	event_hit(engine, thread, breakpoint, &regs);
	return true;
}

static void event_watch(struct engine *engine, struct thread *thread,
			const struct trap_info *info)
{
	const struct watch_ops *ops = info->code == TRAP_CODE_WATCH
					      ? &watch_by_registers
					      : &watch_by_perf;
	uint64_t gens[DREGS_SLOTS] = { 0 };
	uint8_t slots = ops->trapped(thread, info, gens);

	if (slots == 0 && !engine->core.tracees.stuck) {
		event_deliver(engine, thread, SIGTRAP);
		return;
	}
	thread_unpark(thread);
	if (event_execution(engine, thread, slots, gens))
		return;
	/*
	 * The kernel forces the signal of a debug register, as that of int3. A
	 * hold may end when it begins: then the thread runs.
	 */
	if (info->code == TRAP_CODE_WATCH)
		sigstate_restore(&engine->core.tracees, thread);
	if (!provoke_trap(engine, slots, gens) &&
	    !hunt_trap(engine, thread, slots, gens))
		stall_trap(engine, thread, slots, gens);
	engine_go_on(engine, thread);
}

/*
 * A SIGTRAP sent by kill(2) and the like. If one was pending when the thread
 * met a breakpoint, the breakpoint's own got lost in it: there is one of each
 * standard signal at most. The thread then stands behind an int3 of ours.
 */
static void event_sent_trap(struct engine *engine, struct thread *thread)
{
	const struct breakpoint *breakpoint = NULL;
	struct x86_registers regs;
	bool known;

	if (thread->process->role == PROCESS_COPY) {
		event_deliver(engine, thread, SIGTRAP);
		return;
	}
	if (!thread_ok(thread, trace_registers(thread->tid, &regs)))
		return;
	if (event_has_int3(thread, regs.rip - 1, &known))
		breakpoint = event_breakpoint(thread, regs.rip - 1);
	if (!breakpoint || !breakpoint->armed) {
		event_deliver(engine, thread,
			      sigstate_deliver(&engine->core.tracees, thread));
		return;
	}
	/* pending until the thread runs; event_int3() may detach it */
	syscall(SYS_tgkill, thread->process->pid, thread->tid, SIGTRAP);
	event_int3(engine, thread);
}

/*
 * One instruction may be a step and touch watched bytes: the kernel tells of
 * the step then (get_si_code), and DR6 of both.
 */
static void event_step_watch(struct engine *engine, struct thread *thread)
{
	const struct trap_info info = { .code = TRAP_CODE_WATCH };
	uint64_t gens[DREGS_SLOTS] = { 0 };
	uint64_t status;
	uint8_t slots;

	if (thread->watch.control == 0 ||
	    !thread_ok(thread, trace_debug(thread->tid, DR_STATUS, &status)) ||
	    !(status & DR_STATUS_SLOTS))
		return;
	slots = watch_by_registers.trapped(thread, &info, gens);
	if (!provoke_trap(engine, slots, gens))
		stall_trap(engine, thread, slots, gens);
}

static void event_step(struct engine *engine, struct thread *thread)
{
	event_step_watch(engine, thread);
	/* the owner of the step may have given it up meanwhile */
	if (!step_trapped(&engine->core.tracees, thread) && !thread->stepping) {
		event_deliver(engine, thread, SIGTRAP);
		return;
	}
	sigstate_restore(&engine->core.tracees, thread);
	engine_go_on(engine, thread);
}

/* A trap of which the kernel does not tell: by what else is known of it. */
static enum trap_code event_guess(const struct engine *engine,
				  const struct thread *thread)
{
	struct x86_registers regs;
	uint64_t status;
	struct error *err = trace_registers(thread->tid, &regs);

	if (!err && breakpoint_find(thread->process->space, regs.rip - 1))
		return TRAP_CODE_BREAKPOINT;
	error_free(err);
	err = trace_debug(thread->tid, DR_STATUS, &status);
	if (!err && (status & DR_STATUS_SLOTS))
		return TRAP_CODE_WATCH;
	error_free(err);
	/* to lose a signal sent to it is better than to die of one of ours */
	return watch_ops_of(&engine->core.tracees.watch, thread) ==
			       &watch_by_perf
		       ? TRAP_CODE_PERF
		       : TRAP_CODE_OTHER;
}

/* False: the thread has vanished. */
static bool event_trap_info(struct engine *engine, struct thread *thread,
			    struct trap_info *ret)
{
	struct error *err = trace_trap_info(thread->tid, ret);

	if (!err || err == error_gone)
		return thread_ok(thread, err);
	thread_must(&engine->core.tracees, thread, err);
	*ret = (struct trap_info){ .code = event_guess(engine, thread) };
	return true;
}

static void event_trap(struct engine *engine, struct thread *thread)
{
	struct trap_info info;

	if (!event_trap_info(engine, thread, &info))
		return;
	switch (info.code) {
	case TRAP_CODE_BREAKPOINT:
		event_int3(engine, thread);
		break;
	case TRAP_CODE_WATCH:
	case TRAP_CODE_PERF:
		event_watch(engine, thread, &info);
		break;
	case TRAP_CODE_STEP:
		event_step(engine, thread);
		break;
	case TRAP_CODE_HANDLER:
		/* nothing else stops so, but the program may send such a code */
		if (thread->stepping)
			event_step(engine, thread);
		else
			event_sent_trap(engine, thread);
		break;
	case TRAP_CODE_OTHER:
		event_sent_trap(engine, thread);
		break;
	}
}

static void event_signal(struct engine *engine, struct thread *thread,
			 const struct stop_reason *stop)
{
	if (stop->signal == SIGTRAP) {
		event_trap(engine, thread);
	} else if (stop->signal == TRACE_SYSCALL_SIGNAL) {
		upstart_at_call(&engine->core.tracees, thread);
		engine_go_on(engine, thread);
	} else if (stop->signal != SIGSTOP ||
		   !freeze_stopping(&engine->freeze, thread)) {
		event_deliver(engine, thread, stop->signal);
	}
}

/* Before it is so: the tracer may be killed at any moment. */
static void event_note_stopped(const struct thread *thread, bool stopped)
{
	const struct process *process = thread->process;

	addrspace_note_stopped(process->space, process->pid, stopped);
}

/* Nothing is left to be done there: it is detached, and stays stopped. */
static bool event_is_clean_copy(const struct process *process)
{
	return process->role == PROCESS_COPY && process->taken &&
	       !process->unclean;
}

static void event_group(struct engine *engine, struct thread *thread,
			const struct stop_reason *stop)
{
	(void)stop;
	thread->newborn = false;
	switch (freeze_grouped(&engine->freeze, thread)) {
	case FREEZE_GROUP_OTHER:
		break;
	case FREEZE_GROUP_WAITS:
		return;
	case FREEZE_GROUP_BEGUN:
		engine_release(engine);
		return;
	}
	if (engine->core.phase == PHASE_RELEASING ||
	    event_is_clean_copy(thread->process)) {
		engine_go_on(engine, thread);
		return;
	}
	watch_settled(&engine->core.tracees.watch, thread);
	event_note_stopped(thread, true);
	if (thread_must(&engine->core.tracees, thread,
			trace_listen(thread->tid)))
		thread->state = THREAD_LISTENING;
}

static void event_interrupted(struct engine *engine, struct thread *thread,
			      const struct stop_reason *stop)
{
	pid_t parent = thread->process->parent;

	(void)stop;
	if (thread->newborn) {
		birth_first_stop(engine, thread);
		event_parent_over(engine, parent);
		return;
	}
	if (sigstate_at_stop(&engine->core.tracees, thread))
		arm_leave_handler(engine, thread);
	profile_stopped(&engine->profile, thread, NULL);
	provoke_stopped(engine, thread);
	engine_go_on(engine, thread);
}

/* What came before may have let the thread go, and its record with it. */
static void event_go_on(struct engine *engine, pid_t tid)
{
	struct thread *thread = tracees_thread(&engine->core.tracees, tid);

	if (thread)
		engine_go_on(engine, thread);
}

static void event_birth(struct engine *engine, struct thread *thread,
			const struct stop_reason *stop)
{
	struct stop_reason first;

	thread->vforking = stop->kind == STOP_VFORK;
	if (birth_announced(engine, thread, stop, &first))
		engine_event(engine, &first);
	event_go_on(engine, stop->tid);
}

static void event_vfork_done(struct engine *engine, struct thread *thread,
			     const struct stop_reason *stop)
{
	(void)stop;
	thread->vforking = false;
	engine_go_on(engine, thread);
}

static void event_exec(struct engine *engine, struct thread *thread,
		       const struct stop_reason *stop)
{
	birth_exec(engine, thread);
	event_go_on(engine, stop->tid);
}

static void event_other(struct engine *engine, struct thread *thread,
			const struct stop_reason *stop)
{
	(void)stop;
	engine_go_on(engine, thread);
}

typedef void event_handler(struct engine *engine, struct thread *thread,
			   const struct stop_reason *stop);

static event_handler *const event_handlers[] = {
	[STOP_EXITED] = event_end,
	[STOP_KILLED] = event_end,
	[STOP_SIGNAL] = event_signal,
	[STOP_GROUP] = event_group,
	[STOP_INTERRUPTED] = event_interrupted,
	[STOP_CLONE] = event_birth,
	[STOP_FORK] = event_birth,
	[STOP_VFORK] = event_birth,
	[STOP_VFORK_DONE] = event_vfork_done,
	[STOP_EXEC] = event_exec,
	[STOP_OTHER_EVENT] = event_other,
};

/* After the copy of the memory was made, if any. */
static bool event_is_birth(enum stop_kind kind)
{
	return kind == STOP_CLONE || kind == STOP_FORK || kind == STOP_VFORK;
}

/* Registers set there are not those that the call returns with. */
static bool event_is_in_call(enum stop_kind kind)
{
	return event_is_birth(kind) || kind == STOP_VFORK_DONE ||
	       kind == STOP_EXEC;
}

static void event_handle(struct engine *engine, const struct stop_reason *stop)
{
	struct thread *thread =
		tracees_thread(&engine->core.tracees, stop->tid);

	if (!thread)
		thread = event_former(engine, stop);
	if (!thread) {
		event_unknown(engine, stop);
		return;
	}
	log_debug(LOG_TARGET, "thread %d: stop kind %d signal %d",
		  (int)stop->tid, (int)stop->kind, stop->signal);
	/* it may be stopped again in a moment */
	if (thread->state == THREAD_LISTENING && stop->kind != STOP_GROUP)
		event_note_stopped(thread, false);
	thread->state = THREAD_STOPPED;
	displaced_stopped(thread, stop);
	thread->in_call = event_is_in_call(stop->kind);
	if (!event_is_birth(stop->kind))
		thread->unforked_ns = clock_now_ns();
	engine_take_back(engine, thread);
	/* any stop takes a pending interrupt with it (kernel/signal.c) */
	thread->interrupting = false;
	event_handlers[stop->kind](engine, thread, stop);
}

void engine_event(struct engine *engine, const struct stop_reason *stop)
{
	load_stopped(&engine->load);
	event_handle(engine, stop);
	core_send_notes(&engine->core);
	load_handled(&engine->load);
}

void engine_early_events(struct engine *engine)
{
	struct stop_reason stop;

	while (tracees_take_early(&engine->core.tracees, &stop))
		engine_event(engine, &stop);
}
