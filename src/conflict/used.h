/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Are the bytes in which two accesses meet used by the one that reads? Loads
 * are often wider than what comes of them: a search in a string is done with
 * whole vectors, a bit-field is loaded with what is beside it.
 */
#ifndef CONFLICT_USED_H
#define CONFLICT_USED_H

#include <stdbool.h>

struct conflict;
struct conflict_side;

/*
 * If the side has executed a masked vector move: what of memory that accessed.
 * Sets masked, access and selected.
 */
void used_place_masked(struct conflict_side *side);

/*
 * False only if one side reads and throws those bytes away by the instructions
 * around the load (dataflow/idiom), or, by its registers and memory as they were,
 * would have done the same whatever the other side wrote (dataflow/uses). The sides
 * and the overlap of the conflict are set.
 */
bool used_overlap(const struct conflict *conflict);

#endif
