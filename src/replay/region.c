/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A thread runs in the virtual processor; see region.h.
 */
#include "replay/processor-parts.h"

#include <signal.h>
#include <string.h>

#include "base/error.h"
#include "sys/trace.h"
#include "x86/vectors.h"

static const uint8_t region_int3 = 0xcc;

static const char *const stop_names[REPLAY_STOPS] = {
	[REPLAY_RETURNED] = "returned",
	[REPLAY_ARRIVED] = "arrived",
	[REPLAY_STEPPED] = "stepped",
	[REPLAY_SIGNAL] = "signal",
	[REPLAY_SYSTEM_CALL] = "system-call",
	[REPLAY_TIME_STAMP] = "rdtsc",
	[REPLAY_RANDOM] = "rdrand",
	[REPLAY_CPUID] = "cpuid",
	[REPLAY_KEYS] = "protection-keys",
	[REPLAY_LEARNING] = "learning",
	[REPLAY_UNCAPTURED] = "uncaptured",
	[REPLAY_SECRET] = "memfd-secret",
	[REPLAY_CLOCK] = "vvar",
	[REPLAY_SERVED] = "served-file",
	[REPLAY_USERFAULTFD] = "userfaultfd",
	[REPLAY_UNFETCHABLE] = "unfetchable-page",
	[REPLAY_LIMIT] = "limit",
	[REPLAY_WAITS] = "waits",
	[REPLAY_YIELDED] = "yielded",
};

const char *replay_stop_name(enum replay_stop_kind kind)
{
	return stop_names[kind];
}

/* A run of one thread. */
struct region {
	struct processor *processor;
	struct space *space;
	struct scratch *scratch;
	pid_t pid;
	int thread, number; /* of the space */
	uint64_t until_cpu_ns;
	struct replay_stop *stop;
	struct x86_registers regs; /* if they are known, since it stopped */
	bool known;
	bool vectors; /* the vector registers may have changed */
};

/* They are read once for a stop. */
static struct error *region_registers(struct region *region)
{
	struct error *err = NULL;

	if (!region->known)
		err = trace_registers(region->pid, &region->regs);
	region->known = !err;
	return err;
}

static struct error *region_rip(struct region *region, uint64_t *ret)
{
	struct error *err = region_registers(region);

	*ret = err ? 0 : region->regs.rip;
	return err;
}

static struct error *region_set_rip(struct region *region, uint64_t rip)
{
	region->regs.rip = rip;
	return trace_set_rip(region->pid, rip);
}

/* Until it stops; of one instruction it may be known that it leaves the vectors. */
static struct error *region_resume(struct region *region, bool step,
				   struct scratch_stop *ret)
{
	uint8_t bytes[X86_INSN_MAX];

	region->vectors |= !step || !region->known ||
			   !pagecache_read(&region->space->cache,
					   region->regs.rip, bytes,
					   sizeof(bytes)) ||
			   !vectors_are_left(bytes, sizeof(bytes));
	region->known = false;
	return scratch_run(region->scratch, step, region->until_cpu_ns, ret);
}

/* 0f 31 and 0f 01 f9, which the process may not execute (PR_SET_TSC). */
static bool region_reads_time(const struct region *region, uint64_t rip)
{
	static const uint8_t rdtsc[] = { 0x0f, 0x31 };
	static const uint8_t rdtscp[] = { 0x0f, 0x01, 0xf9 };
	const struct pagecache *cache = &region->space->cache;
	uint8_t bytes[3];

	if (pagecache_read(cache, rip, bytes, sizeof(rdtscp)) &&
	    memcmp(bytes, rdtscp, sizeof(rdtscp)) == 0)
		return true;
	return pagecache_read(cache, rip, bytes, sizeof(rdtsc)) &&
	       memcmp(bytes, rdtsc, sizeof(rdtsc)) == 0;
}

static struct error *region_signaled(struct region *region, int signal)
{
	uint64_t rip;
	struct error *err = region_rip(region, &rip);

	*region->stop =
		(struct replay_stop){ .kind = REPLAY_SIGNAL, .signal = signal };
	if (!err && signal == SIGSEGV && region_reads_time(region, rip))
		region->stop->kind = REPLAY_TIME_STAMP;
	return err;
}

