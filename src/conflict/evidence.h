/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What the code and data of a conflict say about each of its sides, for the
 * judge: evidence that it synchronizes, by the rules that leave such
 * instructions out of the sampling set, and what its function does with the
 * value.
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
 * A plain load or store, not part of a read-modify-write, of just the bytes of
 * a variable that its module changes by locked instructions elsewhere. That
 * counts only where nothing can say what the code is: there an atomic operation
 * is known by better evidence. Where only the source is missing (has_lines), a
 * store over what others add to does not: what was added in between is lost.
 */
bool evidence_locked_elsewhere(const struct conflict_side *side,
			       const struct insn_idiom *idiom, bool has_lines);

/*
 * Is its instruction in a string function of the C library? There is no atomic
 * operation in one: the library's debug information, which is long, need not be
 * read to know that.
 */
bool evidence_of_string_function(const struct conflict_side *side);

/*
 * What is missing to tell whether the side's access is an atomic operation; of
 * the kernel's and of a string function's, nothing.
 */
enum atomics_missing evidence_missing(const struct conflict_side *side);

/*
 * Does other code of the module decide something by the value that the side
 * accesses? Of a variable in the module's data.
 */
bool evidence_decided_elsewhere(const struct conflict_side *side);

/*
 * Is the conflict about a variable that keeps what the processor says of itself
 * (processor_elsewhere()), where it had no value yet, or the same? Both sides,
 * as far as they are known, read or store all of it in code of its own module.
 */
bool evidence_processor(const struct conflict *conflict);

/* Is it in a function without a name that a lock's function calls? helper.h */
bool evidence_helper(const struct conflict_side *side);

/* What the function around a side's instruction does with the value. */
void evidence_idiom(const struct conflict_side *side, struct insn_idiom *ret);

#endif
