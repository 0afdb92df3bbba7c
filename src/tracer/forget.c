/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Threads and processes that are traced no more; see forget.h.
 */
#include "tracer/forget.h"

#include "tracee/breakpoint.h"
#include "tracee/hold.h"
#include "tracee/thread-end.h"
#include "tracee/thread.h"
#include "tracer/announce.h"
#include "tracer/creation.h"
#include "tracer/death.h"
#include "tracer/engine.h"
#include "tracer/hunt.h"
#include "tracer/record.h"

void forget_hold(struct engine *engine, const struct hold *hold)
{
	if (hold && !stalls_lose(engine, hold) && !provoke_lose(engine, hold))
		freeze_lose(&engine->freeze, hold);
}

void forget_thread(struct engine *engine, struct thread *thread)
{
	struct hold *hold;

	engine_take_back(engine, thread);
	profile_forget(&engine->profile, thread);
	record_ended(engine, thread);
	creation_forget(&engine->creations, thread);
	hunt_forget(engine, thread);
	hold = thread_destroy(&engine->core.tracees, thread);
	forget_hold(engine, hold);
}

void forget_process(struct engine *engine, struct process *process)
{
	announce_end(&engine->core, &engine->govern, process);
	for (size_t i = 0; i < engine->core.tracees.processes.count; i++) {
		if (tracees_process_at(&engine->core.tracees, i) == process) {
			vec_remove(&engine->core.tracees.processes, i);
			hunt_leave(engine, process);
			engine_leave_space(engine, process);
			death_forget(process);
			process_destroy(process);
			return;
		}
	}
}
