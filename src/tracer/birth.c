/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Births and exec; see birth.h.
 */
#include "tracer/birth.h"

#include <linux/kcmp.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/error.h"
#include "guardian/guardian.h"
#include "sys/procfs.h"
#include "sys/trace.h"
#include "tracee/breakpoint.h"
#include "tracee/copy.h"
#include "tracee/hold.h"
#include "tracee/parking.h"
#include "tracee/resume.h"
#include "tracee/sigstate.h"
#include "tracee/step.h"
#include "tracee/thread.h"
#include "tracee/upstart.h"
#include "tracer/announce.h"
#include "tracer/arm.h"
#include "tracer/copies.h"
#include "tracer/creation.h"
#include "tracer/death.h"
#include "tracer/engine.h"
#include "tracer/forget.h"
#include "tracer/hunt.h"
#include "tracer/orphans.h"
#include "tracer/privileged.h"
#include "tracer/record.h"
#include "tracer/release.h"
#include "tracer/startup.h"

/* Is tid a thread of the process? (tgkill(2) with signal 0) */
static bool birth_is_thread(pid_t pid, pid_t tid)
{
	return syscall(SYS_tgkill, pid, tid, 0) == 0;
}

bool birth_shares_memory(pid_t creator, pid_t child, enum stop_kind kind)
{
	long order = syscall(SYS_kcmp, creator, child, KCMP_VM, 0, 0);

	return order >= 0 ? order == 0 : kind == STOP_VFORK;
}

/* What the parent may do later is not the child's. */
static void birth_inherit_signals(struct process *process,
				  const struct process *parent)
{
	process->trap_ignored = parent->trap_ignored;
	process->trap_caught = parent->trap_caught;
	process->trap_learned_ns = parent->trap_learned_ns;
	process->trap_action_known = parent->trap_action_known;
	memcpy(process->trap_action, parent->trap_action,
	       sizeof(process->trap_action));
	process->syscall_address = parent->syscall_address;
}

/*
 * A process in its creator's memory, or with a copy that is cleaned at its
 * first stop, by what the creator's space knows of breakpoints.
 */
static struct error *birth_process(struct engine *engine,
				   const struct process *parent, pid_t pid,
				   enum process_role role, struct process **ret)
{
	struct process *process;
	struct error *err;

	err = process_create(pid, role, parent->space, &process);
	if (err)
		return err;
	parent->space->users++;
	if (!vec_push(&engine->core.tracees.processes, &process)) {
		process_destroy(process);
		return error_nomem;
	}
	process->parent = parent->pid;
	process->of_copy = parent->role == PROCESS_COPY;
	/* what its parent holds still, it holds too */
	process->copied_ns = process->of_copy ? parent->copied_ns : 0;
	birth_inherit_signals(process, parent);
	*ret = process;
	return NULL;
}

struct error *birth_guest(struct engine *engine, const struct process *parent,
			  pid_t pid, struct process **ret)
{
	return birth_process(engine, parent, pid, PROCESS_GUEST, ret);
}

/* The process that the newborn belongs to, made if need be. */
static struct error *birth_home(struct engine *engine, struct thread *creator,
				pid_t tid, enum stop_kind kind,
				struct process **ret)
{
	struct process *parent = creator->process;
	enum process_role role = PROCESS_COPY;

	if (kind == STOP_CLONE && birth_is_thread(parent->pid, tid)) {
		*ret = parent;
		return NULL;
	}
	/* one in the memory of a copy uses a copy */
	if (parent->role != PROCESS_COPY &&
	    birth_shares_memory(parent->pid, tid, kind))
		role = PROCESS_GUEST;
	return birth_process(engine, parent, tid, role, ret);
}

bool birth_is_awaited(const struct engine *engine,
		      const struct process *process)
{
	if (engine->core.phase != PHASE_WATCHING ||
	    engine->follow == WIRE_FOLLOW_NONE)
		return false;
	for (size_t i = 0; i < engine->core.tracees.processes.count; i++) {
		const struct process *child =
			tracees_process_at(&engine->core.tracees, i);

		if (child->parent == process->pid &&
		    child->role == PROCESS_COPY && child->threads.count > 0 &&
		    process_thread(child, 0)->newborn)
			return true;
	}
	return false;
}

bool birth_may_exec(const struct engine *engine)
{
	for (size_t i = 0; i < engine->core.tracees.processes.count; i++) {
		if (engine->follow == WIRE_FOLLOW_ALL &&
		    tracees_process_at(&engine->core.tracees, i)->role ==
			    PROCESS_GUEST)
			return true;
	}
	return false;
}

