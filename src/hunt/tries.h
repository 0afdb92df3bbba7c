/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * How often a side is tried, and how: with others in one run at first, then alone.
 * Pure code.
 *
 * With others, the four debug registers hold the sides that wait and the watch:
 * hardly any is left for partners before the side is held (tracer/hunt.h). That
 * misses what passes within microseconds. So a side that was held in vain is tried
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
	TRIES_TOGETHER = 4, /* sides in one run */
	TRIES_LONGER = 4, /* the factor of the second hold */
};

struct tries {
	struct map index; /* of a side, by id, to its place in `known' */
	struct vec known; /* of struct tries_side */
	uint64_t hold_ns; /* of all; 0: as their recording says */
};

void tries_init(struct tries *tries, uint64_t hold_ns);
void tries_deinit(struct tries *tries);

/* Is it to have a run of its own? */
bool tries_is_alone(const struct tries *tries, const struct hunt_side *side);

/* For how long it is to be held in its next run. */
uint64_t tries_hold_ns(const struct tries *tries, const struct hunt_side *side);

/*
 * A run has ended in this: outcome->result becomes what the side's is to be,
 * TARGET_PENDING if it is to be tried again. False: out of memory.
 */
bool tries_ended(struct tries *tries, const struct hunt_side *side,
		 struct target_outcome *outcome);

#endif
