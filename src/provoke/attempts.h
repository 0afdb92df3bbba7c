/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Which orders are tried, and for how long the first thread that comes waits for
 * the other. Pure code.
 */
#ifndef PROVOKE_ATTEMPTS_H
#define PROVOKE_ATTEMPTS_H

#include <stdbool.h>
#include <stdint.h>

#include "wire/provoke.h"

/* --order, in the order of its words: "ab", "ba", "both". */
enum attempts_order { ATTEMPTS_AB, ATTEMPTS_BA, ATTEMPTS_BOTH };

/* Is that order (enum wire_order) asked for? */
bool attempts_want(enum attempts_order asked, enum wire_order order);

/* The runs of one order. */
struct attempts {
	uint64_t hold_ns; /* of the next run */
	uint64_t in_vain; /* runs in a row in which they did not meet */
};

/*
 * elapsed_ns: how long the first thread had waited for the other when the race
 * was reported.
 */
void attempts_begin(struct attempts *attempts, uint64_t elapsed_ns);

/*
 * A run is over. Where the two did not meet, the next hold is ten times as long,
 * a second at most.
 */
void attempts_ran(struct attempts *attempts, bool met);

/*
 * Does it count, in the next run, when another instruction touches the bytes? Only
 * where the reported one has not come before.
 */
bool attempts_by_watch(const struct attempts *attempts);

#endif