/* Its first stop may have been seen before the event that announces it. */
static bool birth_take_orphan(struct engine *engine, pid_t tid,
			      struct stop_reason *ret)
{
	for (size_t i = 0; i < engine->orphans.stops.count; i++) {
		*ret = *(struct stop_reason *)vec_at(&engine->orphans.stops, i);
		if (ret->tid != tid)
			continue;
		vec_remove_swap(&engine->orphans.stops, i);
		return true;
	}
	return false;
}

/*
 * No memory to follow a newborn: it waits for its first stop, unless that came
 * before, and is detached, as is everything else.
 */
static void birth_give_up(struct engine *engine, struct process *parent,
			  pid_t tid)
{
	struct addrspace *space = parent->space;
	struct stop_reason stop;
	bool stopped;

	space->users++;
	engine_release(engine);
	stopped = birth_take_orphan(engine, tid, &stop);
	if (!stopped) {
		struct error *err = wait_thread_stop(tid, &stop);

		stopped = !err;
		error_free(err);
	}
	if (stopped)
		orphans_let_go(&engine->orphans, space, &stop);
	addrspace_release(space);
}

/*
 * Was its creator a thread of the process, as far as can be told? Threads and
 * children of the others wait on; a child of one that has ended has a new
 * parent.
 */
static bool birth_is_left_by(const struct engine *engine,
			     const struct process *process,
			     const struct thread_status *orphan)
{
	const struct process *parent =
		tracees_process(&engine->core.tracees, orphan->parent);

	if (tracees_process(&engine->core.tracees, orphan->tgid))
		return false;
	return !parent || parent == process;
}

/*
 * Watch a child that nobody announced: it has its first stop once more.
 * False: it is not to be watched, or there is no memory for that.
 */
static bool birth_adopt(struct engine *engine, const struct process *parent,
			const struct thread_status *status,
			const struct stop_reason *stop)
{
	struct process *process;
	struct thread *thread;
	struct error *err;

	if (engine->core.phase != PHASE_WATCHING ||
	    engine->follow == WIRE_FOLLOW_NONE || status->tgid != stop->tid ||
	    parent->role == PROCESS_COPY)
		return false;
	err = birth_process(engine, parent, stop->tid, PROCESS_COPY, &process);
	if (!err) {
		err = tracees_add_thread(&engine->core.tracees, process,
					 stop->tid, &thread);
		if (err)
			forget_process(engine, process);
	}
	if (err) {
		error_free(err);
		return false;
	}
	thread->newborn = true;
	if (vec_push(&engine->core.tracees.early, stop))
		return true;
	thread->state = THREAD_GONE;
	forget_thread(engine, thread);
	forget_process(engine, process);
	return false;
}

void birth_leave_orphans(struct engine *engine, const struct process *process)
{
	for (size_t i = engine->orphans.stops.count; i-- > 0;) {
		struct stop_reason stop = *(
			struct stop_reason *)vec_at(&engine->orphans.stops, i);
		struct thread_status status;
		struct error *err;

		err = procfs_status(stop.tid, &status);
		if (!err && !birth_is_left_by(engine, process, &status))
			continue;
		vec_remove_swap(&engine->orphans.stops, i);
		if (!err && birth_adopt(engine, process, &status, &stop))
			continue;
		engine->orphans.left = true;
		if (err != error_gone)
			orphans_let_go(&engine->orphans, process->space, &stop);
		error_free(err);
	}
}

/* It was detached as an orphan, or has ended: no stop of it will come. */
static bool birth_is_over(const struct engine *engine, pid_t tid)
{
	struct thread_status status;
	struct error *err;
	bool over;

	if (!engine->orphans.left)
		return false;
	err = procfs_status(tid, &status);
	over = err ? err == error_gone : status.tracer != getpid();
	error_free(err);
	return over;
}

/*
 * What has run before is armed again, for a thread that may race with it. Nothing
 * is armed while a stall runs: those of that kind end.
 */
static void birth_rearm(struct engine *engine, struct process *process)
{
	stalls_end_once(engine);
	sigstate_settle_young(&engine->core.tracees, process);
	arm_spent(engine, process->space->text->program);
}

