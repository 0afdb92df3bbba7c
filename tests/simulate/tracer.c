/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The tracer of the simulated program: a real engine, whose kernel is in
 * kernel.c; see simulate.h.
 */
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/error.h"
#include "machine.h"
#include "sys/perfwatch.h"
#include "tracee/breakpoint.h"
#include "tracee/thread.h"
#include "tracer/arm.h"
#include "tracer/engine.h"
#include "tracer/govern.h"
#include "tracer/profile-stops.h"
#include "tracer/stall.h"
#include "tracer/startup.h"

static const uint64_t TRACER_TICK_NS = 20 * CLOCK_NS_PER_MS;
static const uint64_t TRACER_EARLY_NS = 2 * CLOCK_NS_PER_S;

/* --- watchpoints --- */

static void tracer_watch(struct tracees *tracees, struct thread *thread)
{
	(void)tracees;
	(void)thread;
	machine->spent_ns += MACHINE_WATCH_NS;
}

static void tracer_unwatch(struct tracees *tracees, struct thread *thread)
{
	(void)tracees;
	(void)thread;
}

static const struct watch_ops tracer_watches = {
	.name = "simulated",
	.live = true,
	.update = tracer_watch,
	.prepare = tracer_unwatch,
	.clear = tracer_unwatch,
};

/* A trap that is to come, of a stall told by its watch's generation. */
struct trap {
	uint64_t generation;
	uint64_t at_ns; /* UINT64_MAX: nobody comes */
};
static struct trap tracer_traps[DREGS_SLOTS];

static struct stall *tracer_stall(size_t i)
{
	return *(struct stall **)vec_at(&machine->engine->stalls.list, i);
}

static int tracer_slot(const struct stall *stall)
{
	return stall->accesses[0].claimed
		       ? __builtin_ctz(stall->accesses[0].claim.claim.slots)
		       : -1;
}

static size_t tracer_site(const struct stall *stall)
{
	return machine_site((size_t)(stall->site.address - MACHINE_TEXT) /
			    PROGRAM_SLOT);
}

/* When another thread comes, as chance has it. */
static void tracer_expect(struct stall *stall)
{
	const struct simulate_plan *plan = machine->program.plan;
	uint32_t others = plan->processes * plan->threads - tracer_held();
	int slot = tracer_slot(stall);
	double rate =
		program_meets(&machine->program, tracer_site(stall), others) *
		(1 - plan->coupling);
	double wait = program_wait(&machine->program, rate);
	uint64_t generation;

	if (slot < 0)
		return;
	generation = stall->accesses[0].claim.generation[slot];
	if (tracer_traps[slot].generation == generation)
		return;
	tracer_traps[slot].generation = generation;
	tracer_traps[slot].at_ns =
		wait < 1e9
			? machine->now_ns + machine->spent_ns + (uint64_t)wait
			: UINT64_MAX;
}

static void tracer_expect_all(void)
{
	for (size_t i = 0; i < machine->engine->stalls.list.count; i++)
		tracer_expect(tracer_stall(i));
}

static struct stall *tracer_next_trap(uint64_t *ret_at_ns)
{
	struct stall *next = NULL;

	*ret_at_ns = UINT64_MAX;
	for (size_t i = 0; i < machine->engine->stalls.list.count; i++) {
		struct stall *stall = tracer_stall(i);
		int slot = tracer_slot(stall);

		if (slot < 0 || tracer_traps[slot].at_ns >= *ret_at_ns)
			continue;
		*ret_at_ns = tracer_traps[slot].at_ns;
		next = stall;
	}
	return next;
}

uint64_t tracer_trap_due(void)
{
	uint64_t at;

	tracer_next_trap(&at);
	return at;
}

void tracer_trap(void)
{
	static const struct perfring_sample nobody;
	uint64_t at;
	struct stall *stall = tracer_next_trap(&at);
	int slot = tracer_slot(stall);

	machine->arrival = machine->program.sites[tracer_site(stall)].partner;
	machine->spent_ns += MACHINE_HIT_NS;
	machine->stopped_ns += (double)MACHINE_STOP_NS;
	stall_sample(machine->engine,
		     &(struct watch_sample){
			     slot, tracer_traps[slot].generation, &nobody });
}

