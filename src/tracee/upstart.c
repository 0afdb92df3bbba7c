/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The mask of a new thread; see upstart.h.
 */
#include "tracee/upstart.h"

#include <errno.h>
#include <stdint.h>
#include <sys/syscall.h>

#include "sys/trace.h"
#include "tracee/sigstate.h"
#include "tracee/thread.h"
#include "tracee/tracees.h"
#include "x86/access.h"

enum {
	/* stops, after which the thread is taken as it is; glibc makes 6 */
	UPSTART_STOPS = 32,
};

void upstart_begin(struct tracees *tracees, struct thread *thread)
{
	uint64_t mask;

	if (!tracees->watch.exact || tracees->watch.ops != &watch_by_perf ||
	    !thread_ok(thread, trace_signal_mask(thread->tid, &mask)))
		return;
	if (!sigstate_set_up(tracees, thread, mask, false))
		thread->signals.calls_left = UPSTART_STOPS;
}

/* Before a call, its result is -ENOSYS (x86's entry code). */
static bool upstart_is_over(const struct x86_registers *regs)
{
	return regs->orig_rax == SYS_rt_sigprocmask &&
	       regs->gpr[X86_RAX] != (uint64_t)-ENOSYS;
}

void upstart_at_call(struct tracees *tracees, struct thread *thread)
{
	struct x86_registers regs;
	uint64_t mask;

	if (thread->signals.calls_left == 0)
		return;
	thread->signals.calls_left--;
	if (!thread_ok(thread, trace_registers(thread->tid, &regs)) ||
	    !upstart_is_over(&regs))
		return;
	thread->signals.calls_left = 0;
	if (thread_ok(thread, trace_signal_mask(thread->tid, &mask)))
		sigstate_set_up(tracees, thread, mask, true);
}
