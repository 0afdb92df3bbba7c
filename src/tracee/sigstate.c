/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Keeping SIGTRAP as the program had it; see sigstate.h.
 */
#include "tracee/sigstate.h"

#include <signal.h>
#include <stddef.h>
#include <string.h>

#include "base/clock.h"
#include "base/error.h"
#include "sys/procfs.h"
#include "sys/remote.h"
#include "sys/trace.h"
#include "tracee/breakpoint.h"
#include "tracee/hold.h"
#include "tracee/thread.h"
#include "tracee/tracees.h"
#include "tracee/watch-update.h"

enum {
	/* between looks at a young thread, which blocks everything for a moment */
	SIGSTATE_YOUNG_NS = 500 * 1000,
	/* by then a thread has set itself up */
	SIGSTATE_FIRST_GAP_NS = 5 * 1000 * 1000,
	SIGSTATE_LOOK_NS = 20 * 1000 * 1000,
	SIGSTATE_LAST_GAP_NS = 1000 * 1000 * 1000,
	SIGSTATE_TOGETHER_NS = CLOCK_BEAT_NS,
	/* of all looks, between one and the next, when nothing is young */
	SIGSTATE_EACH_NS = 4 * 1000 * 1000,
	/* dispositions seen longer ago, times the number of processes, are
	 * looked at again before arming */
	SIGSTATE_STALE_NS = 10 * 1000 * 1000,
	/* the least such age where little time may be lost: hits are rare there */
	SIGSTATE_STALE_LOW_NS = 1000 * 1000 * 1000,
	/* SIG_IGN is put back when the traps of its time have been taken */
	SIGSTATE_RESTORE_NS = 500 * 1000,
	/* a disposition that is default for so long has been made so */
	SIGSTATE_DOUBT_NS = 50 * 1000 * 1000,
	/* a thread of that age, or that blocks everything for so long, means it */
	SIGSTATE_GROWN_NS = 50 * 1000 * 1000,
	/* young threads delay breakpoints no longer than this */
	SIGSTATE_PATIENCE_NS = 100 * 1000 * 1000,
	/* a signal delivered before a disposition was known has arrived */
	SIGSTATE_ARRIVAL_NS = 50 * 1000 * 1000,
	/* a handler that could not be learned is asked for again */
	SIGSTATE_RETRY_NS = 100 * 1000 * 1000,
	/* threads looked at in one go */
	SIGSTATE_BATCH = 32,
	/* of these while a thread is stalled, which the others wait for */
	SIGSTATE_STALL_BATCH = 4,
	SIGSTATE_STALL_NS = 1000 * 1000,
};

static const uint64_t trap_bit = UINT64_C(1) << (SIGTRAP - 1);

/*
 * The signals that a thread blocking "everything" blocks: all but SIGKILL and
 * SIGSTOP, which cannot be, and the two that glibc keeps for itself.
 */
static const uint64_t all_signals =
	~(UINT64_C(1) << (SIGKILL - 1) | UINT64_C(1) << (SIGSTOP - 1) |
	  UINT64_C(3) << 31);

static bool sigstate_blocks_all(uint64_t mask)
{
	return (mask & all_signals) == all_signals;
}

/* Is SIGTRAP's disposition default now, where it was another? */
static bool sigstate_is_reset(const struct process *process,
			      const struct thread_status *status)
{
	return (process->trap_ignored || process->trap_caught) &&
	       !((status->ignored | status->caught) & trap_bit);
}

/*
 * A disposition that has gone may have been reset by a trap of ours whose
 * stop is still to be handled. It is believed when it stays so.
 */
static bool sigstate_doubtful(struct process *process, bool reset, uint64_t now)
{
	if (!reset) {
		process->trap_doubt_ns = 0;
		return false;
	}
	if (process->trap_doubt_ns == 0)
		process->trap_doubt_ns = now;
	return now - process->trap_doubt_ns < SIGSTATE_DOUBT_NS;
}

/* It has a SIGTRAP in its queue that it has not taken. */
static bool sigstate_queued(const struct thread_status *status)
{
	return status->pending & trap_bit;
}

