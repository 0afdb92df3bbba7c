/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Threads and processes that are traced no more; see forget.h.
 */
#include "target/forget.h"

#include <unistd.h>

#include "target/announce.h"
#include "target/breakpoint.h"
#include "target/creation.h"
#include "target/death.h"
#include "target/engine.h"
#include "target/hold.h"
#include "target/release.h"
#include "target/thread-end.h"
#include "target/thread.h"

void forget_hold(struct engine *engine, const struct hold *hold)
{
	if (hold && !stalls_lose(engine, hold))
		moment_lose(&engine->moment, hold);
}

void forget_thread(struct engine *engine, struct thread *thread)
{
	struct hold *hold;

	release_take_back(engine, thread);
	profile_forget(engine, thread);
	creation_forget(engine, thread);
	hold = thread_destroy(&engine->tracees, thread);
	forget_hold(engine, hold);
}

void forget_process(struct engine *engine, struct process *process)
{
	announce_end(engine, process);
	for (size_t i = 0; i < engine->tracees.processes.count; i++) {
		if (tracees_process_at(&engine->tracees, i) == process) {
			vec_remove(&engine->tracees.processes, i);
			engine_leave_space(engine, process);
			death_forget(process);
			process_destroy(process);
			return;
		}
	}
}

void engine_deinit(struct engine *engine)
{
	while (engine->tracees.processes.count > 0) {
		struct process *process =
			tracees_process_at(&engine->tracees, 0);

		while (process->threads.count > 0) {
			struct thread *thread = process_thread(process, 0);

			thread->state = THREAD_GONE;
			forget_thread(engine, thread);
		}
		forget_process(engine, process);
	}
	stalls_forget_runner(&engine->stalls);
	if (engine->perf_ready >= 0)
		close(engine->perf_ready);
	addrspace_release(engine->last_space);
	pool_deinit(&engine->pool);
	lengths_deinit(&engine->lengths);
	profile_deinit(&engine->profile);
	tracees_deinit(&engine->tracees);
	vec_deinit(&engine->orphans);
	vec_deinit(&engine->stalls.list);
	vec_deinit(&engine->returned);
	channel_deinit(&engine->channel);
}
