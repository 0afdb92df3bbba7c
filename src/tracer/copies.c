/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Breakpoints in fork children; see copies.h.
 */
#include "tracer/copies.h"

#include "base/error.h"
#include "sys/trace.h"
#include "tracee/breakpoint.h"
#include "tracee/copy.h"
#include "tracee/process.h"
#include "tracee/sigstate.h"
#include "tracee/thread.h"
#include "tracer/core.h"

static struct error *copies_restore(const struct thread *thread,
				    const struct copy *copy)
{
	const struct process *process = thread->process;
	struct error *err = breakpoint_clean_copy(
		process->space, &copy->memory, copy->tid, process->copied_ns);

	/* it has ended */
	return err == error_gone ? NULL : err;
}

void copies_clean(struct core *core, struct thread *thread,
		  const struct copy *copy)
{
	struct error *err = copies_restore(thread, copy);

	thread->process->unclean = err != NULL;
	core_note(
		core,
		error_wrap(err,
			   "child %d keeps breakpoints for now, and is traced",
			   (int)thread->process->pid));
}

bool copies_may_call(const struct thread *thread)
{
	return thread->state == THREAD_STOPPED && !thread->in_call &&
	       thread->deliver == 0;
}

/* By the thread, if it may be, what a breakpoint has reset. */
static void copies_restore_action(struct core *core, struct thread *thread,
				  const struct copy *copy)
{
	struct process *process = thread->process;

	if (!process->trapped || process->unclean || copy->tid == 0)
		return;
	process->trapped = false;
	sigstate_restore_child(&core->tracees, thread, &copy->memory);
}

bool copies_clean_again(struct core *core, struct thread *thread)
{
	struct process *process = thread->process;
	bool calls = copies_may_call(thread);
	struct error *err = NULL;
	struct copy copy;

	if (!process->unclean && !(process->trapped && calls))
		return true;
	copy_open(&copy, process->pid, calls ? thread->tid : 0, process->space,
		  process->syscall_address);
	if (process->unclean)
		err = copies_restore(thread, &copy);
	process->unclean = err != NULL;
	error_free(err);
	copies_restore_action(core, thread, &copy);
	core_note(core, copy_close(&copy));
	return !process->unclean;
}

bool copies_stands_on_one(struct thread *thread)
{
	struct x86_registers regs;

	return !thread_ok(thread, trace_registers(thread->tid, &regs)) ||
	       breakpoint_find(thread->process->space, regs.rip);
}