/*
 * A trap of ours may have cleared the bit a moment ago, and not be told yet.
 * One that waits for a thread that blocks it is the program's own, and has
 * cleared nothing.
 */
static bool sigstate_trapping(const struct thread_status *status)
{
	return status->state == 't' ||
	       (status->pending & ~status->blocked & trap_bit);
}

/* Is that so of a thread that runs, as far as we have been told? */
static bool sigstate_any(const struct process *process,
			 bool (*is_so)(const struct thread_status *status))
{
	for (size_t i = 0; i < process->threads.count; i++) {
		const struct thread *thread = process_thread(process, i);
		struct thread_status status;
		struct error *err;

		if (thread->state != THREAD_RUNNING)
			continue;
		err = procfs_status(thread->tid, &status);
		if (!err && is_so(&status))
			return true;
		error_free(err);
	}
	return false;
}

/* A state is told before the queue: a trap taken between is seen in neither. */
static bool sigstate_traps(const struct process *process)
{
	bool any = sigstate_any(process, sigstate_trapping);

	return any || sigstate_any(process, sigstate_trapping);
}

static void sigstate_take_process(struct process *process,
				  const struct thread_status *status,
				  uint64_t now)
{
	bool reset = sigstate_is_reset(process, status);

	process->trap_looked_ns = now;
	if (process->trap_restore_ns != 0 ||
	    sigstate_doubtful(process, reset, now) ||
	    (reset && sigstate_traps(process)))
		return;
	if (!process->trap_ignored && !process->trap_caught)
		process->trap_learned_ns = now;
	process->trap_ignored = status->ignored & trap_bit;
	process->trap_caught = status->caught & trap_bit;
	if (!process->trap_caught)
		process->trap_action_known = false;
}

/* Looks at many threads are not to take more time together than at few. */
static uint64_t sigstate_last_gap(const struct process *process)
{
	uint64_t all = process->threads.count * (uint64_t)SIGSTATE_EACH_NS;

	return all > SIGSTATE_LAST_GAP_NS ? all : SIGSTATE_LAST_GAP_NS;
}

static void sigstate_plan(struct thread *thread, uint64_t now)
{
	struct thread_signals *signals = &thread->signals;

	if (!signals->settled || !signals->lasting)
		signals->refresh_gap_ns = SIGSTATE_YOUNG_NS;
	else if (signals->refresh_gap_ns < SIGSTATE_FIRST_GAP_NS)
		signals->refresh_gap_ns = SIGSTATE_FIRST_GAP_NS;
	else if (signals->refresh_gap_ns < sigstate_last_gap(thread->process))
		signals->refresh_gap_ns *= 2;
	signals->next_refresh_ns = now + signals->refresh_gap_ns;
	/* those of many threads together: each wakes the tracer */
	if (signals->refresh_gap_ns >= SIGSTATE_LAST_GAP_NS)
		signals->next_refresh_ns = clock_align(signals->next_refresh_ns,
						       SIGSTATE_TOGETHER_NS);
}

/* It is held at a stop that was handled: what that trap took is put back. */
static bool sigstate_is_held(const struct thread *thread)
{
	return thread->hold && thread->state == THREAD_STOPPED && !thread->step;
}

/*
 * Read the thread's status. Where SIGTRAP is no longer blocked, the reading of
 * the mask counts (*ret_certain) only if no trap is about before or after it. At
 * the stop of a held thread, one is if it waits in the queue.
 */
static struct error *sigstate_look(const struct thread *thread,
				   struct thread_status *ret, bool *ret_certain)
{
	struct thread_status again;
	struct error *err;

	*ret_certain = true;
	err = procfs_status(thread->tid, ret);
	if (err || !(thread->signals.mask & trap_bit) ||
	    (ret->blocked & trap_bit))
		return err;
	if (sigstate_is_held(thread)) {
		*ret_certain = !sigstate_queued(ret);
		return NULL;
	}
	err = procfs_status(thread->tid, &again);
	*ret_certain = !sigstate_trapping(ret) && !sigstate_trapping(&again);
	return err;
}

