/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Keeping SIGTRAP as the program had it. When an int3 or a debug register
 * traps in a thread that blocks or ignores SIGTRAP, the kernel unblocks it
 * and resets its disposition to default for good (kernel/signal.c,
 * force_sig_info_to_task). So what the program had is recorded beforehand,
 * from /proc and at stops, and put back at each such trap.
 *
 * - Dispositions are looked at before breakpoints are set, at most
 *   SIGSTATE_STALE_NS earlier (times the number of watched processes). A handler found there is asked for by a
 *   system call injected at some thread's stop, before anything is armed.
 *   That the kernel has reset it is seen at the trap itself.
 * - SIG_IGN cannot be put back while breakpoints are armed (see the source);
 *   until then no SIGTRAP is delivered that the program sends itself. A vfork
 *   child has one thread, and its SIG_IGN is put back at once.
 * - A thread inherits its creator's mask; it is looked at a moment after its
 *   birth, before more breakpoints are set, and then less and less often. What
 *   the trap took is told from the masks seen, by the other signals in them.
 *   Only a thread that blocks or unblocks SIGTRAP, and no other signal,
 *   within the last interval is mistaken, or one that was never looked at
 *   outside a handler that blocks SIGTRAP where the thread does not.
 */
#ifndef TRACEE_SIGSTATE_H
#define TRACEE_SIGSTATE_H

#include <stdbool.h>
#include <stdint.h>

struct memory;
struct process;
struct thread;
struct tracees;
struct wire_site;

/*
 * Look at the thread's mask, and the process's dispositions, in /proc. False:
 * they could not be read.
 */
bool sigstate_refresh(struct tracees *tracees, struct thread *thread);

/*
 * A thread was just created. Its mask is not read yet: pthread_create(3) blocks
 * all signals in it for a short time.
 */
void sigstate_newborn(struct tracees *tracees, struct thread *thread,
		      const struct thread *creator);

/*
 * The stopped thread, which was just created, has that mask; own: it has set it
 * itself. False: it may still be the one of pthread_create(3).
 */
bool sigstate_set_up(struct tracees *tracees, struct thread *thread,
		     uint64_t mask, bool own);

/*
 * Look at the young threads of the process now, before breakpoints are set that
 * cannot wait. Those that have not run yet have their creator's mask.
 */
void sigstate_settle_young(struct tracees *tracees, struct process *process);

/*
 * Look at those whose time has come (tracees->signals_due_ns). matters:
 * breakpoints or watchpoints are set or will be; otherwise the masks are not
 * needed. stalled: a thread is held, and for no longer than it must be: few
 * others are looked at in one go.
 */
void sigstate_tick(struct tracees *tracees, bool matters, bool stalled,
		   uint64_t now);

/*
 * Is enough known to set breakpoints? If not, the missing state is requested.
 * Young threads delay breakpoints only for a limited time. little: the budget
 * is small (budget_is_small()), so that states are read less often.
 */
bool sigstate_ready(struct tracees *tracees, struct process *process,
		    bool little, uint64_t now);

/*
 * Is the site in the program's SIGTRAP handler? There, SIGTRAP is blocked: an
 * int3 would reset the handler, and a SIGTRAP of the program's own would then
 * kill another thread that gets it.
 */
bool sigstate_in_handler(const struct process *process,
			 const struct wire_site *site);

/*
 * Put SIG_IGN back now, by this thread, if that is still to be done and the
 * thread is stopped. No trap may be on its way to any thread.
 */
void sigstate_settle(struct tracees *tracees, struct thread *thread);

/*
 * At any stop: read or change what needs a stopped thread. True: the program's
 * handler of SIGTRAP is known now, and breakpoints that were set in it before
 * (sigstate_in_handler()) are to be lifted.
 */
bool sigstate_at_stop(struct tracees *tracees, struct thread *thread);

/*
 * The stopped thread is to get a SIGTRAP that the program sent itself. The
 * disposition may have been reset by a trap of another thread whose stop has
 * not been handled yet: it is restored first. Returns the signal to deliver; 0
 * where the program ignores it, since it might be reset again at any moment.
 */
int sigstate_deliver(struct tracees *tracees, struct thread *thread);

/*
 * The stopped thread had a forced trap: restore its mask. Returns whether its
 * process has lost SIGTRAP's disposition with it.
 */
bool sigstate_restore_mask(struct thread *thread);

/* The same, and restore the disposition. */
void sigstate_restore(struct tracees *tracees, struct thread *thread);

/*
 * A thread of a new process, stopped and in no call (thread.in_call): its process
 * gets the disposition of its creator, also if a trap had reset that when it was
 * created, or did so since. memory: the child's, by its own id.
 */
void sigstate_restore_child(struct tracees *tracees, struct thread *thread,
			    const struct memory *memory);

#endif