static struct error *region_faulted(struct region *region, uint64_t address,
				    bool *ret_again)
{
	uint64_t rip;
	struct error *err = region_rip(region, &rip);

	if (err)
		return err;
	return processor_fault(region->processor, region->thread, rip, address,
			       ret_again, region->stop);
}

/* A breakpoint: an instruction of the program's own, or a hazard. */
static struct error *region_trapped(struct region *region)
{
	uint64_t rip;
	struct error *err = region_rip(region, &rip);
	const struct hazard *hazard =
		err ? NULL : processor_hazard(region->space, rip - 1);

	if (err || !hazard)
		return err ? err : region_signaled(region, SIGTRAP);
	*region->stop = (struct replay_stop){ .kind = hazard->kind };
	return region_set_rip(region, rip - 1);
}

/* The stops that are the same whatever is run. */
static struct error *region_stopped(struct region *region,
				    const struct scratch_stop *stop,
				    bool *ret_again)
{
	*ret_again = false;
	switch (stop->kind) {
	case SCRATCH_CALL:
		return processor_call(region->processor, region->thread,
				      stop->number, ret_again, region->stop);
	case SCRATCH_SPENT:
		*region->stop = (struct replay_stop){ .kind = REPLAY_LIMIT };
		return NULL;
	case SCRATCH_FAULT:
		return region_faulted(region, stop->address, ret_again);
	case SCRATCH_BREAKPOINT:
		return region_trapped(region);
	case SCRATCH_STEPPED: /* int1 */
		return region_signaled(region, SIGTRAP);
	case SCRATCH_SIGNAL:
	default:
		return region_signaled(region, stop->signal);
	}
}

/* All repetitions: each traps. */
static struct error *region_step(struct region *region, uint64_t from)
{
	struct scratch_stop stop;
	bool again = true;

	while (again) {
		uint64_t rip;
		struct error *err = region_resume(region, true, &stop);

		if (!err && stop.kind == SCRATCH_STEPPED) {
			err = region_rip(region, &rip);
			again = rip == from;
			*region->stop =
				(struct replay_stop){ .kind = REPLAY_STEPPED };
		} else if (!err) {
			err = region_stopped(region, &stop, &again);
			region->known = false;
		}
		if (err)
			return err;
	}
	return NULL;
}

/* Have the page of our int3 at rip installed. */
static struct error *region_install_end(struct region *region, uint64_t rip,
					bool *ret_there)
{
	*ret_there = scratch_is_installed(region->scratch, replay_page_of(rip));
	if (*ret_there)
		return NULL;
	return processor_fault(region->processor, region->thread, rip, rip,
			       ret_there, region->stop);
}

/* The instruction that our int3 replaced. */
static struct error *region_step_over_end(struct region *region, uint64_t rip)
{
	uint8_t byte = 0;
	bool there;
	struct error *err = region_install_end(region, rip, &there);

	if (err || !there)
		return err;
	pagecache_read(&region->space->cache, rip, &byte, 1);
	err = scratch_poke(region->scratch, rip, &byte, 1);
	if (!err)
		err = region_step(region, rip);
	if (!err)
		err = scratch_poke(region->scratch, rip, &region_int3, 1);
	return err;
}

/* Is there an int3 of ours? */
static bool region_has_end(const struct region *region, uint64_t rip)
{
	return processor_has_end(region->processor, region->number, rip);
}

static struct error *region_instruction(struct region *region)
{
	uint64_t rip;
	struct error *err = region_rip(region, &rip);

	if (err)
		return err;
	if (region_has_end(region, rip))
		return region_step_over_end(region, rip);
	return region_step(region, rip);
}

static bool region_is_at(const struct region_end *end,
			 const struct x86_registers *regs)
{
	return end->address != 0 && regs->rip == end->address &&
	       regs->gpr[X86_RSP] >= end->rsp;
}

