/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * When the front end learns of a process; see announce.h.
 */
#include "tracer/announce.h"

#include "tracee/breakpoint.h"
#include "tracer/core.h"
#include "tracer/govern.h"

static void announce_send(struct core *core, struct govern *govern,
			  struct process *process)
{
	struct wire_process message = { .pid = process->pid,
					.parent = process->parent,
					.program =
						process->space->text->program,
					.threads = process->threads_most,
					.exec = process->execed };
	bool sent = channel_send(&core->channel, WIRE_PROCESS, &message,
				 sizeof(message));

	/* what was told before stays told */
	process->announced |= sent;
	if (process->execed && sent)
		govern_restart(govern);
	process->execed &= !sent;
}

/* Tell of it now, if that was not done. */
static void announce_now(struct core *core, struct govern *govern,
			 struct process *process)
{
	if (!process->announced && process->role == PROCESS_WATCHED)
		announce_send(core, govern, process);
}

/* Those that were asked for, and children with memory that others may have. */
static void announce_if_due(struct core *core, struct govern *govern,
			    struct process *process)
{
	if (process->parent == 0 || process->space->shared.count > 0)
		announce_now(core, govern, process);
}

void announce_begin(struct core *core, struct govern *govern,
		    struct process *process)
{
	core->stats.processes++;
	announce_if_due(core, govern, process);
}

void announce_exec(struct core *core, struct govern *govern,
		   struct process *process)
{
	process->execed = true;
	announce_if_due(core, govern, process);
}

void announce_thread(struct core *core, struct govern *govern,
		     struct process *process)
{
	if (process->role == PROCESS_WATCHED && process->threads_most == 2 &&
	    process->threads.count == 2)
		announce_send(core, govern, process);
}

void announce_loaded(struct core *core, struct govern *govern,
		     struct process *process)
{
	announce_now(core, govern, process);
}

void announce_tick(struct core *core, struct govern *govern)
{
	for (size_t i = 0; i < core->tracees.processes.count; i++) {
		struct process *process = tracees_process_at(&core->tracees, i);

		if (process->waited)
			announce_now(core, govern, process);
		process->waited = true;
	}
}

/* Another process may have to stand for the program; see session/watched.h. */
static void announce_others(struct core *core, struct govern *govern,
			    const struct process *process)
{
	for (size_t i = 0; i < core->tracees.processes.count; i++) {
		struct process *other = tracees_process_at(&core->tracees, i);

		if (other != process && other->space &&
		    other->space->text == process->space->text)
			announce_now(core, govern, other);
	}
}

void announce_end(struct core *core, struct govern *govern,
		  struct process *process)
{
	struct wire_process message = { .pid = process->pid,
					.threads = process->threads_most };

	if (!process->announced)
		return;
	message.program = process->space->text->program;
	announce_others(core, govern, process);
	channel_send(&core->channel, WIRE_PROCESS_ENDED, &message,
		     sizeof(message));
	process->announced = false;
}
