/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Letting a stopped thread go on; see resume.h.
 */
#include "tracee/resume.h"

#include "base/error.h"
#include "sys/trace.h"
#include "tracee/displaced.h"
#include "tracee/step.h"
#include "tracee/thread.h"
#include "tracee/tracees.h"
#include "tracee/watch-update.h"

bool thread_must(struct tracees *tracees, struct thread *thread,
		 struct error *err)
{
	if (!err || err == error_gone)
		return thread_ok(thread, err);
	tracees_note(tracees, err);
	tracees->stuck = true;
	return false;
}

static struct error *resume_request(const struct thread *thread, int signal)
{
	if (thread->step)
		return trace_step(thread->tid, signal);
	return thread->signals.calls_left > 0
		       ? trace_to_syscall(thread->tid, signal)
		       : trace_continue(thread->tid, signal);
}

void thread_resume(struct tracees *tracees, struct thread *thread)
{
	int signal = thread->deliver;

	if (thread->state != THREAD_STOPPED || thread->hold)
		return;
	step_resuming(tracees, thread);
	displaced_resuming(thread);
	watch_ops_of(&tracees->watch, thread)->prepare(tracees, thread);
	watch_settled(&tracees->watch, thread);
	thread->stepping = thread->step != NULL;
	if (!thread_must(tracees, thread, resume_request(thread, signal)))
		return;
	thread->deliver = 0;
	thread->state = THREAD_RUNNING;
}
