/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What every part of the tracer uses; see core.h.
 */
#include "tracer/core.h"

#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "tracee/breakpoint.h"
#include "tracee/thread.h"

enum {
	CORE_NOTES_MAX = 20,
	/* what may wait for the front end to read it */
	CORE_OUT_LIMIT = 8 << 20,
};

struct error *core_init(struct core *core, int fd, uint64_t seed)
{
	memset(core, 0, sizeof(*core));
	tracees_init(&core->tracees, &core->stats);
	core->returned = (struct vec)VEC_INIT(struct wire_returned);
	core->perf_ready = -1;
	rng_init(&core->rng, seed);
	return channel_init(&core->channel, fd, CORE_OUT_LIMIT);
}

void core_deinit(struct core *core)
{
	if (core->perf_ready >= 0)
		close(core->perf_ready);
	tracees_deinit(&core->tracees);
	held_deinit(&core->held);
	vec_deinit(&core->returned);
	channel_deinit(&core->channel);
}

/* May another watched process have some of the process's memory mapped? */
static bool core_shares_memory(const struct core *core,
			       const struct process *process)
{
	return process->space->shared.count > 0 &&
	       tracees_watched_count(&core->tracees) > 1;
}

bool core_may_race(const struct core *core, const struct process *process)
{
	return process->threads.count > 1 || core_shares_memory(core, process);
}

bool core_counts_text(const struct process *process)
{
	const struct vec *spaces = &process->space->text->spaces;

	return *(struct addrspace **)vec_at(spaces, 0) == process->space;
}

/* In the texts of all programs: those of the pool, and those beside it. */
static void core_count_armed(const struct core *core, size_t *ret_pool,
			     size_t *ret_once)
{
	*ret_pool = *ret_once = 0;
	for (size_t i = 0; i < core->tracees.processes.count; i++) {
		const struct process *process =
			tracees_process_at(&core->tracees, i);
		const struct program_text *text = process->space->text;

		if (process->role != PROCESS_WATCHED ||
		    !core_counts_text(process))
			continue;
		*ret_pool += text->armed - text->armed_once;
		*ret_once += text->armed_once;
	}
}

size_t core_armed_once(const struct core *core)
{
	size_t pool, once;

	core_count_armed(core, &pool, &once);
	return once;
}

size_t core_armed(const struct core *core)
{
	size_t pool, once;

	core_count_armed(core, &pool, &once);
	return pool;
}

void core_return_site(struct core *core, uint32_t program, uint64_t id,
		      enum wire_returned_why why)
{
	struct wire_returned returned = { .id = id,
					  .program = program,
					  .why = why };

	/* a site that is not returned is never drawn again: a lesser evil */
	if (!vec_push(&core->returned, &returned))
		core->stats.dropped++;
}

static void core_send_note(struct core *core, struct error *err)
{
	const char *message = error_message(err);

	if (!err)
		return;
	if (err != error_gone && core->notes_sent < CORE_NOTES_MAX) {
		core->notes_sent++;
		channel_send(&core->channel, WIRE_NOTE, message,
			     strlen(message));
	}
	error_free(err);
}

void core_send_notes(struct core *core)
{
	struct error *err;

	while ((err = tracees_take_note(&core->tracees)))
		core_send_note(core, err);
}

void core_note(struct core *core, struct error *err)
{
	core_send_notes(core);
	core_send_note(core, err);
}

void core_note_last(struct core *core, struct error *err)
{
	core_send_notes(core);
	core->notes_sent = 0;
	core_send_note(core, err);
}
