/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Keeping a stopped thread stopped; see hold.h.
 */
#include "target/hold.h"

#include <stddef.h>

#include "target/engine.h"
#include "target/thread.h"

void hold_begin(struct engine *engine, struct hold *hold, struct thread *thread)
{
	watch_settled(&engine->tracees.watch, thread);
	hold->thread = thread;
	thread->hold = hold;
}

void hold_drop(struct hold *hold)
{
	if (hold->thread)
		hold->thread->hold = NULL;
	hold->thread = NULL;
}

void hold_lose(struct engine *engine, struct thread *thread)
{
	struct hold *hold = thread->hold;

	if (!hold)
		return;
	hold_drop(hold);
	if (hold->lost)
		hold->lost(engine, hold);
}

void hold_release(struct engine *engine, struct hold *hold)
{
	struct thread *thread = hold->thread;

	hold_drop(hold);
	if (thread)
		thread_resume(engine, thread);
}

void hold_release_in_order(struct engine *engine, struct hold *const *holds,
			   int count)
{
	for (int i = 0; i < count; i++)
		hold_release(engine, holds[i]);
}
