/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Does the reading side use the bytes that the two accesses share? Loads are
 * often wider than needed: a string is searched by whole vectors, and a
 * bit-field is loaded with its neighbours.
 */
#ifndef CONFLICT_USED_H
#define CONFLICT_USED_H

#include <stdbool.h>

struct conflict;
struct conflict_side;

/*
 * If the side has executed a masked vector move, set masked, access and
 * selected: which memory it accessed.
 */
void used_place_masked(struct conflict_side *side);

/*
 * False only if one side reads those bytes and does not use them: by the
 * instructions around the load (dataflow/pattern), or, by its registers and
 * memory as they were, whatever the other side wrote (dataflow/uses). The sides
 * and the overlap of the conflict are set.
 */
bool used_overlap(const struct conflict *conflict);

#endif
