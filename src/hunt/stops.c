/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Traces of breakpoints; see stops.h.
 */
#include "hunt/stops.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/vec.h"
#include "hunt/stops-process.h"
#include "hunt/trace-format.h"
#include "recorder/emit.h"
#include "recorder/recorder.h"
#include "session/recording.h"
#include "wire/record.h"

struct stops {
	struct stops_options options;
	struct vec processes; /* of struct stops_process * */
};

struct error *stops_create(const struct stops_options *options,
			   struct stops **ret)
{
	struct stops *stops = calloc(1, sizeof(*stops));

	if (!stops)
		return error_nomem;
	stops->options = *options;
	stops->processes = (struct vec)VEC_INIT(struct stops_process *);
	*ret = stops;
	return NULL;
}

size_t stops_count(const struct stops *stops)
{
	return stops->processes.count;
}

static struct stops_process *process_find(const struct stops *stops,
					  const struct wire_recorded *news)
{
	for (size_t i = stops->processes.count; i-- > 0;) {
		struct stops_process *process =
			*(struct stops_process **)vec_at(&stops->processes, i);

		if (process->pid == news->pid &&
		    process->program == news->program)
			return process;
	}
	return NULL;
}

static struct error *process_of(struct stops *stops,
				const struct session_recorded *news,
				struct stops_process **ret)
{
	struct stops_process *process = process_find(stops, news->wire);
	struct error *err;

	if (process) {
		*ret = process;
		return NULL;
	}
	err = stops_process_create(&stops->options, news, &process);
	if (err)
		return err;
	if (!vec_push(&stops->processes, &process)) {
		stops_process_end(process, 0);
		return error_nomem;
	}
	*ret = process;
	return NULL;
}

/*
 * Does the access come of the call of pthread_join(3) that the thread has made, as
 * that of a signal handler? The stack pointer says so if it is above, and else the
 * return addresses, of which there may be more than are told.
 */
static bool is_within_join(const struct stops_thread *thread,
			   const struct session_recorded *news)
{
	if (news->wire->regs.gpr[X86_RSP] > thread->joins_sp)
		return false;
	for (size_t i = 0; i < news->return_count; i++) {
		if (news->returns[i] == thread->joins_return)
			return true;
	}
	return thread->joins_return == 0 || news->return_count == 0 ||
	       news->return_count >= SESSION_RETURNS;
}

/* Of a thread that joins another one: has it come back? */
static void note_return(struct stops_process *process,
			struct stops_thread *thread,
			const struct session_recorded *news)
{
	struct stops_thread *joined = thread->joins;

	/* who calls it again, or creates a thread, has come back */
	if (!joined || (news->wire->kind == WIRE_RECORDED_ACCESS &&
			is_within_join(thread, news)))
		return;
	thread->joins = NULL;
	/* a number of its own: it comes before the next creation */
	joined->joined = process->recorder.sequence++;
	joined->joiner = thread->id;
}

static void set_stack(struct recorder *recorder,
		      const struct session_recorded *news)
{
	/* places that only have to be in order */
	const uint64_t top = UINT64_C(1) << 32;

	recorder_return(recorder, UINT64_MAX, 0);
	for (size_t i = news->return_count; i-- > 0;)
		recorder_call(recorder, top + 8 * i, news->returns[i]);
}

static void take_access(struct recorder *recorder,
			const struct wire_recorded *news, uint32_t i)
{
	const struct mem_access *access = &news->accesses[i];
	uint32_t flags = 0, id;

	if (access->kind & ACCESS_READ)
		flags |= TRACE_READS;
	if (access->kind & ACCESS_WRITE)
		flags |= TRACE_WRITES;
	if (news->synchronizes)
		flags |= TRACE_ATOMIC;
	id = uses_site(&recorder->uses, news->regs.rip, access->size, flags);
	if (id == 0)
		return;
	recorder->copy = (uint64_t)(uintptr_t)news->memory[i] -
			 (access->address & ~UINT64_C(7));
	recorder_access(recorder, site_at(&recorder->uses, id),
			access->address);
}

static void take_accesses(struct stops_process *process,
			  struct stops_thread *thread,
			  const struct session_recorded *news)
{
	struct recorder *recorder = &process->recorder;
	const struct wire_recorded *wire = news->wire;

	stops_process_map(process, wire->regs.rip, news->maps);
	set_stack(recorder, news);
	for (uint32_t i = 0; i < wire->count && i < X86_OPERANDS_MAX; i++)
		take_access(recorder, wire, i);
	thread->last = recorder->sequence;
}

static struct error *take_birth(struct stops_process *process,
				const struct session_recorded *news)
{
	const struct wire_recorded *wire = news->wire;
	struct stops_thread *creator = NULL, *born;
	struct error *err = NULL;

	if (wire->creator != 0)
		err = stops_thread_of(process, wire->creator, &creator);
	if (err)
		return err;
	if (creator) {
		recorder_ran(&process->recorder, stops_host(process, creator),
			     wire->ns);
		note_return(process, creator, news);
		stops_process_map(process, wire->regs.rip, news->maps);
		set_stack(&process->recorder, news);
	}
	return stops_thread_add(process, wire->tid, creator, &born);
}

/* Of one that has done nothing else, nothing is to be told. */
static void take_end(const struct stops *stops,
		     const struct wire_recorded *wire)
{
	struct stops_process *process = process_find(stops, wire);
	struct stops_thread *thread =
		process ? stops_thread_find(process, wire->tid) : NULL;

	if (thread)
		stops_thread_end(process, thread);
}

struct error *stops_take(struct stops *stops,
			 const struct session_recorded *news)
{
	const struct wire_recorded *wire = news->wire;
	struct stops_process *process;
	struct stops_thread *thread;
	struct error *err;

	if (wire->kind == WIRE_RECORDED_ENDED) {
		take_end(stops, wire);
		return NULL;
	}
	err = process_of(stops, news, &process);
	if (!err && wire->kind == WIRE_RECORDED_BORN)
		return take_birth(process, news);
	if (!err)
		err = stops_thread_of(process, wire->tid, &thread);
	if (err)
		return err;
	if (thread->pointer == 0)
		stops_thread_begin(process, thread, &wire->regs);
	recorder_ran(&process->recorder, stops_host(process, thread), wire->ns);
	note_return(process, thread, news);
	if (wire->kind == WIRE_RECORDED_JOIN) {
		thread->joins = stops_thread_by_pointer(
			process, wire->regs.gpr[X86_RDI], thread);
		thread->joins_sp = wire->regs.gpr[X86_RSP];
		thread->joins_return = news->return_count > 0 ? news->returns[0]
							      : 0;
	} else if (wire->kind == WIRE_RECORDED_ACCESS) {
		take_accesses(process, thread, news);
	}
	return NULL;
}

void stops_end(struct stops *stops, int pid, int status)
{
	if (!stops)
		return;
	for (size_t i = 0; i < stops->processes.count; i++) {
		struct stops_process *process =
			*(struct stops_process **)vec_at(&stops->processes, i);

		stops_process_end(process, process->pid == pid ? status : 0);
	}
	vec_deinit(&stops->processes);
	free(stops);
}
