/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Counting executions; see hunt-count.h.
 */
#include "tracer/hunt-count.h"

#include "base/error.h"
#include "sys/memory.h"
#include "tracee/breakpoint.h"
#include "tracee/process.h"
#include "tracer/hunt.h"
#include "x86/access.h"

enum { HUNT_STACK_BYTES = 8192, HUNT_WORD = 8 };

static bool hunt_stack_holds(const struct wire_hunt *wire,
			     const struct memory *memory, uint64_t at)
{
	uint64_t words[HUNT_STACK_BYTES / HUNT_WORD];
	uint32_t found = 0;
	size_t size = 0;

	at = (at + HUNT_WORD - 1) & -(uint64_t)HUNT_WORD;
	error_free(memory_read(memory, at, words, sizeof(words), &size));
	for (size_t i = 0; i < size / HUNT_WORD && found < wire->stack_count;
	     i++)
		found += words[i] == wire->stack[found];
	return found == wire->stack_count;
}

bool hunt_is_meant(const struct hunt_target *target,
		   const struct thread *thread,
		   const struct x86_registers *regs)
{
	const struct wire_hunt *wire = &target->wire;

	if (!wire->any && !thread_is_at(thread, &target->place))
		return false;
	return wire->stack_count == 0 ||
	       hunt_stack_holds(wire, &thread->process->space->memory,
				regs->gpr[X86_RSP]);
}

/* NULL: out of memory. */
static struct hunt_count *hunt_count_of(struct hunt_target *target, pid_t tid)
{
	struct hunt_count *count;

	for (size_t i = 0; i < target->counts.count; i++) {
		count = vec_at(&target->counts, i);
		if (count->tid == tid)
			return count;
	}
	count = vec_append(&target->counts);
	if (count)
		*count = (struct hunt_count){ .tid = tid };
	return count;
}

/* A thread that blocks SIGTRAP has no period: it stops each time. */
static uint64_t hunt_executions(const struct hunt_target *target,
				const struct thread *thread)
{
	return target->period > 0 && !thread->watch.by_registers
		       ? target->period
		       : 1;
}

bool hunt_counts(struct hunt_target *target, const struct thread *thread)
{
	struct hunt_count *count = hunt_count_of(target, thread->tid);
	bool side;

	if (!count) {
		target->uncounted = true;
		return false;
	}
	side = count->executions == target->wire.ordinal;
	count->executions += hunt_executions(target, thread);
	if (count->executions > target->news.reached)
		target->news.reached = count->executions;
	if (target->state == HUNT_COUNTING &&
	    count->executions == target->wire.ordinal)
		target->state = HUNT_NEAR;
	return side;
}
