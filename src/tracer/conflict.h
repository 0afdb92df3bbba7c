/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Putting a conflict together for the front end: both sides with their
 * registers and stacks, and the bytes before and after.
 */
#ifndef TRACER_CONFLICT_H
#define TRACER_CONFLICT_H

#include <stdint.h>

#include "wire/message.h"

struct core;
struct replays;
struct stall;
struct thread;

struct conflict_message {
	struct wire_conflict wire;
	uint8_t stacks[2][WIRE_STACK_MAX];
	uint8_t machines[2][WIRE_MACHINE_MAX];
};

/*
 * A conflict over access i of a stall that still runs: the stalled side and
 * the bytes after are filled in. These are `changed', X86_ACCESS_MAX of them, if
 * they were read before (they may have changed back since), or, where that is
 * NULL, the bytes as they are now. NULL when out of memory.
 */
struct conflict_message *conflict_create(const struct stall *stall, int i,
					 enum wire_evidence evidence,
					 const uint8_t *changed);

/*
 * Look for the locks of the stalled thread and of the other (NULL: it is not
 * stopped), if there is time for that. Both sides are filled in.
 */
void conflict_look(struct core *core, const struct stall *stall,
		   struct thread *other, struct conflict_message *conflict);

/*
 * When a conflict at `now' was, from the moment when the thread was held, and for
 * how long it was to be held, at least until then.
 */
void conflict_set_times(const struct stall *stall, uint64_t now,
			struct wire_conflict *wire);

/* Send it and free it. NULL, or a full channel, counts as dropped. */
void conflict_finish(struct core *core, struct replays *replays,
		     struct conflict_message *conflict);

/* Read the bytes of access i of the stall; *ret_size is how many there are. */
void stall_read(const struct stall *stall, int i, uint8_t *bytes,
		uint32_t *ret_size);

#endif
