/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The beginning and the end of the tracer's state; see engine.h.
 */
#include <string.h>
#include <unistd.h>

#include "tracee/breakpoint.h"
#include "tracee/thread.h"
#include "tracer/engine.h"
#include "tracer/forget.h"

/* what may wait for the front end to read it */
enum { ENGINE_OUT_LIMIT = 8 << 20 };

struct error *engine_init(struct engine *engine, int fd, uint64_t seed)
{
	memset(engine, 0, sizeof(*engine));
	tracees_init(&engine->tracees, &engine->stats);
	engine->orphans = (struct vec)VEC_INIT(struct stop_reason);
	engine->stalls.list = (struct vec)VEC_INIT(struct stall *);
	engine->returned = (struct vec)VEC_INIT(struct wire_returned);
	engine->stalls.runner_call = -1;
	engine->perf_ready = -1;
	load_init(&engine->load);
	pool_init(&engine->pool, &engine->load.budget, &engine->governor);
	profile_init(&engine->profile);
	provoke_init(&engine->provoke);
	replays_init(&engine->replays);
	rng_init(&engine->rng, seed);
	return channel_init(&engine->channel, fd, ENGINE_OUT_LIMIT);
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
	provoke_deinit(&engine->provoke);
	replays_deinit(&engine->replays);
	tracees_deinit(&engine->tracees);
	vec_deinit(&engine->orphans);
	vec_deinit(&engine->stalls.list);
	vec_deinit(&engine->returned);
	channel_deinit(&engine->channel);
}
