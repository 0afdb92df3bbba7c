/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The end of a thread's record; see thread-end.h.
 */
#include "target/thread-end.h"

#include <stdlib.h>

#include "target/hold.h"
#include "target/parking.h"
#include "target/step.h"
#include "target/thread.h"
#include "target/tracees.h"
#include "target/watch-update.h"

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