bool birth_announced(struct engine *engine, struct thread *creator,
		     const struct stop_reason *stop, struct stop_reason *ret)
{
	struct process *home;
	struct thread *child;
	unsigned long message;
	struct error *err;
	pid_t tid;

	err = trace_event_message(creator->tid, &message);
	if (err) {
		/*
		 * the new thread is detached with the others without a record
		 */
		if (err != error_gone && engine->orphans.stops.count == 0)
			engine->orphans.unannounced++;
		thread_must(&engine->core.tracees, creator, err);
		return false;
	}
	tid = (pid_t)message;
	if (birth_is_over(engine, tid))
		return false;
	err = birth_home(engine, creator, tid, stop->kind, &home);
	if (!err)
		err = tracees_add_thread(&engine->core.tracees, home, tid,
					 &child);
	if (err) {
		core_note(&engine->core, err);
		birth_give_up(engine, creator->process, tid);
		return false;
	}
	child->newborn = true;
	if (home == creator->process || engine->follow != WIRE_FOLLOW_NONE)
		thread_set_path(child, creator);
	if (home == creator->process)
		thread_set_place(child, creator);
	if (home != creator->process && creator->process->role != PROCESS_COPY)
		home->copied_ns = creator->unforked_ns;
	creator->unforked_ns = clock_now_ns();
	if (home->role == PROCESS_WATCHED && home == creator->process)
		creation_record(&engine->creations, child, creator);
	/* where nothing is armed, it shows its parent's DR7 */
	child->watch.shows_parent = creator->watch.control != 0;
	sigstate_newborn(&engine->core.tracees, child, creator);
	if (home == creator->process) {
		announce_thread(&engine->core, &engine->govern, home);
		record_born(engine, child);
		if (home->threads.count == 2)
			replays_begun(&engine->replays, home->space);
		if (startup_begin(&engine->startups, creator))
			birth_rearm(engine, home);
	}
	return birth_take_orphan(engine, tid, ret);
}

/*
 * The child has an address space of its own from now on, in which the same
 * program runs. False: out of memory; it is clean and must be detached.
 */
static bool birth_follow(struct engine *engine, struct process *process)
{
	struct addrspace *space;
	struct error *err =
		tracees_fork_space(&engine->core.tracees, process, &space);

	if (!err && !sharing_inherit(space, process->space)) {
		error_free(breakpoint_clean_copy(space, &space->memory,
						 process->pid,
						 process->copied_ns));
		addrspace_release(space);
		err = error_nomem;
	}
	if (err) {
		core_note(&engine->core, err);
		return false;
	}
	addrspace_release(process->space);
	process->space = space;
	process->role = PROCESS_WATCHED;
	announce_begin(&engine->core, &engine->govern, process);
	return true;
}

/* Its files can be opened now, and not after copy_close(). */
static void birth_await_guardian(struct engine *engine,
				 const struct addrspace *space)
{
	core_note(&engine->core, guardian_await_space(space->text->guardian,
						      space->guardian_space));
}

/*
 * What its parent did with SIGTRAP, it does too (fork(2)); and it is followed, or
 * cleaned, as is whatever may be in the memory of one that is not followed.
 */
static void birth_take_copy(struct engine *engine, struct thread *thread)
{
	struct process *process = thread->process;
	bool watching = engine->core.phase == PHASE_WATCHING;
	struct copy copy;

	process->taken = true;
	copy_open(&copy, process->pid, thread->tid, process->space,
		  process->syscall_address);
	sigstate_restore_child(&engine->core.tracees, thread, &copy.memory);
	if (!watching || engine->follow == WIRE_FOLLOW_NONE ||
	    process->of_copy || !birth_follow(engine, process)) {
		copies_clean(&engine->core, thread, &copy);
		engine->core.stats.unwatched += watching;
	} else if (copy.opened) {
		birth_await_guardian(engine, process->space);
	}
	core_note(&engine->core, copy_close(&copy));
}

void birth_first_stop(struct engine *engine, struct thread *thread)
{
	thread->newborn = false;
	switch (thread->process->role) {
	case PROCESS_COPY:
		/* or it is a thread of one that is traced for now */
		if (!thread->process->taken)
			birth_take_copy(engine, thread);
		break;
	case PROCESS_WATCHED:
		upstart_begin(&engine->core.tracees, thread);
		record_begun(engine, thread);
		startup_newborn(&engine->startups, thread);
		break;
	case PROCESS_GUEST:
		sigstate_restore_child(&engine->core.tracees, thread,
				       &thread->process->space->memory);
		break;
	}
	engine_go_on(engine, thread);
}

/* The other threads died in the exec, without their ends being told. */
static void birth_leave_alone(struct engine *engine, struct thread *thread)
{
	struct process *process = thread->process;

	for (size_t i = process->threads.count; i-- > 0;) {
		struct thread *other = process_thread(process, i);

		if (other == thread)
			continue;
		other->state = THREAD_GONE;
		forget_thread(engine, other);
	}
}

