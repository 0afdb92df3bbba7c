/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A recording by breakpoints; see record.h.
 */
#include "tracer/record.h"

#include <poll.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/error.h"
#include "sys/memory.h"
#include "sys/trace.h"
#include "tracee/breakpoint.h"
#include "tracee/displaced.h"
#include "tracee/thread.h"
#include "tracer/arm.h"
#include "tracer/creation.h"
#include "tracer/engine.h"
#include "tracer/hunt-registers.h"
#include "tracer/startup.h"
#include "wire/record.h"
#include "x86/effective.h"

/*
 * How often, and for how many ms each, the front end is waited for where it has
 * not read what it was told: it reads all the time.
 */
enum { RECORD_WAITS = 100, RECORD_WAIT_MS = 10 };

/*
 * How often, and for how many ms each, a new thread's creator waits until all are
 * armed again: another thread may be on its way to its end, with signals blocked,
 * which makes the next write wait for some ms (tracee/sigstate.h).
 */
enum { RECORD_ARM_WAITS = 60, RECORD_ARM_MS = 1 };

/* Of a program: more could not be armed before it goes on, by far. */
enum { RECORD_SITES_MAX = 4 << 20 };

struct record_site {
	struct wire_site site;
	uint32_t hits; /* since it was armed */
	bool refused; /* it cannot be armed */
};

struct record_program {
	uint32_t program;
	uint32_t births;
	bool due; /* not all are armed that are to be */
	struct vec sites; /* of struct record_site */
};

void record_init(struct record *record)
{
	*record = (struct record){
		.programs = VEC_INIT(struct record_program *),
	};
}

static struct record_program *record_at(const struct record *record, size_t i)
{
	return *(struct record_program **)vec_at(&record->programs, i);
}

static void record_free(struct record_program *program)
{
	vec_deinit(&program->sites);
	free(program);
}

void record_deinit(struct record *record)
{
	for (size_t i = 0; i < record->programs.count; i++)
		record_free(record_at(record, i));
	vec_deinit(&record->programs);
}

static struct record_program *record_find(const struct record *record,
					  uint32_t number)
{
	for (size_t i = 0; i < record->programs.count; i++) {
		if (record_at(record, i)->program == number)
			return record_at(record, i);
	}
	return NULL;
}

/* NULL: out of memory. */
static struct record_program *record_of(struct record *record, uint32_t number)
{
	struct record_program *program = record_find(record, number);

	if (program)
		return program;
	program = calloc(1, sizeof(*program));
	if (!program)
		return NULL;
	program->program = number;
	program->sites = (struct vec)VEC_INIT(struct record_site);
	if (vec_push(&record->programs, &program))
		return program;
	free(program);
	return NULL;
}

/* --- which are armed --- */

/* Who waits for the program's breakpoints waits for those that are due, too. */
static void record_delay(struct engine *engine,
			 const struct record_program *program)
{
	for (size_t i = 0; i < engine->core.tracees.processes.count; i++) {
		struct process *process =
			tracees_process_at(&engine->core.tracees, i);

		if (process->role == PROCESS_WATCHED &&
		    process->space->text->program == program->program)
			startup_delay(process->space->text, program->due);
	}
}

static void record_arm(struct engine *engine, struct record_program *program)
{
	program->due = false;
	for (size_t i = 0; i < program->sites.count; i++) {
		struct record_site *own = vec_at(&program->sites, i);
		enum wire_returned_why why;

		if (own->refused)
			continue;
		why = arm_standing(engine, &own->site);
		own->refused = why == WIRE_REFUSED;
		program->due |= why == WIRE_DEFERRED;
	}
	record_delay(engine, program);
}

static struct error *record_add(struct record_program *program,
				const struct wire_site *site)
{
	struct record_site *own;

	if (program->sites.count >= RECORD_SITES_MAX)
		return error_create(ERROR_OTHER,
				    "the program has more than %d instructions "
				    "to be recorded: the others are not",
				    RECORD_SITES_MAX);
	own = vec_append(&program->sites);
	if (!own)
		return error_nomem;
	own->site = *site;
	return NULL;
}

