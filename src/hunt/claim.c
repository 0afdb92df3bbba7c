/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Accesses of candidates; see claim.h. */
#include "hunt/claim.h"

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/vec.h"
#include "foreign/intercept.h"
#include "report/race.h"
#include "report/text.h"

static bool same_base(const char *a, const char *b)
{
	return a && b && strcmp(text_base_name(a), text_base_name(b)) == 0;
}

/* The folders of two builds may differ. */
static bool same_line(const struct race_frame *a, const struct race_frame *b)
{
	return a->line > 0 && a->line == b->line && same_base(a->file, b->file);
}

bool claim_is_wrapper(const struct race_frame *frame)
{
	return frame->file && (race_frame_is_wrapper(frame->file) ||
			       strstr(frame->file, "/include/c++/"));
}

size_t claim_find_own(const struct vec *frames, size_t from)
{
	for (size_t i = from; i < frames->count; i++) {
		const struct race_frame *frame = vec_at(frames, i);

		if (frame->file && !claim_is_wrapper(frame))
			return i;
	}
	return from;
}

/*
 * Is the frame of a report one of a library's header? Valgrind's text has no paths:
 * there it is one if the access has such a header on top of its own line.
 */
static bool is_on_top(const struct race_frame *frame, const struct vec *frames,
		      size_t from, size_t own)
{
	if (claim_is_wrapper(frame))
		return true;
	for (size_t i = from; i < own; i++) {
		const struct race_frame *top = vec_at(frames, i);

		if (same_base(frame->file, top->file))
			return true;
	}
	return false;
}

/* Both have source lines. */
static bool same_by_line(const struct vec *claimed, size_t first,
			 const struct vec *frames, size_t from)
{
	size_t own = claim_find_own(frames, from);

	for (size_t i = first; i < claimed->count; i++) {
		const struct race_frame *frame = vec_at(claimed, i);

		if (same_line(frame, vec_at(frames, own)))
			return true;
		if (!is_on_top(frame, frames, from, own))
			return false;
	}
	return false;
}

static bool is_library(const struct race_frame *frame)
{
	return frame->module && strstr(text_base_name(frame->module), ".so");
}

/* Programs of two builds may have other names; libraries keep theirs. */
static bool other_library(const struct race_frame *a,
			  const struct race_frame *b)
{
	return is_library(a) && is_library(b) &&
	       !same_base(a->module, b->module);
}

/* One of them has none. Several instructions of a function may fit. */
static bool same_by_name(const struct race_frame *claimed,
			 const struct race_frame *frame)
{
	if (claimed->function && frame->function)
		return strcmp(claimed->function, frame->function) == 0 &&
		       !other_library(claimed, frame);
	return claimed->offset && claimed->offset == frame->offset &&
	       same_base(claimed->module, frame->module);
}

bool claim_has_place(const struct race_side *side)
{
	return intercept_caller(&side->frames) != NULL;
}

/* By their innermost frames. */
static bool fits_exactly(const struct race_side *side, size_t first,
			 const struct vec *frames, size_t from)
{
	const struct race_frame *claimed = vec_at(&side->frames, first);
	const struct race_frame *frame = vec_at(frames, from);

	if (claimed->line > 0 && frame->line > 0)
		return same_by_line(&side->frames, first, frames, from);
	return same_by_name(claimed, frame);
}

static const char *last_part(const char *function)
{
	const char *next;

	while ((next = strstr(function, "::")) != NULL)
		function = next + 2;
	return function;
}

/* Of what is inlined, some tools have "pop" for "Queue::pop". */
static bool same_member(const struct race_frame *a, const struct race_frame *b)
{
	return (!strstr(a->function, "::") || !strstr(b->function, "::")) &&
	       strcmp(last_part(a->function), last_part(b->function)) == 0 &&
	       same_base(a->file, b->file);
}

static bool same_function(const struct race_frame *a,
			  const struct race_frame *b)
{
	if (!a->function || !b->function || other_library(a, b))
		return false;
	if (strcmp(a->function, b->function) != 0)
		return same_member(a, b);
	return !a->file || !b->file || same_base(a->file, b->file);
}

/* Was the access made in a function that was called at that line? */
static bool is_called_at(const struct race_frame *claimed,
			 const struct vec *frames, size_t own)
{
	size_t caller = own + 1 < frames->count
				? claim_find_own(frames, own + 1)
				: frames->count;

	return caller < frames->count &&
	       same_line(claimed, vec_at(frames, caller));
}

static bool is_better(enum claim_fit one, enum claim_fit two)
{
	static const int ranks[CLAIM_FITS] = {
		[CLAIM_NOT] = 0,      [CLAIM_BY_FUNCTION] = 1,
		[CLAIM_RESIZED] = 2,  [CLAIM_INLINED] = 3,
		[CLAIM_BY_CALL] = 4,  [CLAIM_BY_LINE] = 5,
		[CLAIM_BY_BYTES] = 6,
	};

	return ranks[one] > ranks[two];
}

