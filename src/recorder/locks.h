/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Sets of locks, as numbers: what a thread holds, and what several accesses
 * have in common.
 */
#ifndef RECORDER_LOCKS_H
#define RECORDER_LOCKS_H

#include <stdbool.h>
#include <stdint.h>

#include "hunt/trace-events.h"
#include "recorder/table.h"

enum {
	LOCKS_HELD_MAX = 16, /* more are not kept */
	LOCKSETS_MAX = UINT16_MAX - 1,
	LOCKSET_UNKNOWN = UINT16_MAX, /* there were too many sets */
};

struct lockset {
	uint32_t count;
	bool written;
	struct trace_lock locks[LOCKS_HELD_MAX]; /* by address */
};

/* Two sets, and what both have. */
struct lockset_pair {
	uint16_t a, b, common;
};

struct locksets {
	struct records all; /* ids are from 1; 0: no lock */
	struct table by_locks;
	struct lockset_pair last;
};

void locksets_init(struct locksets *locksets);
void locksets_deinit(struct locksets *locksets);

static inline struct lockset *lockset_at(const struct locksets *locksets,
					 uint16_t id)
{
	return records_at(&locksets->all, id);
}

/* The set with the lock, or without it. */
uint16_t locksets_add(struct locksets *locksets, uint16_t id,
		      const struct trace_lock *lock);
uint16_t locksets_remove(struct locksets *locksets, uint16_t id,
			 uint64_t address);
/* The locks that both have; LOCKSET_UNKNOWN counts as any set. */
uint16_t locksets_common(struct locksets *locksets, uint16_t a, uint16_t b);

#endif
