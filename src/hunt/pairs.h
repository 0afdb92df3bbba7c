/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Conflicting accesses of a recording (hunt/target.h says which these are), as
 * directed edges: a thread is held at the one, and the other is its partner.
 */
#ifndef HUNT_PAIRS_H
#define HUNT_PAIRS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/map.h"
#include "base/vec.h"

struct code;
struct error;
struct order;
struct recording;

/* Had both a lock that excludes the other? The lower, the better to try. */
enum pair_locks { PAIR_UNLOCKED, PAIR_LOCKS_UNKNOWN, PAIR_LOCKED };

struct pair_edge {
	uint32_t recording; /* as given to pairs_find() */
	uint32_t cell, partner; /* places in its cells */
	uint32_t place, partner_place; /* code_number() of these */
	/*
	 * Whose access it is: the same, but in a string function that of its
	 * return address. Many call such a function, and what each of them does
	 * is to be tried.
	 */
	uint32_t user, partner_user;
	bool follows; /* the partner was there after the held access */
	enum pair_locks locks;
	/* no partner is known: those members are the held access's */
	bool alone;
	/* between them, and how much of it sleeping, in the recording */
	uint64_t distance_ns, slept_ns;
};

/* Two cells that conflict, and that creations and joins do not order. */
struct pair_conflict {
	uint32_t cell, other; /* places in the recording's cells */
	uint32_t place, other_place; /* code_number() of these */
};

struct pairs {
	bool counted_only; /* set by the caller: no edges are made */
	bool kept; /* set by the caller: conflicts are kept */
	struct vec edges; /* of struct pair_edge */
	/* of struct pair_conflict: of the recording that was added last */
	struct vec conflicts;
	/* pairs of instructions, by their numbers; see struct hunt_totals */
	struct map all, own, unordered;
	uint64_t granules; /* that two threads accessed */
	/* of them, with accesses outside of runtimes that may have no cell */
	uint64_t crowded;
	/*
	 * Edges that are none, since the first access of a cell is ordered with
	 * the partner and a later one is not: which one that is is not known.
	 */
	uint64_t unplaced;
	uint64_t cells_left_out; /* where there are too many */
	/*
	 * Numbers of the instructions of these: there may be pairs of them that no
	 * other member has.
	 */
	struct map left_out;
};

/*
 * Cells of a granule, and of one heap block there, that are compared, and comparisons
 * for a granule.
 */
enum { PAIRS_CELLS_MAX = 1024, PAIRS_COMPARED_MAX = 1 << 20 };

void pairs_init(struct pairs *pairs);
void pairs_deinit(struct pairs *pairs);

/* Add those of a recording, to which the caller gives that number. */
struct error *pairs_find(struct pairs *pairs, const struct recording *recording,
			 uint32_t number, const struct order *order,
			 struct code *code);

#endif
