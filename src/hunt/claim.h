/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Is an access that was recorded, or that raced in a run, the one that a candidate
 * has? Lines tell, since the report may be of another build, whose instructions
 * differ: of the candidate's stack and of the access's, the innermost frame that
 * is in no header of a library must be the same line, or, where a report has no
 * lines, the same function or offset in the same module. What a detector
 * intercepts, and the C library, is passed over: there the caller accesses. So all
 * instructions of a line fit that access memory in the way that was reported.
 */
#ifndef HUNT_CLAIM_H
#define HUNT_CLAIM_H

#include <stdbool.h>

struct race;
struct race_frame;
struct race_side;
struct vec;

/*
 * frames: of struct race_frame, innermost first, with what is inlined; access: the
 * bits of enum access_kind that it makes; 0: not known, which fits.
 */
bool claim_fits(const struct race_side *side, const struct vec *frames,
		unsigned int access);

/*
 * Is it in a library's header? clang has paths such as
 * /usr/bin/../lib/gcc/.../include/c++/12/vector.
 */
bool claim_is_wrapper(const struct race_frame *frame);

/* Does the report say anything of this side by which it could be told? */
bool claim_has_place(const struct race_side *side);

/* Is it that race, in either order? A side without a place fits any. */
bool claim_is_race(const struct race *candidate, const struct race *race);

#endif
