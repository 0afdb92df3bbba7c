/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Is an access that was recorded, or that raced in a run, the one that a candidate
 * has? Lines tell, since the report may be of another build, whose instructions
 * differ: of the candidate's stack and of the access's, the innermost frame that
 * is in no header of a library must be the same line, or, where a report has no
 * lines, the same function or offset in the same module. What a detector
 * intercepts, and the C library, is passed over: there the caller accesses. So all
 * instructions of a line fit that access memory in the way that was reported.
 *
 * DRD may name an instruction that was executed a moment before, such as the call
 * of the function that accesses: where no access fits, those of what was called at
 * this line do. And two builds differ: one inlines a function, and ascribes its
 * accesses to the line of the call; one accesses several elements, or a part, at once;
 * and an instruction may have a neighbouring line. So where none of these fits, those
 * at the line of the call do, then those of the line that have another size, and then
 * those of the same function. Where DRD names a call that jumped to what accesses, so
 * that no stack has it, the bytes of a global variable tell.
 */
#ifndef HUNT_CLAIM_H
#define HUNT_CLAIM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct race;
struct race_frame;
struct race_side;
struct vec;

/* Stores have these numbers: a new one is the last. */
enum claim_fit {
	CLAIM_NOT,
	CLAIM_BY_FUNCTION,
	CLAIM_BY_CALL,
	CLAIM_BY_LINE, /* or by its name, where there are no lines */
	CLAIM_BY_BYTES, /* where nothing else fits; any place does */
	CLAIM_RESIZED, /* by its line, but of another size */
	CLAIM_INLINED, /* by the line of the call of its function */
	CLAIM_FITS /* their number */
};

/*
 * What is to be taken of all that was found. found: bits, 1 << enum claim_fit; *ret:
 * those of the best. Functions of which some accesses have the line of the call may
 * have others in their own lines: these are taken, too. Returned is the least of them.
 */
enum claim_fit claim_choose(unsigned int found, unsigned int *ret);

/*
 * May it be another access than the reported one? Then nothing that orders it orders
 * that.
 */
bool claim_is_unsure(enum claim_fit fit);

/*
 * frames: of struct race_frame, innermost first, with what is inlined; access: the
 * bits of enum access_kind that it makes; size: its bytes; 0: not known, which fits.
 */
enum claim_fit claim_fit(const struct race *candidate,
			 const struct race_side *side, const struct vec *frames,
			 unsigned int access, uint32_t size);

/* May the instruction that it names be one before the access? */
bool claim_is_vague(const struct race *candidate);

/*
 * Is it in a library's header? clang has paths such as
 * /usr/bin/../lib/gcc/.../include/c++/12/vector.
 */
bool claim_is_wrapper(const struct race_frame *frame);

/*
 * The place of the innermost frame that is in no header of a library, `from' or
 * beyond; `from': all are.
 */
size_t claim_find_own(const struct vec *frames, size_t from);

/* Does the report say anything of this side by which it could be told? */
bool claim_has_place(const struct race_side *side);

/*
 * Is it that race, in either order? fits: how well each side of it must fit, at
 * least. A side without a place fits any, and so does one that is told by its bytes,
 * which the caller compares.
 */
bool claim_is_race(const struct race *candidate, const enum claim_fit fits[2],
		   const struct race *race);
/*
 * The same whether they read or write: a race is told apart by its lines, and what
 * was met there once may have been a read, and a write another time.
 */
bool claim_is_on_lines(const struct race *candidate,
		       const enum claim_fit fits[2], const struct race *race);

#endif