/* First in the list; one that differs in SIGTRAP only has been replaced. */
static void sigstate_note_mask(struct thread_signals *signals, uint64_t mask)
{
	uint64_t *masks = signals->masks;
	uint8_t i = 0;

	while (i < signals->masks_count &&
	       (masks[i] | trap_bit) != (mask | trap_bit))
		i++;
	if (i == THREAD_MASKS)
		i--;
	else if (i == signals->masks_count)
		signals->masks_count++;
	memmove(masks + 1, masks, i * sizeof(*masks));
	masks[0] = mask;
}

static void sigstate_take_mask(struct thread *thread, uint64_t mask,
			       uint64_t now)
{
	struct thread_signals *signals = &thread->signals;

	/* a thread does so for a moment in each pthread_create(3) */
	if (signals->known && !sigstate_blocks_all(signals->mask))
		signals->blocking_ns = now;
	signals->known = true;
	signals->mask = mask;
	sigstate_note_mask(signals, mask);
	signals->settled = !sigstate_blocks_all(mask) ||
			   now - signals->born_ns > SIGSTATE_GROWN_NS;
	signals->lasting = !sigstate_blocks_all(mask) ||
			   now - signals->blocking_ns > SIGSTATE_GROWN_NS;
	sigstate_plan(thread, now);
}

/* Is it held in the middle of pthread_create(3)? */
static bool sigstate_in_creation(const struct thread *thread)
{
	return thread->hold && thread->hold->in_creation;
}

bool sigstate_refresh(struct tracees *tracees, struct thread *thread)
{
	struct thread_signals *signals = &thread->signals;
	uint64_t now = clock_now_ns();
	struct thread_status status;
	struct error *err;
	bool certain;

	err = sigstate_look(thread, &status, &certain);
	if (err) {
		/* its end will be told by wait */
		error_free(err);
		signals->next_refresh_ns = now + SIGSTATE_LAST_GAP_NS;
		return false;
	}
	/*
	 * on its way over a breakpoint, it has a mask of ours for a moment;
	 * in pthread_create(3), one of the library's
	 */
	if (certain && !sigstate_in_creation(thread) &&
	    (!thread->step || !signals->known))
		sigstate_take_mask(thread, status.blocked, now);
	else
		signals->next_refresh_ns = now + SIGSTATE_FIRST_GAP_NS;
	sigstate_take_process(thread->process, &status, now);
	/* to copy memory, one waits uninterruptibly */
	if (status.state == 'S')
		thread->unforked_ns = now;
	if (status.state == 'Z' || status.state == 'X')
		thread->state = THREAD_GONE;
	watch_choose(tracees, thread);
	return true;
}

void sigstate_newborn(struct tracees *tracees, struct thread *thread,
		      const struct thread *creator)
{
	struct thread_signals *signals = &thread->signals;

	signals->known = creator->signals.known;
	signals->mask = creator->signals.mask;
	memcpy(signals->masks, creator->signals.masks, sizeof(signals->masks));
	signals->masks_count = creator->signals.masks_count;
	signals->settled = false;
	signals->lasting = false;
	signals->born_ns = clock_now_ns();
	signals->blocking_ns = signals->born_ns;
	sigstate_plan(thread, signals->born_ns);
	if (signals->next_refresh_ns < tracees->signals_due_ns)
		tracees->signals_due_ns = signals->next_refresh_ns;
}

bool sigstate_set_up(struct tracees *tracees, struct thread *thread,
		     uint64_t mask, bool own)
{
	sigstate_take_mask(thread, mask, clock_now_ns());
	thread->signals.settled |= own;
	thread->signals.lasting |= own;
	watch_choose(tracees, thread);
	return thread->signals.settled;
}

/* Call visit for the watched threads until it returns false. */
static bool sigstate_each(struct tracees *tracees, uint64_t now,
			  bool (*visit)(struct tracees *tracees,
					struct thread *thread, uint64_t now,
					void *data),
			  void *data)
{
	for (size_t i = 0; i < tracees->processes.count; i++) {
		struct process *process = tracees_process_at(tracees, i);

		if (process->role != PROCESS_WATCHED)
			continue;
		for (size_t j = 0; j < process->threads.count; j++) {
			if (!visit(tracees, process_thread(process, j), now,
				   data))
				return false;
		}
	}
	return true;
}

