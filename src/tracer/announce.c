/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * When the front end learns of a process; see announce.h.
 */
#include "tracer/announce.h"

#include "tracee/breakpoint.h"
#include "tracer/engine.h"
#include "tracer/govern.h"

static void announce_send(struct engine *engine, struct process *process)
{
	struct wire_process message = { .pid = process->pid,
					.parent = process->parent,
					.program =
						process->space->text->program,
					.threads = process->threads_most,
					.exec = process->execed };
	bool sent = channel_send(&engine->core.channel, WIRE_PROCESS, &message,
				 sizeof(message));

	/* what was told before stays told */
	process->announced |= sent;
	if (process->execed && sent)
		govern_restart(engine);
	process->execed &= !sent;
}

/* Tell of it now, if that was not done. */
static void announce_now(struct engine *engine, struct process *process)
{
	if (!process->announced && process->role == PROCESS_WATCHED)
		announce_send(engine, process);
}

/* Those that were asked for, and children with memory that others may have. */
static void announce_if_due(struct engine *engine, struct process *process)
{
	if (process->parent == 0 || process->space->shared.count > 0)
		announce_now(engine, process);
}

void announce_begin(struct engine *engine, struct process *process)
{
	engine->core.stats.processes++;
	announce_if_due(engine, process);
}

void announce_exec(struct engine *engine, struct process *process)
{
	process->execed = true;
	announce_if_due(engine, process);
}

void announce_thread(struct engine *engine, struct process *process)
{
	if (process->role == PROCESS_WATCHED && process->threads_most == 2 &&
	    process->threads.count == 2)
		announce_send(engine, process);
}

void announce_tick(struct engine *engine)
{
	for (size_t i = 0; i < engine->core.tracees.processes.count; i++) {
		struct process *process =
			tracees_process_at(&engine->core.tracees, i);

		if (process->waited)
			announce_now(engine, process);
		process->waited = true;
	}
}

/* Another process may have to stand for the program; see session/watched.h. */
static void announce_others(struct engine *engine,
			    const struct process *process)
{
	for (size_t i = 0; i < engine->core.tracees.processes.count; i++) {
		struct process *other =
			tracees_process_at(&engine->core.tracees, i);

		if (other != process && other->space &&
		    other->space->text == process->space->text)
			announce_now(engine, other);
	}
}

void announce_end(struct engine *engine, struct process *process)
{
	struct wire_process message = { .pid = process->pid,
					.threads = process->threads_most };

	if (!process->announced)
		return;
	message.program = process->space->text->program;
	announce_others(engine, process);
	channel_send(&engine->core.channel, WIRE_PROCESS_ENDED, &message,
		     sizeof(message));
	process->announced = false;
}
