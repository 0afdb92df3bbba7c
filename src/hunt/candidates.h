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
#include "hunt/claim.h"

struct code;
struct error;
struct pairs;
struct race;
struct sides_input;
struct transfers;

/* The fingerprint of a side (struct hunt_side). */
struct candidate_side {
	char fingerprint[33];
};

struct candidate {
	struct race *race; /* as it was reported; owned */
	/* filled in by candidates_sides() */
	bool found; /* the recording has an access of it */
	/* how the accesses of each side are told; CLAIM_NOT: it has none */
	enum claim_fit fits[2];
	/*
	 * its accesses conflict, and creations and joins of threads order all;
	 * it has sides if the recording lacks accesses
	 */
	bool ordered;
	/* an access at its bytes may have had no room: the reported one, maybe */
	bool incomplete;
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
 *
 * ordered: the sides of pairs that hand-overs put in order, which are not to be
 * tried. On an error both vectors may have some.
 */
struct error *
candidates_sides(struct candidates *candidates, const struct sides_input *input,
		 const struct pairs *pairs, const struct transfers *transfers,
		 struct code *code, struct vec *sides, struct vec *ordered);

#endif