static bool sigstate_visit_due(struct tracees *tracees, struct thread *thread,
			       uint64_t now, void *data)
{
	int *batch = data;

	if (now < thread->signals.next_refresh_ns ||
	    thread->state == THREAD_GONE)
		return true;
	sigstate_refresh(tracees, thread);
	return --*batch > 0;
}

static bool sigstate_visit_settled(struct tracees *tracees,
				   struct thread *thread, uint64_t now,
				   void *data)
{
	(void)tracees;
	(void)now;
	(void)data;
	return thread->signals.settled || thread->state == THREAD_GONE ||
	       thread->newborn || sigstate_in_creation(thread);
}

void sigstate_settle_young(struct tracees *tracees, struct process *process)
{
	for (size_t i = 0; i < process->threads.count; i++) {
		struct thread *thread = process_thread(process, i);

		if (!thread->signals.settled && !thread->newborn &&
		    thread->state != THREAD_GONE)
			sigstate_refresh(tracees, thread);
	}
}

static bool sigstate_all_settled(struct tracees *tracees, uint64_t now)
{
	return sigstate_each(tracees, now, sigstate_visit_settled, NULL);
}

static bool sigstate_visit_next(struct tracees *tracees, struct thread *thread,
				uint64_t now, void *data)
{
	uint64_t *next = data;

	(void)tracees;
	(void)now;
	if (thread->state != THREAD_GONE &&
	    thread->signals.next_refresh_ns < *next)
		*next = thread->signals.next_refresh_ns;
	return true;
}

/*
 * Something needs a stop of any one thread: preferably of one that will not
 * notice, and no second one while the first is on its way. NULL: none can.
 */
static struct thread *sigstate_thread_to_stop(const struct process *process)
{
	struct thread *any = NULL;

	for (size_t i = 0; i < process->threads.count; i++) {
		struct thread *thread = process_thread(process, i);

		if (thread->interrupting)
			return thread;
	}
	for (size_t i = 0; i < process->threads.count; i++) {
		struct thread *thread = process_thread(process, i);

		if (thread->state != THREAD_RUNNING || thread->newborn)
			continue;
		if (!procfs_notices_stops(thread->tid))
			return thread;
		any = thread;
	}
	return any;
}

static void sigstate_stop_one(const struct process *process)
{
	struct thread *thread = sigstate_thread_to_stop(process);

	if (thread)
		thread_interrupt(thread);
}

/* The first may have exited before the others. NULL: all have. */
static struct thread *sigstate_any_thread(const struct process *process)
{
	for (size_t i = 0; i < process->threads.count; i++) {
		struct thread *thread = process_thread(process, i);

		if (thread->state != THREAD_GONE)
			return thread;
	}
	return NULL;
}

/*
 * Were the dispositions seen lately? What was seen before the first
 * breakpoints is old: a program sets them at its start, and starts its threads
 * right then.
 */
static bool sigstate_is_fresh(const struct tracees *tracees,
			      const struct process *process, bool little,
			      uint64_t now)
{
	uint64_t age = SIGSTATE_STALE_NS * tracees_watched_count(tracees);

	if (little && age < SIGSTATE_STALE_LOW_NS)
		age = SIGSTATE_STALE_LOW_NS;
	if (!process->ever_armed)
		age = 0;
	return process->trap_looked_ns + age > now;
}