uint32_t tracer_held(void)
{
	return (uint32_t)machine->engine->stalls.list.count;
}

/* --- breakpoints --- */

static struct thread *tracer_any_thread(void)
{
	struct engine *engine = machine->engine;
	const struct process *process = tracees_process_at(
		&engine->core.tracees,
		(size_t)rng_below(&machine->program.rng,
				  engine->core.tracees.processes.count));

	return process_thread(process,
			      (size_t)rng_below(&machine->program.rng,
						process->threads.count));
}

static uint64_t tracer_address(size_t site, const struct thread *thread)
{
	const struct simulate_site *one = &machine->program.sites[site];
	uint32_t instances;

	if (one->variable == 0)
		return MACHINE_PRIVATE + ((uint64_t)thread->tid << 24) +
		       site * 8;
	instances = machine->program.variables[one->variable - 1].instances;
	return MACHINE_SHARED + one->variable * UINT64_C(65536) +
	       64 * rng_below(&machine->program.rng, instances);
}

/* Who holds the lock is stalled: nobody else comes. */
static bool tracer_locked_out(size_t site)
{
	uint32_t variable = machine->program.sites[site].variable;

	if (variable == 0 || !machine->program.variables[variable - 1].locked)
		return false;
	for (size_t i = 0; i < machine->engine->stalls.list.count; i++) {
		if (machine->program.sites[tracer_site(tracer_stall(i))]
			    .variable == variable)
			return true;
	}
	return false;
}

/* What event.c does at a hit. */
static void tracer_hit(struct thread *thread, struct breakpoint *breakpoint,
		       const struct x86_registers *regs)
{
	struct engine *engine = machine->engine;
	struct wire_site site = breakpoint->site;
	enum pool_hit hit;

	load_stopped(&engine->load);
	core_note(&engine->core, breakpoint_lift(thread->process->space,
						 thread->tid, breakpoint));
	engine->core.stats.hits += !(site.id & WIRE_PROBE);
	engine->core.stats.hits_once += site.once;
	breakpoint->fired = true;
	arm_fired(engine, &site);
	hit = stall_hit(engine, thread, breakpoint, regs);
	arm_return_fired(engine, &site, hit);
	load_handled(&engine->load);
}

void tracer_reach(size_t slot)
{
	struct thread *thread = tracer_any_thread();
	uint64_t address = MACHINE_TEXT + slot * PROGRAM_SLOT;
	struct breakpoint *breakpoint =
		breakpoint_find(thread->process->space, address);
	size_t site = machine_site(slot);
	/* it is in no system call */
	struct x86_registers regs = { .rip = address, .orig_rax = UINT64_MAX };

	if (thread->hold || (site != SIZE_MAX && tracer_locked_out(site)))
		return;
	if (site != SIZE_MAX)
		regs.gpr[X86_RDI] = tracer_address(site, thread);
	machine->arrival = site;
	machine->stopped_ns += (double)MACHINE_STOP_NS;
	machine->score.result.hits++;
	if (!machine_without(SIMULATE_CLOCKS))
		profile_stopped(&machine->engine->profile, thread, &regs);
	tracer_hit(thread, breakpoint, &regs);
	tracer_expect_all();
}

/* --- its turns --- */

uint64_t tracer_due(void)
{
	const struct engine *engine = machine->engine;
	uint64_t due = engine->next_tick_ns;
	uint64_t pool = arm_next_ns(machine->engine),
		 stalls = stalls_next_ns(engine);
	uint64_t profile = profile_next_ns(&engine->profile);

	due = pool < due ? pool : due;
	due = profile < due ? profile : due;
	return stalls < due ? stalls : due;
}

static void tracer_messages(void)
{
	struct engine *engine = machine->engine;
	const void *payload;
	enum wire_type type;
	size_t size;

	while (channel_next(&engine->core.channel, &type, &payload, &size)) {
		if (type == WIRE_SITES)
			arm_queue(engine, payload,
				  size / sizeof(struct wire_site));
		if (type == WIRE_SUPPLY)
			govern_supplied(&engine->govern, payload, size);
	}
}

