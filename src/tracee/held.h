/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Which locks a thread holds, seen while it is held itself: those that have the
 * number of their owner in them (lockwords.h), where a pointer of the thread leads
 * to them or near. Pointers are looked for in its registers, on the top of its
 * stack, near the raced bytes, and in the code around where it is and where it will
 * return to. A lock that nothing there leads to is not found.
 *
 * And what the heap says of the raced bytes then: see struct wire_chunks.
 */
#ifndef TRACEE_HELD_H
#define TRACEE_HELD_H

#include <stdbool.h>
#include <stdint.h>

#include "wire/conflict.h"

struct held_room;
struct thread;

enum { HELD_KNOWN = 256 };

/* All zero at first; end with held_deinit(). */
struct held {
	struct held_room *room; /* memory that is kept from one to the next */
	uint64_t paid_ns; /* what was looked for is paid for until then */
	uint64_t known
		[HELD_KNOWN]; /* keys of conflicts, and how often each came */
};

void held_deinit(struct held *held);

/*
 * Is this conflict's threads' time well spent by looking at them? The key is equal
 * for conflicts of the same instructions and bytes: the first few of them are
 * looked at, and a few dozen conflicts a second, since each look at a thread takes
 * some tens of microseconds, in which it is held.
 */
bool held_may_look(struct held *held, uint64_t key, uint64_t now);

/*
 * Fill in side->locks and side->chunks, of a stopped thread: its registers and stack are those of
 * the side, which are copied before; `machine' as of snapshot_machine(). `address'
 * is of the raced bytes. Without memory nothing is known, nor where
 * thousands of words there have the number of the thread.
 */
void held_look(struct held *held, struct thread *thread, uint64_t address,
	       struct wire_side *side, const uint8_t *stack,
	       const uint8_t *machine);

#endif