bool sigstate_ready(struct tracees *tracees, struct process *process,
		    bool little, uint64_t now)
{
	struct thread *first = sigstate_any_thread(process);

	if (!first)
		return false;
	if (process->armed_ns == 0)
		process->armed_ns = now;
	if (now - process->armed_ns < SIGSTATE_PATIENCE_NS &&
	    !sigstate_all_settled(tracees, now))
		return false;
	if (!sigstate_is_fresh(tracees, process, little, now) &&
	    !sigstate_refresh(tracees, first))
		return false;
	if (first->state == THREAD_GONE)
		return false;
	if (process->trap_caught && !process->trap_action_known) {
		if (now < process->trap_retry_ns)
			return false;
		process->trap_action_wanted = true;
		sigstate_stop_one(process);
		return false;
	}
	/* signals on their way since before that was known are to arrive */
	if ((process->trap_ignored || process->trap_caught) &&
	    now < process->trap_learned_ns + SIGSTATE_ARRIVAL_NS)
		return false;
	process->armed_ns = now;
	process->ever_armed = true;
	return true;
}

/* Of the masks seen, the one that is most like this one but for SIGTRAP. */
static const uint64_t *sigstate_like(const struct thread_signals *signals,
				     uint64_t mask, int *ret_others)
{
	const uint64_t *best = NULL;

	for (uint8_t i = 0; i < signals->masks_count; i++) {
		const uint64_t *seen = &signals->masks[i];
		int others = __builtin_popcountll((*seen ^ mask) & ~trap_bit);

		/* glibc blocks all for a moment, which says nothing */
		if ((others > 0 && sigstate_blocks_all(*seen)) ||
		    (best && others >= *ret_others))
			continue;
		best = seen;
		*ret_others = others;
	}
	return best;
}

/*
 * Did the thread block SIGTRAP before the trap, its mask being `now` after
 * it? What was seen when the other signals were as they are now counts; else
 * when they were most alike: maybe it was only seen in a handler, whose mask
 * is the thread's and some signals more.
 */
static bool sigstate_was_blocked(const struct thread *thread, uint64_t now)
{
	int others = 0;
	const uint64_t *like = sigstate_like(&thread->signals, now, &others);

	if (like && (others == 0 || !sigstate_blocks_all(now | trap_bit)))
		return *like & trap_bit;
	return sigstate_blocks_all(now | trap_bit);
}

bool sigstate_in_handler(const struct process *process,
			 const struct wire_site *site)
{
	uint64_t handler;

	/* struct sigaction of the kernel begins with it */
	memcpy(&handler, process->trap_action, sizeof(handler));
	return process->trap_caught && process->trap_action_known &&
	       site->function == handler;
}

/* Have the stopped thread tell what the process does with SIGTRAP. */
static bool sigstate_ask_action(struct process *process, struct thread *thread,
				const struct memory *memory, uint8_t *ret)
{
	struct error *err = NULL;

	if (process->syscall_address == 0)
		err = remote_syscall_address(memory, &process->syscall_address);
	if (!err)
		err = remote_sigaction(thread->tid, memory,
				       process->syscall_address, SIGTRAP, NULL,
				       ret);
	return thread_ok(thread, err);
}

/* Ask the program for its handler while it still has it. */
static bool sigstate_learn_action(struct thread *thread)
{
	struct process *process = thread->process;

	process->trap_action_known = sigstate_ask_action(
		process, thread, &process->space->memory, process->trap_action);
	process->trap_retry_ns = clock_now_ns() + SIGSTATE_RETRY_NS;
	return process->trap_action_known;
}

/*
 * Put SIG_IGN or the handler that the process has into a thread, of it or of its
 * child, with that memory. False: it was not done.
 */
static bool sigstate_put_action(struct tracees *tracees,
				struct process *process, pid_t tid,
				const struct memory *memory)
{
	uint8_t action[sizeof(process->trap_action)] = { 0 };
	const uint64_t ignore = (uint64_t)(uintptr_t)SIG_IGN;
	struct error *err = NULL;

	if ((process->trap_caught || process->trap_ignored) &&
	    process->trap_action_known)
		memcpy(action, process->trap_action, sizeof(action));
	else if (process->trap_ignored)
		memcpy(action, &ignore, sizeof(ignore));
	else
		return false;
	if (process->syscall_address == 0)
		err = remote_syscall_address(memory, &process->syscall_address);
	if (!err)
		err = remote_sigaction(tid, memory, process->syscall_address,
				       SIGTRAP, action, NULL);
	if (err && err != error_gone)
		tracees_note(tracees,
			     error_wrap(err, "put SIGTRAP's disposition back"));
	return !err;
}

