/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Stepping a thread instruction by instruction: over a persistent breakpoint,
 * or for whoever wants to follow it. Signals that arrive meanwhile are
 * delivered as ever; their handlers are stepped through too.
 */
#ifndef TRACEE_STEP_H
#define TRACEE_STEP_H

#include <stdbool.h>

struct thread;
struct tracees;

struct step {
	struct thread
		*thread; /* NULL: steps nobody; the thread may have died */
	/*
	 * After each step, the thread stopped: true to step on. On false the
	 * step is over, and the thread goes on unless somebody holds it.
	 */
	bool (*stepped)(struct step *step);
};

/* The thread must be stopped and not stepped; it steps when resumed. */
void step_begin(struct step *step, struct thread *thread);

/* Tell the owner of a step trap. False if the thread is not being stepped. */
bool step_trapped(struct tracees *tracees, struct thread *thread);
/* The thread died, or is taken away: nobody steps it any more. */
void step_lose(struct tracees *tracees, struct thread *thread);

/* The stopped thread, which may be stepped, is about to be resumed. */
void step_resuming(struct tracees *tracees, struct thread *thread);

/*
 * The signal is about to be delivered to the stepped thread. A handler is not
 * part of going over a breakpoint: that ends there, and the thread, when it
 * comes back to the instruction, meets the breakpoint anew. Only signals that
 * the instruction itself raised come to this; others wait.
 */
void step_signalled(struct tracees *tracees, struct thread *thread, int signal);

/*
 * Take the thread, standing on a breakpoint that stays, over it: lifted when
 * the thread is resumed, and put back when no thread is on its way over it.
 * Others that come by in between are not seen. The caller resumes the thread.
 */
struct breakpoint;
void step_over_breakpoint(struct tracees *tracees, struct thread *thread,
			  struct breakpoint *breakpoint);

#endif
