/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Stepping a thread; see step.h.
 */
#include "tracee/step.h"

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "base/error.h"
#include "base/signals.h"
#include "sys/trace.h"
#include "tracee/breakpoint.h"
#include "tracee/displaced.h"
#include "tracee/process.h"
#include "tracee/thread.h"
#include "tracee/tracees.h"

enum { SIGNALS = 64 };

void step_begin(struct step *step, struct thread *thread)
{
	step->thread = thread;
	thread->step = step;
}

/* What instructions raise, and the trap of the step itself. */
static uint64_t step_raised_signals(void)
{
	uint64_t set = 0;

	for (int signal = 1; signal <= SIGNALS; signal++) {
		if (signal_is_raised(signal))
			set |= UINT64_C(1) << (signal - 1);
	}
	return set;
}

void step_block_signals(struct step *step)
{
	pid_t tid = step->thread->tid;

	if (step->masked ||
	    !thread_ok(step->thread, trace_signal_mask(tid, &step->mask)))
		return;
	step->masked =
		thread_ok(step->thread,
			  trace_set_signal_mask(tid, ~step_raised_signals()));
}

/* A thread that runs, to be detached, gets its mask back at its next stop. */
static void step_unblock_signals(struct step *step)
{
	struct thread *thread = step->thread;
	struct error *err;

	if (!step->masked)
		return;
	step->masked = false;
	err = trace_set_signal_mask(thread->tid, step->mask);
	if (err) {
		thread->signals.mask = step->mask;
		thread->signals.draining = true;
	}
	error_free(err);
}

static void step_end(struct step *step)
{
	step_unblock_signals(step);
	step->thread->step = NULL;
	step->thread = NULL;
}

/*
 * One thread on its way over one breakpoint that stays. Signals that would
 * lead it elsewhere are blocked meanwhile, and wait.
 */
struct step_over {
	struct step step;
	struct step *outer; /* whoever follows the thread anyway; may be NULL */
	struct addrspace *space;
	uint64_t address;
	bool displaced; /* it stays: a copy of the instruction is executed */
	bool begun;
};

/* An owner of a step has something to ask after each. */
static bool step_is_over(const struct step *step)
{
	return !step->stepped;
}

void step_resuming(struct tracees *tracees, struct thread *thread)
{
	struct step_over *over = (struct step_over *)thread->step;
	struct breakpoint *breakpoint;

	if (!thread->step || !step_is_over(thread->step) || over->begun)
		return;
	breakpoint = breakpoint_find(over->space, over->address);
	if (!breakpoint)
		return;
	step_block_signals(&over->step);
	over->begun = true;
	if (over->displaced)
		return;
	breakpoint->passing++;
	tracees_note(tracees,
		     breakpoint_lift(over->space, thread->tid, breakpoint));
}

/* The last one over puts it back, unless it has fired for good meanwhile. */
static void step_over_rearm(struct tracees *tracees, struct step_over *over)
{
	struct breakpoint *breakpoint =
		breakpoint_find(over->space, over->address);

	if (breakpoint && breakpoint->passing > 0 &&
	    --breakpoint->passing == 0 && !tracees->restoring &&
	    (breakpoint->policy == BREAKPOINT_PERSISTENT ||
	     breakpoint->predicate))
		tracees_note(tracees,
			     breakpoint_rearm(over->space, breakpoint));
}

static void step_over_end(struct tracees *tracees, struct step_over *over)
{
	if (over->begun && !over->displaced)
		step_over_rearm(tracees, over);
	addrspace_release(over->space);
	free(over);
}

bool step_trapped(struct tracees *tracees, struct thread *thread)
{
	struct step *step = thread->step;
	struct step *outer;

	if (!step)
		return false;
	if (!step_is_over(step)) {
		if (!step->stepped(step) && thread->step == step)
			step_end(step);
		return true;
	}
	outer = ((struct step_over *)step)->outer;
	if (((struct step_over *)step)->displaced)
		displaced_end(thread);
	step_end(step);
	step_over_end(tracees, (struct step_over *)step);
	/* the step also counts for the outer owner */
	if (outer) {
		step_begin(outer, thread);
		step_trapped(tracees, thread);
	}
	return true;
}

void step_lose(struct tracees *tracees, struct thread *thread)
{
	struct step *step = thread->step;
	struct step *outer;

	if (!step)
		return;
	step_end(step);
	if (!step_is_over(step))
		return;
	outer = ((struct step_over *)step)->outer;
	step_over_end(tracees, (struct step_over *)step);
	if (outer)
		step_end(outer);
}

void step_signalled(struct tracees *tracees, struct thread *thread, int signal)
{
	struct step *step = thread->step;
	struct step *outer;

	/* a stop has no handler, and the rest of the step comes after it */
	if (!step || signal == SIGSTOP)
		return;
	if (!step_is_over(step)) {
		step_unblock_signals(step);
		return;
	}
	outer = ((struct step_over *)step)->outer;
	step_end(step);
	step_over_end(tracees, (struct step_over *)step);
	if (outer)
		step_begin(outer, thread);
}

void step_over_breakpoint(struct tracees *tracees, struct thread *thread,
			  struct breakpoint *breakpoint,
			  const struct x86_registers *regs)
{
	bool displaced = breakpoint->site.record &&
			 displaced_begin(tracees, thread, breakpoint, regs);
	struct step_over *over;

	/* a rep instruction is stepped: each of its iterations is a hit */
	if (displaced && breakpoint->site.insn.rep == X86_REP_NONE)
		return;
	over = calloc(1, sizeof(*over));
	if (over) {
		over->displaced = displaced;
		over->outer = thread->step;
		over->space = thread->process->space;
		over->space->users++;
		over->address = breakpoint->site.address;
		step_begin(&over->step, thread);
	} else if (!displaced) {
		/* it stays lifted: the thread matters more */
		tracees_note(tracees, breakpoint_lift(thread->process->space,
						      thread->tid, breakpoint));
	}
}
