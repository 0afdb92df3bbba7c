/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Races of a report by their sides: if only one side of a race was seen,
 * because a value changed (RACE_UNKNOWN), the race is recognized by that side.
 *
 * Two sides are compared by their functions and the race's variable, or by
 * their code if the names do not differ, as races are by their fingerprints.
 *
 * A race with one side matches every race that has this side. The other way
 * round, a record with one side stands for only one race with both sides, so
 * that it does not hide a new race: for none if the report has a race with both
 * sides that has this side, else for the first race that is looked up.
 */
#ifndef JUDGE_SIDES_H
#define JUDGE_SIDES_H

#include <stdbool.h>

#include "base/map.h"
#include "base/vec.h"

struct error;
struct race;
struct race_side;

/* All zero but for the vector: sides_init(). */
struct sides {
	struct vec entries; /* of struct sides_entry */
	/* a side's key (report/related.h) to the last entry's index */
	struct map by_names, by_code;
};

void sides_init(struct sides *sides);
void sides_deinit(struct sides *sides);

/* Add the sides of a race. ERROR_NOMEM only. */
struct error *sides_add(struct sides *sides, const struct race *race);

/*
 * Is it, by one side, a race that was added? One of the two has one side, the
 * other has both. A race with both sides, unless it is suppressed, is entered
 * by its fingerprint for the records that stand for it: a second call gives the
 * same answer. Synchronization is no race, and no race is synchronization.
 */
bool sides_know(struct sides *sides, const struct race *race);

/* Is the innermost function known? Of a side that was not seen, it need not. */
bool side_is_named(const struct race_side *side);

/* The name of the variable's symbol, or what there is; NULL: no name. */
const char *race_symbol(const struct race *race);

#endif
