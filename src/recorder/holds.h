/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The locks that a thread holds, in the order in which it took them, each with
 * the stack of the call that took it. A hold is one lock and the holds before it:
 * equal ones have one number, so that a slot has room for it.
 *
 * Locksets (recorder/locks.h) leave the stacks out: there would be too many of
 * them to find what accesses have in common.
 */
#ifndef RECORDER_HOLDS_H
#define RECORDER_HOLDS_H

#include <stdbool.h>
#include <stdint.h>

#include "hunt/trace-events.h"
#include "recorder/table.h"

enum {
	HOLDS_MAX = 1 << 18,
	HOLDS_UNKNOWN = HOLDS_MAX + 1, /* there were too many */
};

struct hold {
	struct trace_lock lock;
	uint32_t outer; /* what was held when it was taken; 0: nothing */
	uint32_t context; /* of the call; recorder/stacks.h */
	uint32_t depth; /* locks: 1, and those of outer */
	bool written; /* it is in the trace */
};

struct holds {
	struct records all; /* ids are from 1 */
	struct table by_lock;
};

void holds_init(struct holds *holds);

static inline struct hold *hold_at(const struct holds *holds, uint32_t id)
{
	return records_at(&holds->all, id);
}

/*
 * With the lock, which a call in this context took; as it was, if it has the lock
 * already, or LOCKS_HELD_MAX locks. HOLDS_UNKNOWN: there are HOLDS_MAX.
 */
uint32_t holds_take(struct holds *holds, uint32_t id,
		    const struct trace_lock *lock, uint32_t context);
/* Without the lock at that address. */
uint32_t holds_release(struct holds *holds, uint32_t id, uint64_t address);

#endif