static bool region_has_ended(const struct region *region,
			     const struct x86_registers *regs)
{
	const struct region_end *ends = region->processor->ends;
	int thread = region->thread;

	if (region_is_at(&ends[thread], regs))
		*region->stop = (struct replay_stop){ .kind = REPLAY_RETURNED };
	else if (region->processor->begun[thread] &&
		 region_is_at(&ends[REPLAY_THREADS + thread], regs))
		*region->stop = (struct replay_stop){ .kind = REPLAY_ARRIVED };
	else
		return false;
	return true;
}

/* Of an int3 of ours: back before it. */
static struct error *region_met_end(struct region *region,
				    const struct scratch_stop *stop,
				    bool *ret_met)
{
	uint64_t rip;
	struct error *err = NULL;

	*ret_met = false;
	if (stop->kind != SCRATCH_BREAKPOINT)
		return NULL;
	err = region_rip(region, &rip);
	if (err || !region_has_end(region, rip - 1))
		return err;
	*ret_met = true;
	return region_set_rip(region, rip - 1);
}

/* Until something happens, or an int3 of ours is met. */
static struct error *region_go(struct region *region, bool *ret_again)
{
	struct scratch_stop stop;
	struct error *err = region_resume(region, false, &stop);

	if (!err)
		err = region_met_end(region, &stop, ret_again);
	if (err || *ret_again)
		return err;
	err = region_stopped(region, &stop, ret_again);
	region->known = false;
	return err;
}

static struct error *region_rest(struct region *region)
{
	bool again = true;

	while (again) {
		struct error *err = region_registers(region);

		if (err)
			return err;
		if (region_has_ended(region, &region->regs))
			return NULL;
		if (region_has_end(region, region->regs.rip)) {
			/* the end of a deeper call, or of the other thread */
			err = region_instruction(region);
			again = region->stop->kind == REPLAY_STEPPED;
		} else {
			err = region_go(region, &again);
		}
		if (err)
			return err;
	}
	return NULL;
}

/* What its registers are now. */
static struct error *region_read(struct region *region,
				 struct replay_context *context)
{
	struct error *err = region_registers(region);

	if (!err && region->vectors)
		err = replay_context_read_vectors(region->pid, context,
						  &region->space->held);
	if (err)
		return err;
	region->space->held.regs = context->regs = region->regs;
	region->space->held.known = true;
	return NULL;
}

static struct error *region_run_from(struct region *region,
				     enum region_extent extent,
				     struct replay_context *context)
{
	struct error *err;

	if (region_has_ended(region, &context->regs))
		return NULL;
	region->processor->begun[region->thread] = true;
	err = replay_context_write(region->pid, context, &region->space->held);
	if (!err)
		err = extent == REGION_INSTRUCTION ? region_instruction(region)
						   : region_rest(region);
	return err ? err : region_read(region, context);
}

struct error *region_run(struct processor *processor, int thread,
			 enum region_extent extent, uint64_t until_cpu_ns,
			 struct replay_context *context,
			 struct replay_stop *ret)
{
	struct error *err = processor_prepare(processor);
	struct space *space = processor_space(processor, thread);
	struct region region = {
		.processor = processor,
		.space = space,
		.thread = thread,
		.number = processor_space_of(processor, thread),
		.until_cpu_ns = until_cpu_ns,
		.stop = ret,
	};

	if (!err)
		err = processor_fail(processor,
				     processor_enter(processor, thread));
	if (err)
		return err;
	region.scratch = space->scratch;
	region.pid = scratch_pid(space->scratch);
	err = region_run_from(&region, extent, context);
	return processor_fail(processor, err);
}

struct error *region_round(struct processor *processor, int thread,
			   uint64_t until_cpu_ns,
			   struct replay_context *context,
			   struct replay_stop *ret, bool *ret_spins)
{
	const struct x86_registers from = context->regs;

	*ret_spins = false;
	for (int i = 0; i < REGION_ROUND_MAX && !*ret_spins; i++) {
		struct error *err = region_run(processor, thread,
					       REGION_INSTRUCTION, until_cpu_ns,
					       context, ret);

		if (err || ret->kind != REPLAY_STEPPED)
			return err;
		*ret_spins = context->regs.rip == from.rip &&
			     memcmp(context->regs.gpr, from.gpr,
				    sizeof(from.gpr)) == 0;
	}
	return NULL;
}
