/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Which code runs, by stops; see profile-stops.h.
 */
#include "tracer/profile-stops.h"

#include <errno.h>
#include <string.h>

#include "base/clock.h"
#include "base/error.h"
#include "schedule/pool.h"
#include "sys/memory.h"
#include "sys/procfs.h"
#include "sys/trace.h"
#include "tracee/breakpoint.h"
#include "tracee/thread.h"
#include "tracer/core.h"
#include "tracer/profile-parts.h"
#include "tracer/profile.h"
#include "tracer/stall.h"
#include "wire/running.h"

enum {
	/* of a stop and what is computed for it (bench/hit, budget.c) */
	PROFILE_STOP_NS = 50 * 1000,
	/* to read a stack and to send it */
	PROFILE_STACK_NS = 5 * 1000,
	/* between two stacks, and where there is little time to lose */
	PROFILE_STACK_GAP_NS = 2 * 1000 * 1000,
	PROFILE_STACK_LOW_GAP_NS = 20 * 1000 * 1000,
	/* threads that are looked at in one go, and that are stopped */
	PROFILE_STOPS_LOOKS = 4,
	PROFILE_STOPS = 2,
	PROFILE_LOW_STOPS = 1,
	/* one that sleeps is not looked at again before */
	PROFILE_STOPS_SLEEPER_NS = 100 * 1000 * 1000,
	/* addresses of programs: no null pointers, no kernel */
	PROFILE_ADDRESS_MIN = 4096,
	PROFILE_ADDRESS_BITS = 56,
	/* what lies this near above the stack pointer is on the stack */
	PROFILE_STACK_SPAN = 1 << 20,
};

_Static_assert(PROFILE_STACK_BYTES / sizeof(uint64_t) <= WIRE_CALLERS_MAX,
	       "the words fit into one message");

struct profile_callers {
	struct wire_callers wire;
	uint64_t words[WIRE_CALLERS_MAX];
};

/* Can the word be an address of text? Most words are numbers, or of the stack. */
static bool profile_may_be_text(uint64_t word, uint64_t top)
{
	return word >= PROFILE_ADDRESS_MIN &&
	       word >> PROFILE_ADDRESS_BITS == 0 &&
	       word - top >= PROFILE_STACK_SPAN;
}

static void profile_tell_stack(struct profile *profile,
			       const struct process *process, uint64_t top)
{
	struct profile_callers callers = {
		.wire.program = process->space->text->program,
	};
	uint32_t count = 0;
	size_t size = 0;

	error_free(memory_read(&process->space->memory, top, callers.words,
			       PROFILE_STACK_BYTES, &size));
	for (size_t i = 0; i < size / sizeof(callers.words[0]); i++) {
		if (profile_may_be_text(callers.words[i], top))
			callers.words[count++] = callers.words[i];
	}
	callers.wire.count = count;
	/* what the channel does not take is seen again */
	if (count > 0)
		channel_send(&profile->core->channel, WIRE_CALLERS, &callers,
			     offsetof(struct profile_callers, words) +
				     count * sizeof(callers.words[0]));
}

/* Of the stopped thread's stack, if one may be read now. */
static void profile_look_at_stack(struct profile *profile,
				  const struct process *process, uint64_t top,
				  uint64_t now)
{
	if (now < profile->stack_ns || profile->broke)
		return;
	profile->stack_ns = now + (profile_is_low(profile)
					   ? PROFILE_STACK_LOW_GAP_NS
					   : PROFILE_STACK_GAP_NS);
	profile->credit_ns -= PROFILE_STACK_NS;
	profile_tell_stack(profile, process, top);
}

/*
 * It has fallen asleep between the look and the stop. Of some calls the stop would
 * be noticed: they go on as after a stop by SIGSTOP, a time limit anew; with a
 * handler of a signal that came too, they end as they would have.
 */
static void profile_resume_call(const struct thread *thread,
				const struct x86_registers *regs)
{
	if (regs->gpr[X86_RAX] == (uint64_t)-EINTR &&
	    procfs_call_notices_stops(regs->orig_rax))
		error_free(trace_restart_call(thread->tid));
}

void profile_stopped(struct profile *profile, const struct thread *thread,
		     const struct x86_registers *regs)
{
	const struct process *process = thread->process;
	struct x86_registers own;
	struct error *err;

	if (!profile->refused || profile->pool->params.rate == 0 ||
	    profile->core->phase != PHASE_WATCHING ||
	    process->role != PROCESS_WATCHED ||
	    !core_may_race(profile->core, process))
		return;
	if (!regs) {
		err = trace_registers(thread->tid, &own);
		error_free(err);
		if (err)
			return;
		regs = &own;
	}
	/* one that is in a system call runs no code there */
	if ((int64_t)regs->orig_rax >= 0) {
		profile_resume_call(thread, regs);
		return;
	}
	/* by the clock of the ticks, as what is sampled */
	profile_note(profile, process->space->text->program, regs->rip,
		     profile->read_ns);
	profile_look_at_stack(profile, process, regs->gpr[X86_RSP],
			      clock_now_ns());
}

/* False: it sleeps, or somebody else decides when it goes on. */
static bool profile_stop(struct profile *profile, struct thread *thread,
			 uint64_t now)
{
	thread->profile_due_ns = now;
	if (thread->state != THREAD_RUNNING || thread->hold || thread->step)
		return false;
	if (!procfs_runs(thread->tid)) {
		thread->profile_due_ns = now + PROFILE_STOPS_SLEEPER_NS;
		return false;
	}
	thread_interrupt(thread);
	profile->credit_ns -= PROFILE_STOP_NS;
	return true;
}

void profile_stops_fill(struct profile *profile, uint64_t now)
{
	unsigned int left = profile_is_low(profile) ? PROFILE_LOW_STOPS
						    : PROFILE_STOPS;
	struct profile_queue queue;

	/* while a thread is held the others are to run */
	if (profile->stalls->list.count > 0 ||
	    !profile_fill_is_due(profile, now))
		return;
	profile_queue_fill(profile, &queue, now);
	for (unsigned int i = 0;
	     i < queue.count && i < PROFILE_STOPS_LOOKS && left > 0; i++)
		left -= profile_stop(profile, queue.threads[i], now);
}
