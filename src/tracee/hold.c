/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Keeping a stopped thread stopped; see hold.h.
 */
#include "tracee/hold.h"

#include <stddef.h>

#include "tracee/resume.h"
#include "tracee/thread.h"
#include "tracee/tracees.h"

void hold_begin(struct tracees *tracees, struct hold *hold,
		struct thread *thread)
{
	watch_settled(&tracees->watch, thread);
	hold->thread = thread;
	thread->hold = hold;
}

void hold_drop(struct hold *hold)
{
	if (hold->thread)
		hold->thread->hold = NULL;
	hold->thread = NULL;
}

struct hold *hold_lose(struct thread *thread)
{
	struct hold *hold = thread->hold;

	if (hold)
		hold_drop(hold);
	return hold;
}

void hold_release(struct tracees *tracees, struct hold *hold)
{
	struct thread *thread = hold->thread;

	hold_drop(hold);
	if (thread)
		thread_resume(tracees, thread);
}