void record_take(struct engine *engine, const void *payload, size_t size)
{
	const struct wire_site *sites = payload;
	struct record_program *program;
	struct error *err = NULL;

	/* of programs that nobody runs there could be any number */
	if (engine->record.executions == 0 ||
	    !hunt_program(engine, sites[0].program))
		return;
	program = record_of(&engine->record, sites[0].program);
	if (!program)
		err = error_nomem;
	for (size_t i = 0; !err && i < size / sizeof(*sites); i++)
		err = record_add(program, &sites[i]);
	if (err)
		core_note(&engine->core, err);
	/* they are armed together, before the program goes on */
	if (program)
		program->due = true;
}

void record_tick(struct engine *engine)
{
	const struct record *record = &engine->record;

	if (engine->core.phase != PHASE_WATCHING)
		return;
	for (size_t i = 0; i < record->programs.count; i++) {
		if (record_at(record, i)->due)
			record_arm(engine, record_at(record, i));
	}
}

static struct record_site *record_site_of(const struct record *record,
					  const struct wire_site *site)
{
	struct record_program *program = record_find(record, site->program);
	uint64_t i = WIRE_ID(site->id) - 1;
	struct record_site *own;

	if (!program || i >= program->sites.count)
		return NULL;
	own = vec_at(&program->sites, i);
	return own->site.address == site->address ? own : NULL;
}

static uint32_t record_hits_max(const struct record *record,
				const struct thread *thread)
{
	size_t threads = thread->process->threads.count;

	if (threads == 1)
		return record->executions * RECORD_ALONE;
	if (threads > RECORD_THREADS)
		threads = RECORD_THREADS;
	return record->executions * (uint32_t)threads;
}

/* --- what is told --- */

static void record_send(struct engine *engine, struct wire_recorded *news,
			const void *stack)
{
	struct channel *channel = &engine->core.channel;
	const struct channel_part parts[] = {
		{ news, sizeof(*news) },
		{ stack, news->stack_size },
	};
	struct pollfd poller = { .fd = channel->fd, .events = POLLOUT };

	news->ns = clock_now_ns();
	for (int i = 0; i < RECORD_WAITS; i++) {
		if (channel_send_parts(channel, WIRE_RECORDED, parts, 2))
			return;
		if (channel->deaf)
			break;
		poll(&poller, 1, RECORD_WAIT_MS);
		channel_flush(channel);
	}
	engine->record.lost++;
}

static struct wire_recorded record_news(const struct thread *thread,
					enum wire_recorded_kind kind)
{
	return (struct wire_recorded){
		.kind = kind,
		.program = thread->process->space->text->program,
		.pid = thread->process->pid,
		.tid = thread->tid,
	};
}

static void record_accesses(const struct memory *memory,
			    const struct wire_site *site,
			    struct wire_recorded *news)
{
	int count =
		effective_accesses(&site->insn, &news->regs, news->accesses);

	news->count = (uint32_t)count;
	news->synchronizes = site->insn.synchronizes;
	for (int i = 0; i < count; i++) {
		const struct mem_access *access = &news->accesses[i];
		uint64_t from = access->address & ~UINT64_C(7);
		size_t size =
			(size_t)(access->address + access->size - from + 7) &
			~(size_t)7;
		size_t got = 0;

		if (size <= WIRE_RECORD_MEMORY)
			error_free(memory_read(memory, from, news->memory[i],
					       size, &got));
	}
}

