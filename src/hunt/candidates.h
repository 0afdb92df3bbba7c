/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The races that a hunt is asked for: what another tool has reported, or a report
 * of racewatch has. A recording shows which of its accesses they are (hunt/claim.h),
 * and these give the sides.
 */
#ifndef HUNT_CANDIDATES_H
#define HUNT_CANDIDATES_H

#include <stdbool.h>

#include "base/vec.h"

struct code;
struct error;
struct pairs;
struct race;
struct sides_input;

/* The fingerprint of a side (struct hunt_side). */
struct candidate_side {
	char fingerprint[33];
};

struct candidate {
	struct race *race; /* as it was reported; owned */
	/* filled in by candidates_sides() */
	bool found; /* the recording has an access of it */
	/* its accesses conflict, and creations and joins of threads order all */
	bool ordered;
	struct vec sides; /* of struct candidate_side */
	bool left_out; /* it has more instructions than are held */
};

struct candidates {
	struct vec items; /* of struct candidate */
};

/*
 * Read a file of a tool that foreign.h knows ("-" is standard input), or a report
 * of racewatch, of which races and candidates are taken. ERROR_FORMAT: it is
 * neither, or has none; the file is named.
 */
struct error *candidates_read(const char *path, struct candidates *ret);
/* One that is all zero is fine. */
void candidates_deinit(struct candidates *candidates);

/*
 * Append the sides of each candidate (struct hunt_side), ranked, those of several
 * once. Those whose accesses conflict have the other one as their partner. Where
 * the recording shows one alone, or both at other bytes, a thread is held there,
 * and any partner is waited for.
 */
struct error *candidates_sides(struct candidates *candidates,
			       const struct sides_input *input,
			       const struct pairs *pairs, struct code *code,
			       struct vec *sides);

#endif