enum claim_fit claim_choose(unsigned int found, unsigned int *ret)
{
	enum {
		FUNCTION = 1U << CLAIM_BY_FUNCTION,
		RESIZED = 1U << CLAIM_RESIZED
	};
	enum claim_fit best = CLAIM_NOT;

	for (enum claim_fit fit = CLAIM_NOT; fit < CLAIM_FITS; fit++) {
		if ((found >> fit & 1) && is_better(fit, best))
			best = fit;
	}
	*ret = best == CLAIM_NOT ? 0 : 1U << best;
	if (best != CLAIM_INLINED || !(found & FUNCTION) || (found & RESIZED))
		return best;
	*ret |= FUNCTION;
	return CLAIM_BY_FUNCTION;
}

bool claim_is_unsure(enum claim_fit fit)
{
	return fit == CLAIM_BY_FUNCTION || fit == CLAIM_RESIZED ||
	       fit == CLAIM_INLINED;
}

bool claim_is_vague(const struct race *candidate)
{
	return candidate->evidence == EVIDENCE_REPORTED && candidate->backend &&
	       strcmp(candidate->backend, "drd") == 0;
}

/* Was the access made at the line that calls the function of the claimed frame? */
static bool is_inlined(const struct vec *claimed, size_t own,
		       const struct race_frame *frame)
{
	const struct race_frame *caller =
		own + 1 < claimed->count
			? vec_at(claimed, claim_find_own(claimed, own + 1))
			: NULL;

	return caller && !claim_is_wrapper(caller) && same_line(caller, frame);
}

/*
 * What is intercepted accesses in steps of its own, and detectors divide what is wider
 * than a word.
 */
static bool same_size(const struct race_side *side, const struct vec *frames,
		      uint32_t size)
{
	enum { WORD = 8 };

	return side->size == 0 || size == 0 || side->size == size ||
	       (side->size == WORD && size > WORD) ||
	       intercept_skip(&side->frames) > 0 || intercept_skip(frames) > 0;
}

enum claim_fit claim_fit(const struct race *candidate,
			 const struct race_side *side, const struct vec *frames,
			 unsigned int access, uint32_t size)
{
	size_t first = intercept_skip(&side->frames);
	size_t from = intercept_skip(frames);
	const struct race_frame *claimed, *frame;
	bool sized = same_size(side, frames, size);
	size_t claimed_own, own;

	if (!claim_has_place(side) || !intercept_caller(frames) ||
	    (side->access && access && !(side->access & access)))
		return CLAIM_NOT;
	if (fits_exactly(side, first, frames, from))
		return sized ? CLAIM_BY_LINE : CLAIM_RESIZED;
	claimed_own = claim_find_own(&side->frames, first);
	claimed = vec_at(&side->frames, claimed_own);
	own = claim_find_own(frames, from);
	frame = vec_at(frames, own);
	if (claim_is_vague(candidate) && is_called_at(claimed, frames, own))
		return CLAIM_BY_CALL;
	if (sized && side->size > 0 &&
	    is_inlined(&side->frames, claimed_own, frame))
		return CLAIM_INLINED;
	return same_function(claimed, frame) ? CLAIM_BY_FUNCTION : CLAIM_NOT;
}

static bool side_is(const struct race *candidate, int side,
		    const enum claim_fit fits[2], const struct race_side *met,
		    bool by_access)
{
	const struct race_side *claimed = &candidate->sides[side];
	enum claim_fit fit;

	if (!claim_has_place(claimed) || fits[side] == CLAIM_BY_BYTES)
		return true;
	fit = claim_fit(candidate, claimed, &met->frames,
			by_access ? met->access : ACCESS_NONE, met->size);
	return fit != CLAIM_NOT && !is_better(fits[side], fit);
}

static bool is_race(const struct race *candidate, const enum claim_fit fits[2],
		    const struct race *race, bool by_access)
{
	if (!claim_has_place(&candidate->sides[0]) &&
	    !claim_has_place(&candidate->sides[1]))
		return false;
	for (int i = 0; i < 2; i++) {
		if (side_is(candidate, 0, fits, &race->sides[i], by_access) &&
		    side_is(candidate, 1, fits, &race->sides[!i], by_access))
			return true;
	}
	return false;
}

bool claim_is_race(const struct race *candidate, const enum claim_fit fits[2],
		   const struct race *race)
{
	return is_race(candidate, fits, race, true);
}

bool claim_is_on_lines(const struct race *candidate,
		       const enum claim_fit fits[2], const struct race *race)
{
	return is_race(candidate, fits, race, false);
}
