/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What the code and data of a conflict say about each of its sides, for the
 * judge: evidence that it synchronizes, by the rules that leave such
 * instructions out of the sampling set, and what its function does with the
 * value.
 */
#ifndef DETECT_EVIDENCE_H
#define DETECT_EVIDENCE_H

#include "detect/conflict.h"

/*
 * Set `sync' of both sides: the name of the evidence that a side synchronizes,
 * a rule's (rules.h), or "runtime" for both when the racing side is inside the
 * loader or a threading library; NULL when there is none.
 */
void evidence_of_sides(const struct conflict_context *context,
		       struct conflict *conflict);

/* What the function around a side's instruction does with the value. */
void evidence_idiom(const struct conflict_side *side, struct insn_idiom *ret);

#endif