static void sigstate_restore_action(struct tracees *tracees,
				    struct thread *thread)
{
	struct process *process = thread->process;

	if (sigstate_put_action(tracees, process, thread->tid,
				&process->space->memory))
		process->trap_doubt_ns = 0;
}

/*
 * Ignoring a signal takes it out of every thread's queue (sigaction(2)), and
 * with it the trap of a thread that has met a breakpoint and not stopped yet:
 * that one would go on behind the int3. So SIG_IGN is put back only when no
 * breakpoint is armed, at the latest when the program is released; until then
 * no SIGTRAP of the program's own is delivered.
 */
static void sigstate_plan_restore(struct tracees *tracees,
				  struct process *process)
{
	if (process->trap_restore_ns == 0)
		process->trap_restore_ns = clock_now_ns() + SIGSTATE_RESTORE_NS;
	if (process->trap_restore_ns < tracees->signals_due_ns)
		tracees->signals_due_ns = process->trap_restore_ns;
}

static bool sigstate_may_restore(const struct process *process, uint64_t now)
{
	return process->trap_restore_ns != 0 &&
	       now >= process->trap_restore_ns &&
	       process->space->text->armed == 0;
}

void sigstate_settle(struct tracees *tracees, struct thread *thread)
{
	if (thread->process->trap_restore_ns == 0 ||
	    thread->state != THREAD_STOPPED || thread->in_call)
		return;
	thread->process->trap_restore_ns = 0;
	sigstate_restore_action(tracees, thread);
}

/* Put it back by a thread that is stopped, or ask one to stop for it. */
static void sigstate_restore_due(struct tracees *tracees,
				 struct process *process)
{
	if (sigstate_any(process, sigstate_queued)) {
		process->trap_restore_ns = 0;
		sigstate_plan_restore(tracees, process);
		return;
	}

	for (size_t i = 0; i < process->threads.count; i++) {
		struct thread *thread = process_thread(process, i);

		if (thread->state == THREAD_STOPPED && thread->hold &&
		    !thread->in_call) {
			sigstate_settle(tracees, thread);
			return;
		}
	}
	sigstate_stop_one(process);
}

static void sigstate_tick_restore(struct tracees *tracees, uint64_t now)
{
	for (size_t i = 0; i < tracees->processes.count; i++) {
		struct process *process = tracees_process_at(tracees, i);

		if (process->role != PROCESS_COPY &&
		    sigstate_may_restore(process, now))
			sigstate_restore_due(tracees, process);
	}
}

bool sigstate_at_stop(struct tracees *tracees, struct thread *thread)
{
	if (sigstate_may_restore(thread->process, clock_now_ns()) &&
	    !sigstate_any(thread->process, sigstate_queued))
		sigstate_settle(tracees, thread);
	if (!thread->process->trap_action_wanted)
		return false;
	thread->process->trap_action_wanted = false;
	return sigstate_learn_action(thread);
}

/* Has the kernel taken the program's handler or SIG_IGN away just now? */
static bool sigstate_was_reset(const struct thread *thread)
{
	struct process *process = thread->process;
	struct thread_status status;
	struct error *err;
	bool reset;

	if (!process->trap_ignored && !process->trap_caught)
		return false;
	err = procfs_status(thread->tid, &status);
	error_free(err);
	if (err)
		return false;
	reset = sigstate_is_reset(process, &status);
	sigstate_doubtful(process, reset, clock_now_ns());
	return reset;
}

/*
 * A trap takes the handler of the action and leaves the rest (kernel/signal.c);
 * sigaction(2), as posix_spawn(3) calls it in the child, replaces all of it.
 * Where no more is known, it was the trap.
 */
static bool sigstate_reset_itself(struct thread *thread)
{
	struct process *process = thread->process;
	uint8_t now[sizeof(process->trap_action)];
	const size_t rest = sizeof(uint64_t);

	return process->trap_action_known &&
	       sigstate_ask_action(process, thread, &process->space->memory,
				   now) &&
	       memcmp(now + rest, process->trap_action + rest,
		      sizeof(now) - rest) != 0;
}

