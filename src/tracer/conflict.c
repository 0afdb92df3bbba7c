/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Putting a conflict together; see conflict.h.
 */
#include "tracer/conflict.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/hash.h"
#include "sys/memory.h"
#include "tracee/breakpoint.h"
#include "tracee/held.h"
#include "tracee/snapshot.h"
#include "tracee/thread.h"
#include "tracer/core.h"
#include "tracer/creation.h"
#include "tracer/replays.h"
#include "tracer/stall.h"

static const struct memory *stall_memory(const struct stall *stall)
{
	return &stall->hold.thread->process->space->memory;
}

void stall_read(const struct stall *stall, int i, uint8_t *bytes,
		uint32_t *ret_size)
{
	const struct mem_access *access = &stall->accesses[i].access;
	size_t size = 0;

	error_free(memory_read(stall_memory(stall), access->address, bytes,
			       access->size, &size));
	*ret_size = (uint32_t)size;
}

/* Where the side's thread was created, if it is still there. */
static struct channel_part conflict_birth(const struct core *core,
					  struct wire_side *side)
{
	const struct thread *thread = tracees_thread(&core->tracees, side->tid);
	struct channel_part part = { 0 };

	if (side->present && thread) {
		part.bytes = creation_tell(thread, &side->birth);
		part.size = side->birth.stack_size;
	}
	return part;
}

static bool conflict_send(struct core *core, struct conflict_message *conflict)
{
	struct wire_side *sides = conflict->wire.sides;
	struct channel_part parts[] = {
		{ &conflict->wire, sizeof(conflict->wire) },
		{ conflict->stacks[0], sides[0].stack_size },
		{ conflict->stacks[1], sides[1].stack_size },
		conflict_birth(core, &sides[0]),
		conflict_birth(core, &sides[1]),
		{ conflict->machines[0], snapshot_machine_size(&sides[0]) },
		{ conflict->machines[1], snapshot_machine_size(&sides[1]) },
	};

	return channel_send_parts(&core->channel, WIRE_CONFLICT, parts,
				  sizeof(parts) / sizeof(parts[0]));
}

/*
 * The bytes before, as the conflict tells them: `size' of those after were
 * read. Another thread may write, and trap, while the threads are given the
 * watch, and only then are the bytes read: by those nothing would have changed,
 * but they have since the thread was held. Where it is held before a read, a
 * trap is a write's; otherwise it may be a read's that changed nothing.
 */
static const uint8_t *bytes_before(const struct stall_access *access,
				   const struct wire_conflict *wire,
				   uint32_t size)
{
	bool same = size == access->readable &&
		    memcmp(access->before, wire->after, size) == 0;

	return wire->evidence == WIRE_WATCHPOINT && same &&
			       !(access->access.kind & ACCESS_WRITE)
		       ? access->held
		       : access->before;
}

/*
 * The length drawn counts from when the threads have the watch, and a thread that
 * is held a little longer, since the tracer was late or a trap was waited for, is
 * held all the same.
 */
void conflict_set_times(const struct stall *stall, uint64_t now,
			struct wire_conflict *wire)
{
	uint64_t length = stall->deadline_ns - stall->begun_ns;

	wire->elapsed_ns = now - stall->begun_ns;
	wire->stall_ns = length;
	if (stall->grace || length < wire->elapsed_ns)
		wire->stall_ns = wire->elapsed_ns;
}

struct conflict_message *conflict_create(const struct stall *stall, int i,
					 enum wire_evidence evidence,
					 const uint8_t *changed)
{
	const struct stall_access *access = &stall->accesses[i];
	struct conflict_message *conflict = calloc(1, sizeof(*conflict));
	struct wire_conflict *wire;
	uint32_t size = access->readable;

	if (!conflict)
		return NULL;
	wire = &conflict->wire;
	wire->evidence = evidence;
	wire->watched = access->claimed ? access->claim.claim.covered : 0;
	wire->wall_ns = clock_wall_ns();
	conflict_set_times(stall, clock_now_ns(), wire);
	if (changed)
		memcpy(wire->after, changed, sizeof(wire->after));
	else
		stall_read(stall, i, wire->after, &size);
	memcpy(wire->before, bytes_before(access, wire, size),
	       sizeof(wire->before));
	wire->sides[1].syscall = -1;
	snapshot_thread(stall->hold.thread, &stall->regs, &wire->sides[0],
			conflict->stacks[0]);
	wire->sides[0].before = true;
	wire->sides[0].site = stall->site.id;
	wire->sides[0].access = access->access;
	snapshot_machine(stall_memory(stall), stall->hold.thread,
			 access->access.address, &wire->sides[0],
			 conflict->machines[0]);
	return conflict;
}

static uint64_t conflict_key(const struct stall *stall, uint64_t address,
			     const struct thread *other,
			     const struct wire_conflict *wire)
{
	const uint64_t parts[] = {
		stall->site.address,
		other ? wire->sides[1].regs.rip : 0,
		address,
	};

	return hash_bytes(parts, sizeof(parts));
}

void conflict_look(struct core *core, const struct stall *stall,
		   struct thread *other, struct conflict_message *conflict)
{
	struct wire_conflict *wire = &conflict->wire;
	uint64_t address = wire->sides[0].access.address;

	if (!held_may_look(&core->held,
			   conflict_key(stall, address, other, wire),
			   clock_now_ns()))
		return;
	held_look(&core->held, stall->hold.thread, address, &wire->sides[0],
		  conflict->stacks[0], conflict->machines[0]);
	if (other)
		held_look(&core->held, other, address + wire->shift,
			  &wire->sides[1], conflict->stacks[1],
			  conflict->machines[1]);
}

/* Report and free; out of memory loses the report, not the threads. */
void conflict_finish(struct core *core, struct replays *replays,
		     struct conflict_message *conflict)
{
	if (!conflict || !conflict_send(core, conflict))
		core->stats.dropped++;
	else if (conflict->wire.instance)
		replays_send(replays);
	free(conflict);
}
