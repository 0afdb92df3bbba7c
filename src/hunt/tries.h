/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * How often a side is tried, and how: with others in one run at first, then alone.
 * Pure code.
 *
 * With others, partners are not waited for before the side is held (tracer/hunt.h):
 * that misses what passes within microseconds. And while a thread was held at the
 * sides before, the others ran on. So a side that was held in vain is tried
 * once more, in a run of its own, if it may have been missed so: when its hold was
 * over, and where nobody else could run: if the recorded partner was so near that
 * it has passed, or if no lock was common, since its thread may have been created
 * a moment later. Then it is held for longer too.
 */
#ifndef HUNT_TRIES_H
#define HUNT_TRIES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/map.h"
#include "base/vec.h"

struct hunt_side;
struct target_outcome;

enum {
	TRIES_TOGETHER = 32, /* sides in one run, at most */
	TRIES_COUNTED = 4, /* of them, such that a register must count */
	TRIES_MIXED = 4, /* sides of several threads in one run */
	TRIES_LONGER = 4, /* the factor of the second hold */
};

struct tries {
	struct map index; /* of a side, by id, to its place in `known' */
	struct vec known; /* of struct tries_side */
	uint64_t hold_ns; /* of all; 0: as their recording says */
};

void tries_init(struct tries *tries, uint64_t hold_ns);
void tries_deinit(struct tries *tries);

/*
 * How many runs the processors have room for, of `jobs' at most, where a run by
 * itself took so much CPU time in so much time: at least one. Half a run that has
 * no room finds it in the holds of the others.
 */
uint64_t tries_at_once(uint64_t jobs, int processors, uint64_t cpu_ns,
		       uint64_t elapsed_ns);

/*
 * How many sides to have claimed, of those pending, for `jobs' runs at a time. With
 * shared, others try sides of the same store, or may: a part is left for them.
 */
uint64_t tries_to_claim(uint64_t pending, uint64_t jobs, bool shared);

/* Is it to have a run of its own? */
bool tries_is_alone(const struct tries *tries, const struct hunt_side *side);

/*
 * Does it have to wait at a register, since it has many executions to count? If so,
 * few can be tried in a run.
 */
bool tries_is_counted(const struct hunt_side *side);

/*
 * May the partners of a side that is held for hold_ns have passed by, since other
 * threads got on by before_ns in holds before it in the run? False if it is tried
 * again anyway.
 */
bool tries_are_late(const struct hunt_side *side, uint64_t hold_ns,
		    uint64_t before_ns);

/*
 * Is it to be tried by ptrace? It was not reached by perf, or held in vain: perf
 * stops no thread that blocks SIGTRAP for a moment, as in a handler that blocks all
 * signals.
 */
bool tries_by_ptrace(const struct tries *tries, const struct hunt_side *side);

/* For how long it is to be held in its next run. */
uint64_t tries_hold_ns(const struct tries *tries, const struct hunt_side *side);

/*
 * A run has ended in this: outcome->result becomes what the side's is to be,
 * TARGET_PENDING if it is to be tried again. One that is pending with a race has met
 * that, and was held in vain for others. False: out of memory.
 */
bool tries_ended(struct tries *tries, const struct hunt_side *side,
		 struct target_outcome *outcome);

#endif