static void tracer_tell(void)
{
	struct vec *returned = &machine->engine->core.returned;

	if (returned->count > 0)
		channel_send(&machine->engine->core.channel, WIRE_RETURNED,
			     returned->items, returned->count * returned->size);
	vec_clear(returned);
}

void tracer_turn(void)
{
	struct engine *engine = machine->engine;
	uint64_t now = clock_now_ns();
	double told;

	tracer_messages();
	stalls_tick(engine, now);
	arm_refill(engine, now);
	if (!machine_without(SIMULATE_CLOCKS) &&
	    (now >= engine->next_tick_ns ||
	     now >= profile_next_ns(&engine->profile)))
		profile_tick(&engine->profile, now);
	tracer_tell();
	if (now < engine->next_tick_ns)
		return;
	engine->next_tick_ns = now + TRACER_TICK_NS;
	load_tick(&engine->load, now);
	govern_tick(&engine->govern, now);
	arm_shrink(engine);
	engine_send_stats(engine);
	told = engine->load.budget.lost_ns / (double)now;
	machine->score.result.told = told;
	if (now < TRACER_EARLY_NS)
		machine->score.result.early_told = told;
}

/* --- begin and end --- */

static struct process *tracer_add_process(struct addrspace *space, pid_t pid)
{
	const struct wire_shared shared = { .start = MACHINE_SHARED,
					    .end = MACHINE_SHARED << 4,
					    .inode = 1 };
	struct process *process = NULL;

	if (machine->program.plan->processes > 1)
		vec_push(&space->shared, &shared);
	error_free(process_create(pid, PROCESS_WATCHED, space, &process));
	vec_push(&machine->engine->core.tracees.processes, &process);
	return process;
}

static void tracer_add_processes(void)
{
	const struct simulate_plan *plan = machine->program.plan;
	struct addrspace *first = NULL, *space;

	for (uint32_t i = 0; i < plan->processes; i++) {
		pid_t pid = MACHINE_PID + (pid_t)(i * plan->threads);
		struct process *process;
		struct thread *thread;

		error_free(first ? addrspace_join(first, pid, &space)
				 : addrspace_create(pid, &space));
		first = first ? first : space;
		process = tracer_add_process(space, pid);
		for (uint32_t j = 0; j < plan->threads; j++)
			error_free(thread_create(process, pid + (pid_t)j,
						 &thread));
	}
	first->text->program = MACHINE_PROGRAM;
	if (plan->begins)
		startup_of(first->text)->recent_ns = 100 * CLOCK_NS_PER_MS;
}

void tracer_begin(void)
{
	struct engine *engine = calloc(1, sizeof(*engine));

	machine->engine = engine;
	machine->tracer.channel = &engine->core.channel;
	memset(tracer_traps, 0, sizeof(tracer_traps));
	error_free(engine_init(engine, -1, rng_next(&machine->program.rng)));
	engine->core.phase = PHASE_WATCHING;
	engine->core.tracees.watch.ops = &tracer_watches;
	if (machine_without(SIMULATE_ROTATION))
		engine->pool.rotate_ns = UINT64_MAX;
	if (machine_without(SIMULATE_GIVE_BACK))
		engine->pool.give_ns = UINT64_MAX;
	tracer_add_processes();
}

static void tracer_remove(struct process *process)
{
	for (size_t i = 0; i < process->threads.count; i++)
		free(process_thread(process, i));
	process->threads.count = 0;
	process_destroy(process);
}

void tracer_end(void)
{
	struct engine *engine = machine->engine;

	arm_lift_all(engine);
	profile_deinit(&engine->profile);
	for (size_t i = 0; i < engine->stalls.list.count; i++)
		free(tracer_stall(i));
	for (size_t i = 0; i < engine->core.tracees.processes.count; i++)
		tracer_remove(tracees_process_at(&engine->core.tracees, i));
	vec_deinit(&engine->core.tracees.processes);
	vec_deinit(&engine->stalls.list);
	vec_deinit(&engine->core.returned);
	pool_deinit(&engine->pool);
	lengths_deinit(&engine->lengths);
	free(engine);
}