/* What the kernel dropped in the exec: events, registers, the parking. */
static void birth_reset_thread(struct engine *engine, struct thread *thread)
{
	profile_exec(&engine->profile, thread);
	thread_unpark(thread);
	watch_settled(&engine->core.tracees.watch, thread);
	forget_hold(engine, hold_lose(thread));
	step_lose(&engine->core.tracees, thread);
	watch_by_perf.clear(&engine->core.tracees, thread);
	memset(thread->watch.generation, 0, sizeof(thread->watch.generation));
	memset(thread->watch.address, 0, sizeof(thread->watch.address));
	thread->watch.control = 0;
	memset(&thread->signals, 0, sizeof(thread->signals));
	creation_forget(&engine->creations, thread);
	thread_begin_place(thread);
}

/* The memory that the exec has made takes the place of what it replaced. */
static void birth_take_space(struct engine *engine, struct process *process,
			     struct addrspace *space)
{
	announce_end(&engine->core, &engine->govern, process);
	hunt_leave(engine, process);
	engine_leave_space(engine, process);
	process->space = space;
	process->threads_most = (uint32_t)process->threads.count;
	process->waited = false;
	death_forget(process);
	/* what it ignored it still ignores, and handlers are gone (execve(2)) */
	process->trap_caught = false;
	process->trap_action_known = false;
	process->trap_looked_ns = 0;
	process->ever_armed = false;
	process->syscall_address = 0;
}

/*
 * What the exec replaced is given up first, so that there is room for what it
 * began. False: there is none.
 */
static bool birth_new_space(struct engine *engine, struct process *process)
{
	struct addrspace *space;
	struct error *err;

	addrspace_unprotect(process->space);
	err = tracees_make_space(&engine->core.tracees, process->pid, &space);
	if (err) {
		core_note(&engine->core, err);
		return false;
	}
	birth_take_space(engine, process, space);
	return true;
}

/*
 * The process is not watched any more. It has one thread, which waits for no
 * other, and memory without a breakpoint.
 */
static void birth_leave(struct engine *engine, struct thread *thread)
{
	thread->process->role = PROCESS_COPY;
	release_thread(engine, thread);
}

/* Without memory for its new record, everything is detached. */
static void birth_do_not_follow(struct engine *engine, struct thread *thread)
{
	struct process *process = thread->process;
	bool watching = engine->core.phase < PHASE_RELEASING;
	struct addrspace *space;
	struct error *err;

	if (process->role == PROCESS_WATCHED) {
		err = addrspace_create(process->pid, &space);
		core_note(&engine->core, err);
		if (!err)
			birth_take_space(engine, process, space);
		else if (watching) {
			engine_release(engine);
			return;
		}
	}
	engine->core.stats.unwatched += watching;
	birth_leave(engine, thread);
}

/* There is no room for it: the others are watched on, if there are any. */
static void birth_cannot_follow(struct engine *engine, struct thread *thread)
{
	const struct process *process = thread->process;
	bool watched = process->role == PROCESS_WATCHED;

	if (process->pid == engine->pid ||
	    tracees_watched_count(&engine->core.tracees) == (size_t)watched)
		engine_release(engine);
	else
		birth_leave(engine, thread);
}

/* Is the process to be watched on, with its new program? */
static bool birth_follows_exec(const struct engine *engine,
			       const struct process *process)
{
	if (engine->core.phase >= PHASE_RELEASING)
		return false;
	/* those that were asked for by name stay watched, whatever they run */
	return engine->follow == WIRE_FOLLOW_ALL ||
	       (process->role == PROCESS_WATCHED && process->parent == 0);
}

void birth_exec(struct engine *engine, struct thread *thread)
{
	struct process *process = thread->process;
	bool watched = process->role == PROCESS_WATCHED;
	bool starting = engine->core.phase == PHASE_STARTING;

	process->unclean = false;
	birth_leave_alone(engine, thread);
	birth_leave_orphans(engine, process);
	birth_reset_thread(engine, thread);
	if (!birth_follows_exec(engine, process)) {
		birth_do_not_follow(engine, thread);
		return;
	}
	/* what the tracer's own child ran until now was no program to watch */
	if (starting)
		engine->core.tracees.programs = 0;
	if (!birth_new_space(engine, process)) {
		birth_cannot_follow(engine, thread);
		return;
	}
	process->role = PROCESS_WATCHED;
	privileged_check(&engine->privileged, process);
	if (starting)
		engine->core.phase = PHASE_WATCHING;
	else if (watched)
		announce_exec(&engine->core, &engine->govern, process);
	else
		announce_begin(&engine->core, &engine->govern, process);
	hunt_exec(engine, process);
}
