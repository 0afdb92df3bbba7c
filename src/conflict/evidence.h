/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Evidence for the judge from the code and data of each side of a conflict:
 * whether the side synchronizes, by the rules that leave such instructions out
 * of the sampling set, and how its function uses the value.
 */
#ifndef CONFLICT_EVIDENCE_H
#define CONFLICT_EVIDENCE_H

#include <stdbool.h>

#include "conflict/conflict.h"
#include "image/atomics.h"

/*
 * Set `sync' of both sides: the name of the evidence that a side synchronizes,
 * a rule's (rules.h), or "runtime" for both when the racing side is inside the
 * loader or a threading library; NULL when there is none.
 */
void evidence_of_sides(const struct conflict_context *context,
		       struct conflict *conflict);

/* The index of the operand that the side's access was made through. */
unsigned int evidence_operand(const struct conflict_side *side);

/*
 * Is it a plain load or store, not part of a read-modify-write, of exactly the
 * bytes of a variable that other code of its module changes by locked
 * instructions? That is evidence only without debug information, which would
 * show an atomic operation better. If only the source is missing (has_lines), a
 * store is no evidence where others add to the variable: what they add in
 * between is lost.
 */
bool evidence_locked_elsewhere(const struct conflict_side *side,
			       const struct code_pattern *pattern,
			       bool has_lines);

/*
 * Is its instruction in a string function of the C library? These have no
 * atomic operations, so that the library's debug information, which is large,
 * need not be read.
 */
bool evidence_of_string_function(const struct conflict_side *side);

/*
 * What is missing to decide whether the side's access is an atomic operation;
 * nothing for an access by the kernel or by a string function.
 */
enum atomics_missing evidence_missing(const struct conflict_side *side);

/*
 * Does other code of the module branch on the value that the side accesses? For
 * a variable in the module's data.
 */
bool evidence_decided_elsewhere(const struct conflict_side *side);

/*
 * Is the conflict about a variable that holds a result of cpuid
 * (processor_elsewhere()), which had no value yet, or the same? Both sides, as
 * far as they are known, read or store all of it in code of its own module.
 */
bool evidence_processor(const struct conflict *conflict);

/* Is it in a function without a name that a lock's function calls? helper.h */
bool evidence_helper(const struct conflict_side *side);

/* What the function around a side's instruction does with the value. */
void evidence_pattern(const struct conflict_side *side,
		      struct code_pattern *ret);

/* Is the side's instruction a store of what is always the same? */
bool evidence_constant(const struct conflict_side *side);
/* Or of what its address decides? pattern_stores_made() */
bool evidence_made(const struct conflict_side *side);

#endif
