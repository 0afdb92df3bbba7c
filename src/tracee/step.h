/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Single-stepping a thread: over a persistent breakpoint, or to follow what it
 * executes. Signals that arrive meanwhile are delivered as usual; their
 * handlers are stepped through too, unless step_block_signals() keeps them off.
 *
 * A hazard: the kernel clears the trap flag of a stepped thread when it is
 * resumed otherwise, and not when the tracer dies. A thread of an attached
 * program then dies of SIGTRAP at its next instruction, and one whose signals
 * are blocked keeps them so. So nobody is held right after a step: interrupted
 * and continued, the thread stops again before it executes anything, without
 * the flag, and is held there.
 */
#ifndef TRACEE_STEP_H
#define TRACEE_STEP_H

#include <stdbool.h>
#include <stdint.h>

struct thread;
struct tracees;

struct step {
	struct thread
		*thread; /* NULL: steps nobody; the thread may have died */
	/*
	 * Called after each step, with the thread stopped: true to step again.
	 * On false stepping ends, and the thread continues unless it is held.
	 */
	bool (*stepped)(struct step *step);
	bool masked; /* its signals are blocked: step_block_signals() */
	uint64_t mask; /* the thread's own meanwhile */
};

/* The thread must be stopped and not stepped; it steps when resumed. */
void step_begin(struct step *step, struct thread *thread);

/*
 * Block all signals in the stopped thread but those that its instruction may
 * raise: a handler would be stepped into instead. They come when the stepping
 * ends, or when a raised one is delivered: the mask is put back then.
 */
void step_block_signals(struct step *step);

/* Report a step trap to the owner. False if the thread is not being stepped. */
bool step_trapped(struct tracees *tracees, struct thread *thread);
/* The thread died, or is taken away: nobody steps it any more. */
void step_lose(struct tracees *tracees, struct thread *thread);

/* The stopped thread, which may be stepped, is about to be resumed. */
void step_resuming(struct tracees *tracees, struct thread *thread);

/*
 * The signal is about to be delivered to the stepped thread. A handler ends the
 * stepping over a breakpoint, and the thread hits the breakpoint again when it
 * returns to the instruction. Only signals that the instruction itself raised
 * cause this; others wait.
 */
void step_signalled(struct tracees *tracees, struct thread *thread, int signal);

/*
 * Step the thread, at a persistent breakpoint with these registers, over it: the
 * breakpoint is lifted when the thread is resumed, and armed again when no thread
 * steps over it any more. Other threads that pass in between are missed; but that of a
 * recording stays where that can be done (displaced.h). The caller resumes the
 * thread.
 */
struct breakpoint;
struct x86_registers;
void step_over_breakpoint(struct tracees *tracees, struct thread *thread,
			  struct breakpoint *breakpoint,
			  const struct x86_registers *regs);

#endif
