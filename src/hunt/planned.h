/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * How many runs a hunt has still to make, and how long they take, by what its runs
 * have shown so far: how many sides a run of several settles, how many of them are
 * tried once more alone (hunt/tries.h), and what a run of each kind takes. Pure
 * code.
 */
#ifndef HUNT_PLANNED_H
#define HUNT_PLANNED_H

#include <stdbool.h>
#include <stdint.h>

/* Runs that have ended. */
struct planned_kind {
	uint64_t runs;
	uint64_t ns; /* that they took, one after the other */
	/* of their sides, those that are over, or tried in another way now */
	uint64_t left;
};

struct planned {
	struct planned_kind together, alone;
	uint64_t
		to_alone; /* of together.left: those that are tried alone now */
};

/* What is pending in the store, and what of it this hunt knows. */
struct planned_sides {
	uint64_t pending; /* all, also those that others have claimed */
	uint64_t alone; /* of them, to be tried alone */
	uint64_t busy; /* of them, being tried */
	uint64_t batch; /* of the others, in a run, where no run has ended */
	uint64_t running; /* runs that are being made */
};

struct planned_rest {
	double runs; /* to be begun */
	/*
	 * that they take, one after the other, with half of each that is being
	 * made; < 0: not known
	 */
	double ns;
};

/*
 * A run with a side has ended: was it alone there, is it over, and if not, is it
 * to be tried alone?
 */
void planned_tried(struct planned *planned, bool was_alone, bool over,
		   bool is_alone);
void planned_ran(struct planned *planned, bool alone, uint64_t elapsed_ns);

struct planned_rest planned_rest(const struct planned *planned,
				 const struct planned_sides *sides);

#endif
