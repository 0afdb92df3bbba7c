/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The tracer's state; see engine.h.
 */
#include "tracer/engine.h"

#include "base/clock.h"
#include "tracee/breakpoint.h"
#include "tracee/thread.h"

void engine_leave_space(struct engine *engine, struct process *process)
{
	struct addrspace *space = process->space;
	const struct program_text *text = space->text;
	bool last = space->users == 1 && text->spaces.count == 1;

	for (size_t i = 0; last && i < text->breakpoints.count; i++) {
		const struct breakpoint *breakpoint =
			*(struct breakpoint **)vec_at(&text->breakpoints, i);

		if (breakpoint->armed)
			core_return_site(&engine->core, text->program,
					 breakpoint->site.id, WIRE_LIFTED);
	}
	if (last) {
		pool_forget_spent(&engine->pool, text->program);
		record_leave(engine, text);
	}
	process->space = NULL;
	addrspace_release(space);
}

void engine_take_back(struct engine *engine, struct thread *thread)
{
	if (!thread->left)
		return;
	thread->left = false;
	thread->drained = false;
	engine->left--;
}

void engine_send_stats(struct engine *engine)
{
	struct wire_stats stats = engine->core.stats;

	stats.busy_ns = clock_process_cpu_ns();
	stats.armed = (uint32_t)core_armed(&engine->core);
	stats.rate = (uint32_t)(pool_rate(&engine->pool) + 0.5);
	stats.refills = engine->pool.refills;
	stats.unpaid = engine->pool.unpaid;
	stats.over_rate = engine->pool.over_rate;
	stats.pool = engine->govern.governor.pool;
	stats.wanted = engine->govern.governor.wanted;
	stats.hits_per_s = engine->govern.governor.hits_per_s;
	stats.few_hits = governor_has_few(&engine->govern.governor);
	stats.by_processor = engine->core.tracees.watch.ops == &watch_by_cpu;
	stats.armed_once = (uint32_t)core_armed_once(&engine->core);
	stats.lost_ns = (uint64_t)engine->load.budget.lost_ns;
	stats.lost_cpu_ns = (uint64_t)engine->load.budget.lost_cpu_ns;
	stats.lost_replay_ns = (uint64_t)engine->load.budget.lost_replay_ns;
	stats.lost_stop_ns = (uint64_t)engine->load.budget.lost_stop_ns;
	stats.competition = (uint32_t)(1000 * engine->load.budget.competition);
	if (engine->stalls.list.count > 0) {
		uint64_t held = clock_now_ns() - engine->stalls.busy_since_ns;

		stats.stalled_ns += held;
		stats.lost_ns +=
			(uint64_t)((double)held * engine->load.budget.loss);
	}
	channel_send(&engine->core.channel, WIRE_STATS, &stats, sizeof(stats));
}

void engine_tell_end(struct engine *engine)
{
	struct wire_exited message = { .pid = engine->pid,
				       .status = engine->first_status,
				       .ended_ns = clock_now_ns() };

	core_send_notes(&engine->core);
	engine_send_stats(engine);
	channel_send(&engine->core.channel, WIRE_EXITED, &message,
		     sizeof(message));
	engine->ended = true;
}
