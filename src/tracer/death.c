/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Deaths by signal; see death.h.
 */
#include "tracer/death.h"

#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/error.h"
#include "sys/procfs.h"
#include "sys/trace.h"
#include "sys/wait.h"
#include "tracee/breakpoint.h"
#include "tracee/process.h"
#include "tracee/snapshot.h"
#include "tracee/thread.h"
#include "tracer/core.h"

struct death {
	struct wire_crash wire;
	uint8_t stack[WIRE_STACK_MAX];
};

/*
 * Signals that a program dies of where it stands: those that dump core
 * (signal(7)), and a broken pipe. The others are sent to it, often and with
 * handlers (timers): where it stood then says nothing, and to look would cost.
 */
static bool death_has_place(int signal)
{
	switch (signal) {
	case SIGABRT:
	case SIGBUS:
	case SIGFPE:
	case SIGILL:
	case SIGPIPE:
	case SIGQUIT:
	case SIGSEGV:
	case SIGSYS:
	case SIGTRAP:
	case SIGXCPU:
	case SIGXFSZ:
		return true;
	default:
		return false;
	}
}

/* Neither handled nor ignored, as the program has it now? */
static bool death_is_certain(const struct thread *thread, int signal)
{
	uint64_t bit = UINT64_C(1) << (signal - 1);
	struct thread_status status;
	struct error *err = procfs_status(thread->tid, &status);

	error_free(err);
	return !err && !((status.caught | status.ignored) & bit);
}

static void death_copy(struct thread *thread, struct death *death, int signal)
{
	struct wire_crash *wire = &death->wire;
	struct x86_registers regs;

	wire->pid = thread->process->pid;
	wire->signal = signal;
	wire->wall_ns = clock_wall_ns();
	if (!thread_ok(thread,
		       trace_fault_address(thread->tid, &wire->has_address,
					   &wire->address)) ||
	    !thread_ok(thread, trace_registers(thread->tid, &regs)))
		return;
	snapshot_thread(thread, &regs, &wire->side, death->stack);
	wire->side.before = true;
}

void death_signal(struct thread *thread, int signal)
{
	struct process *process = thread->process;

	/* once handed a signal that kills, a thread gets no other */
	if (process->death && process->death->wire.side.tid == thread->tid)
		death_forget(process);
	/* of several threads, the first to be handed it is that which kills */
	if (process->role != PROCESS_WATCHED || process->death ||
	    !death_has_place(signal) || !death_is_certain(thread, signal))
		return;
	process->death = calloc(1, sizeof(*process->death));
	/* without memory the signal itself is told all the same */
	if (process->death)
		death_copy(thread, process->death, signal);
}

void death_ended(struct core *core, const struct process *process,
		 const struct stop_reason *stop)
{
	const struct death *death = process->death;
	struct wire_crash plain = { .pid = process->pid,
				    .signal = stop->signal,
				    .wall_ns = clock_wall_ns() };
	struct channel_part parts[] = {
		{ &plain, sizeof(plain) },
		{ NULL, 0 },
	};

	if (process->role != PROCESS_WATCHED || stop->kind != STOP_KILLED)
		return;
	plain.side.program = process->space->text->program;
	if (death && death->wire.signal == stop->signal) {
		parts[0].bytes = &death->wire;
		parts[1].bytes = death->stack;
		parts[1].size = death->wire.side.stack_size;
	}
	if (!channel_send_parts(&core->channel, WIRE_CRASH, parts, 2))
		core->stats.dropped++;
}

void death_forget(struct process *process)
{
	free(process->death);
	process->death = NULL;
}
