/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The beginning and the end of the tracer's state; see engine.h.
 */
#include <string.h>

#include "tracee/breakpoint.h"
#include "tracee/thread.h"
#include "tracer/engine.h"
#include "tracer/forget.h"

struct error *engine_init(struct engine *engine, int fd, uint64_t seed)
{
	memset(engine, 0, sizeof(*engine));
	orphans_init(&engine->orphans, &engine->core);
	engine->privileged.core = &engine->core;
	priority_init(&engine->priority, &engine->core);
	engine->stalls.list = (struct vec)VEC_INIT(struct stall *);
	engine->stalls.runner_call = -1;
	load_init(&engine->load, &engine->core, &engine->stalls);
	engine->govern.core = &engine->core;
	engine->govern.load = &engine->load;
	engine->govern.pool = &engine->pool;
	pool_init(&engine->pool, &engine->load.budget,
		  &engine->govern.governor);
	profile_init(&engine->profile);
	engine->profile.core = &engine->core;
	engine->profile.load = &engine->load;
	engine->profile.pool = &engine->pool;
	engine->profile.stalls = &engine->stalls;
	engine->profile.startups = &engine->startups;
	engine->startups = (struct startups){ .core = &engine->core,
					      .load = &engine->load,
					      .pool = &engine->pool,
					      .provoke = &engine->provoke };
	provoke_init(&engine->provoke, &engine->core);
	hunt_init(&engine->hunt);
	record_init(&engine->record);
	replays_init(&engine->replays, &engine->core, &engine->load,
		     &engine->pool.params);
	engine->freeze.core = &engine->core;
	return core_init(&engine->core, fd, seed);
}

void engine_deinit(struct engine *engine)
{
	while (engine->core.tracees.processes.count > 0) {
		struct process *process =
			tracees_process_at(&engine->core.tracees, 0);

		while (process->threads.count > 0) {
			struct thread *thread = process_thread(process, 0);

			thread->state = THREAD_GONE;
			forget_thread(engine, thread);
		}
		forget_process(engine, process);
	}
	stalls_forget_runner(&engine->stalls);
	pool_deinit(&engine->pool);
	lengths_deinit(&engine->lengths);
	profile_deinit(&engine->profile);
	provoke_deinit(&engine->provoke);
	hunt_deinit(&engine->hunt);
	record_deinit(&engine->record);
	replays_deinit(&engine->replays);
	orphans_deinit(&engine->orphans);
	vec_deinit(&engine->stalls.list);
	core_deinit(&engine->core);
}
