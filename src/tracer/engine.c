/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The tracer's state; see engine.h.
 */
#include "tracer/engine.h"

#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/error.h"
#include "tracee/breakpoint.h"
#include "tracee/thread.h"

enum { ENGINE_NOTES_MAX = 20 };

void engine_leave_space(struct engine *engine, struct process *process)
{
	struct addrspace *space = process->space;
	const struct program_text *text = space->text;
	bool last = space->users == 1 && text->spaces.count == 1;

	for (size_t i = 0; last && i < text->breakpoints.count; i++) {
		const struct breakpoint *breakpoint =
			*(struct breakpoint **)vec_at(&text->breakpoints, i);

		if (breakpoint->armed)
			engine_return_site(engine, text->program,
					   breakpoint->site.id, WIRE_LIFTED);
	}
	if (last)
		pool_forget_spent(&engine->pool, text->program);
	process->space = NULL;
	addrspace_release(space);
}

/* May another watched process have some of the process's memory mapped? */
static bool engine_shares_memory(const struct engine *engine,
				 const struct process *process)
{
	return process->space->shared.count > 0 &&
	       tracees_watched_count(&engine->tracees) > 1;
}

bool engine_may_race(const struct engine *engine, const struct process *process)
{
	return process->threads.count > 1 ||
	       engine_shares_memory(engine, process);
}

void engine_take_back(struct engine *engine, struct thread *thread)
{
	if (!thread->left)
		return;
	thread->left = false;
	thread->drained = false;
	engine->left--;
}

bool engine_counts_text(const struct process *process)
{
	const struct vec *spaces = &process->space->text->spaces;

	return *(struct addrspace **)vec_at(spaces, 0) == process->space;
}

/* In the texts of all programs: those of the pool, and those beside it. */
static void engine_count_armed(const struct engine *engine, size_t *ret_pool,
			       size_t *ret_once)
{
	*ret_pool = *ret_once = 0;
	for (size_t i = 0; i < engine->tracees.processes.count; i++) {
		const struct process *process =
			tracees_process_at(&engine->tracees, i);
		const struct program_text *text = process->space->text;

		if (process->role != PROCESS_WATCHED ||
		    !engine_counts_text(process))
			continue;
		*ret_pool += text->armed - text->armed_once;
		*ret_once += text->armed_once;
	}
}

size_t engine_armed_once(const struct engine *engine)
{
	size_t pool, once;

	engine_count_armed(engine, &pool, &once);
	return once;
}

size_t engine_armed(const struct engine *engine)
{
	size_t pool, once;

	engine_count_armed(engine, &pool, &once);
	return pool;
}

void engine_return_site(struct engine *engine, uint32_t program, uint64_t id,
			enum wire_returned_why why)
{
	struct wire_returned returned = { .id = id,
					  .program = program,
					  .why = why };

	/* a site that is not returned is never drawn again: a lesser evil */
	if (!vec_push(&engine->returned, &returned))
		engine->stats.dropped++;
}

static void engine_send_note(struct engine *engine, struct error *err)
{
	const char *message = error_message(err);

	if (!err)
		return;
	if (err != error_gone && engine->notes_sent < ENGINE_NOTES_MAX) {
		engine->notes_sent++;
		channel_send(&engine->channel, WIRE_NOTE, message,
			     strlen(message));
	}
	error_free(err);
}

void engine_send_notes(struct engine *engine)
{
	struct error *err;

	while ((err = tracees_take_note(&engine->tracees)))
		engine_send_note(engine, err);
}

void engine_note(struct engine *engine, struct error *err)
{
	engine_send_notes(engine);
	engine_send_note(engine, err);
}

uint64_t engine_cpu_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return (uint64_t)now.tv_sec * CLOCK_NS_PER_S + (uint64_t)now.tv_nsec;
}

void engine_send_stats(struct engine *engine)
{
	struct wire_stats stats = engine->stats;

	stats.busy_ns = engine_cpu_ns();
	stats.armed = (uint32_t)engine_armed(engine);
	stats.rate = (uint32_t)(pool_rate(&engine->pool) + 0.5);
	stats.refills = engine->pool.refills;
	stats.unpaid = engine->pool.unpaid;
	stats.over_rate = engine->pool.over_rate;
	stats.pool = engine->governor.pool;
	stats.wanted = engine->governor.wanted;
	stats.hits_per_s = engine->governor.hits_per_s;
	stats.few_hits = governor_has_few(&engine->governor);
	stats.by_processor = engine->tracees.watch.ops == &watch_by_cpu;
	stats.armed_once = (uint32_t)engine_armed_once(engine);
	stats.lost_ns = (uint64_t)engine->load.budget.lost_ns;
	stats.lost_cpu_ns = (uint64_t)engine->load.budget.lost_cpu_ns;
	stats.lost_stop_ns = (uint64_t)engine->load.budget.lost_stop_ns;
	stats.competition = (uint32_t)(1000 * engine->load.budget.competition);
	if (engine->stalls.list.count > 0) {
		uint64_t held = clock_now_ns() - engine->stalls.busy_since_ns;

		stats.stalled_ns += held;
		stats.lost_ns +=
			(uint64_t)((double)held * engine->load.budget.loss);
	}
	channel_send(&engine->channel, WIRE_STATS, &stats, sizeof(stats));
}

void engine_tell_end(struct engine *engine)
{
	struct wire_exited message = { .pid = engine->pid,
				       .status = engine->first_status,
				       .ended_ns = clock_now_ns() };

	engine_send_notes(engine);
	engine_send_stats(engine);
	channel_send(&engine->channel, WIRE_EXITED, &message, sizeof(message));
	engine->ended = true;
}