static void record_tell(struct engine *engine, const struct thread *thread,
			const struct wire_site *site,
			const struct x86_registers *regs)
{
	const struct memory *memory = &thread->process->space->memory;
	struct wire_recorded news =
		record_news(thread, site->record == WIRE_RECORD_JOIN
					    ? WIRE_RECORDED_JOIN
					    : WIRE_RECORDED_ACCESS);
	uint8_t stack[WIRE_RECORD_STACK];
	size_t size = 0;

	news.regs = *regs;
	if (site->record == WIRE_RECORD_ACCESS)
		record_accesses(memory, site, &news);
	error_free(memory_read(memory, regs->gpr[X86_RSP], stack, sizeof(stack),
			       &size));
	news.stack_size = (uint32_t)size;
	record_send(engine, &news, stack);
}

bool record_hit(struct engine *engine, struct thread *thread,
		struct breakpoint *breakpoint, const struct x86_registers *regs)
{
	struct record_site *own =
		record_site_of(&engine->record, &breakpoint->site);

	if (!own || engine->core.phase != PHASE_WATCHING || thread->step ||
	    thread->process->role != PROCESS_WATCHED)
		return false;
	if (displaced_again(thread, regs))
		return false;
	record_tell(engine, thread, &own->site, regs);
	if (own->site.record == WIRE_RECORD_JOIN ||
	    ++own->hits < record_hits_max(&engine->record, thread))
		return false;
	core_note(&engine->core, breakpoint_lift(thread->process->space,
						 thread->tid, breakpoint));
	return true;
}

/* --- threads --- */

static bool record_wants(const struct engine *engine,
			 const struct thread *thread)
{
	return engine->record.executions > 0 &&
	       engine->core.phase == PHASE_WATCHING &&
	       thread->process->role == PROCESS_WATCHED &&
	       thread->process->space;
}

static void record_arm_again(struct engine *engine, const struct thread *thread)
{
	struct record_program *program = record_find(
		&engine->record, thread->process->space->text->program);

	if (!program || program->births++ >= RECORD_BIRTHS)
		return;
	for (size_t i = 0; i < program->sites.count; i++) {
		struct record_site *own = vec_at(&program->sites, i);

		own->hits = 0;
	}
	record_arm(engine, program);
	for (int i = 0; program->due && i < RECORD_ARM_WAITS; i++) {
		poll(NULL, 0, RECORD_ARM_MS);
		record_arm(engine, program);
	}
}

void record_born(struct engine *engine, const struct thread *thread)
{
	struct wire_recorded news;
	struct wire_birth birth;
	const uint8_t *stack;

	if (!record_wants(engine, thread))
		return;
	news = record_news(thread, WIRE_RECORDED_BORN);
	stack = creation_tell(thread, &birth);
	if (stack) {
		news.creator = birth.tid;
		news.regs = birth.regs;
		news.stack_size = birth.stack_size;
	}
	record_send(engine, &news, stack);
	record_arm_again(engine, thread);
}

void record_begun(struct engine *engine, const struct thread *thread)
{
	struct wire_recorded news;
	struct error *err;

	if (!record_wants(engine, thread))
		return;
	news = record_news(thread, WIRE_RECORDED_BEGUN);
	err = trace_registers(thread->tid, &news.regs);
	if (!err)
		record_send(engine, &news, NULL);
	error_free(err);
}

void record_ended(struct engine *engine, const struct thread *thread)
{
	struct wire_recorded news;

	if (!record_wants(engine, thread))
		return;
	news = record_news(thread, WIRE_RECORDED_ENDED);
	record_send(engine, &news, NULL);
}

void record_leave(struct engine *engine, const struct program_text *text)
{
	struct vec *programs = &engine->record.programs;

	for (size_t i = 0; i < programs->count; i++) {
		struct record_program *program = record_at(&engine->record, i);

		if (program->program != text->program)
			continue;
		record_free(program);
		vec_remove_swap(programs, i);
		return;
	}
}

void record_end(struct engine *engine)
{
	if (engine->record.lost == 0)
		return;
	core_note(&engine->core,
		  error_create(ERROR_OTHER,
			       "%llu accesses were not recorded: they came "
			       "faster than they could be written",
			       (unsigned long long)engine->record.lost));
	engine->record.lost = 0;
}