/*
 * A child in another's memory, with a table of actions of its own, which its
 * program will inherit. It is alone in its process: no trap is on its way that
 * would be lost.
 */
static void sigstate_restore_guest(struct tracees *tracees,
				   struct thread *thread)
{
	if (sigstate_reset_itself(thread))
		thread->process->trap_ignored = false;
	else
		sigstate_restore_action(tracees, thread);
}

bool sigstate_restore_mask(struct thread *thread)
{
	bool reset = sigstate_was_reset(thread);
	/* a handler that was not reset was met unblocked */
	bool may_be_blocked = reset || !thread->process->trap_caught;
	uint64_t mask = 0;

	may_be_blocked &=
		thread_ok(thread, trace_signal_mask(thread->tid, &mask));
	/*
	 * In a handler of SIGTRAP, where it is blocked for the time being, it
	 * stays unblocked: the handler's end puts the whole mask back.
	 */
	if (may_be_blocked && sigstate_was_blocked(thread, mask))
		thread_ok(thread,
			  trace_set_signal_mask(thread->tid, mask | trap_bit));
	return reset;
}

void sigstate_restore(struct tracees *tracees, struct thread *thread)
{
	if (!sigstate_restore_mask(thread))
		return;
	if (thread->process->role == PROCESS_GUEST &&
	    thread->process->trap_ignored &&
	    thread->process->threads.count == 1)
		sigstate_restore_guest(tracees, thread);
	else if (thread->process->trap_ignored)
		sigstate_plan_restore(tracees, thread->process);
	else
		sigstate_restore_action(tracees, thread);
}

void sigstate_restore_child(struct tracees *tracees, struct thread *thread,
			    const struct memory *memory)
{
	struct process *process = thread->process;
	struct thread_status status;
	struct error *err;

	if (!process->trap_ignored && !process->trap_caught)
		return;
	err = procfs_status(thread->tid, &status);
	if (!err && sigstate_is_reset(process, &status))
		sigstate_put_action(tracees, process, thread->tid, memory);
	error_free(err);
	if (process->role == PROCESS_GUEST && process->trap_ignored)
		process->trap_action_known = sigstate_ask_action(
			process, thread, memory, process->trap_action);
}

int sigstate_deliver(struct tracees *tracees, struct thread *thread)
{
	if (thread->process->trap_ignored)
		return 0;
	if (sigstate_was_reset(thread))
		sigstate_restore_action(tracees, thread);
	return SIGTRAP;
}

static bool sigstate_restores(const struct tracees *tracees)
{
	for (size_t i = 0; i < tracees->processes.count; i++) {
		if (tracees_process_at(tracees, i)->trap_restore_ns != 0)
			return true;
	}
	return false;
}

/* Is there something to look for? Says when it is to be done again. */
static uint64_t sigstate_look_due(struct tracees *tracees, bool matters,
				  bool stalled, uint64_t now)
{
	int batch = stalled ? SIGSTATE_STALL_BATCH : SIGSTATE_BATCH;
	uint64_t soon = now + SIGSTATE_LOOK_NS;
	uint64_t next = now + SIGSTATE_LAST_GAP_NS;

	if (!matters)
		return soon;
	sigstate_each(tracees, now, sigstate_visit_due, &batch);
	if (stalled && batch == 0)
		return now + SIGSTATE_STALL_NS;
	if (!sigstate_all_settled(tracees, now))
		return now + SIGSTATE_YOUNG_NS;
	sigstate_each(tracees, now, sigstate_visit_next, &next);
	return next < soon || sigstate_restores(tracees) ? soon : next;
}

void sigstate_tick(struct tracees *tracees, bool matters, bool stalled,
		   uint64_t now)
{
	if (now < tracees->signals_due_ns)
		return;
	sigstate_tick_restore(tracees, now);
	tracees->signals_due_ns =
		sigstate_look_due(tracees, matters, stalled, now);
}
