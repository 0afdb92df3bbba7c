/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The end of a thread's record; see thread-end.h.
 */
#include "tracee/thread-end.h"

#include <stdlib.h>

#include "tracee/hold.h"
#include "tracee/parking.h"
#include "tracee/step.h"
#include "tracee/thread.h"
#include "tracee/tracees.h"
#include "tracee/watch-update.h"

struct hold *thread_destroy(struct tracees *tracees, struct thread *thread)
{
	struct hold *hold;

	thread_unpark(thread);
	watch_settled(&tracees->watch, thread);
	watch_ops_of(&tracees->watch, thread)->clear(tracees, thread);
	thread->state = THREAD_GONE;
	hold = hold_lose(thread);
	step_lose(tracees, thread);
	map_remove(&tracees->threads, (uint64_t)thread->tid);
	thread_unlist(thread);
	free(thread);
	return hold;
}
