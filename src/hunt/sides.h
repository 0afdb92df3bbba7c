/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * From conflicting accesses to sides, and the order in which to try them.
 *
 * Of each instruction as few sides are made as cover the instructions that
 * conflict with it: one held thread waits for all its partners. Among the
 * accesses of an instruction that conflict with the same partner, those are
 * preferred whose partner came after them, then those without a common lock,
 * then the nearest ones, then the first ones.
 *
 * The rank of a side is the best of its partners' (locks and times only rank):
 *
 *	0.4 if no lock was common + 0.3 if the partner came after it
 *	+ 0.2 * 10 ms / the time it is held + 0.1 if it is in no system library
 */
#ifndef HUNT_SIDES_H
#define HUNT_SIDES_H

#include <stddef.h>

struct code;
struct descriptors;
struct error;
struct recording;
struct transfers;
struct vec;

struct sides_input {
	const struct recording *const *recordings; /* by pair_edge.recording */
	const struct descriptors *const *descriptors; /* of each */
	size_t count; /* of these */
	double slow_down; /* of the recorder */
	/* what has ordered the pairs of the edges; NULL: these are to be tried */
	const struct transfers *transfers;
};

/*
 * Append the sides (struct hunt_side) of these edges (struct pair_edge), which are
 * sorted, to none. They are by rank, and numbered from 1.
 */
struct error *sides_make(const struct sides_input *input, struct vec *edges,
			 struct code *code, struct vec *sides);

/*
 * Move the sides to others; those that are there already give them their partners,
 * and are left.
 */
struct error *sides_join(struct vec *into, struct vec *from);

/* Sort them by rank, and number them from 1. */
void sides_rank(struct vec *sides);

#endif
