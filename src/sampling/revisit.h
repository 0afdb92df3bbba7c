/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The two locations of a race that was found, for more stalls there: a verdict from
 * replays needs more instances of the race (judge/replayed.h) than draws from all
 * locations come to in a short run. One stall of REVISIT_EACH + 1 is at one of them,
 * as long as the race is wanted, and for each pair of locations no more than the
 * caller says: REVISIT_MOST, and one more for each that told nothing. Locations are numbers of the caller's, as in learn.h. Pure code.
 */
#ifndef SAMPLING_REVISIT_H
#define SAMPLING_REVISIT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/vec.h"

struct race;

enum {
	/* stalls elsewhere for each at a location of a race */
	REVISIT_EACH = 7,
	/* for a race that is met in every fifth stall there, to have 20 */
	REVISIT_MOST = 100,
	/* pairs that are kept; a later one takes no other's place */
	REVISIT_PAIRS = 64,
};

/* Initialize with REVISITS_INIT, end with revisits_deinit(). */
struct revisits {
	struct vec pairs; /* of struct revisit */
	uint32_t next; /* its turn */
	uint32_t stalls; /* elsewhere, that are not paid out */
};

struct revisit {
	const struct race *race;
	uint32_t sites[2];
	uint32_t drawn; /* so often */
};

#define REVISITS_INIT                              \
	((struct revisits){                        \
		.pairs = VEC_INIT(struct revisit), \
	})

void revisits_deinit(struct revisits *revisits);

/*
 * The race was met at these two locations. A pair that is known, or for which there
 * is no room, is left out. False: out of memory.
 */
bool revisits_add(struct revisits *revisits, const struct race *race,
		  const uint32_t sites[2]);

/* A location that was not drawn here had its stall. */
void revisits_stalled(struct revisits *revisits);

/*
 * Draw a location, of each pair in turn, of its two by turns; UINT32_MAX: it is not
 * time yet, or there is none. most: the draws that a pair of the race may have in
 * all; 0: the race is not wanted any more, and the pair is forgotten.
 */
uint32_t revisits_draw(struct revisits *revisits,
		       uint32_t (*most)(const void *context,
					const struct race *race),
		       const void *context);

#endif
