/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Accesses of candidates; see claim.h. */
#include "hunt/claim.h"

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/vec.h"
#include "foreign/intercept.h"
#include "report/race.h"

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

static bool same_base(const char *a, const char *b)
{
	return a && b && strcmp(base_name(a), base_name(b)) == 0;
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

/* The place of the first that is in no library's header; the first: all are. */
static size_t find_own(const struct vec *frames, size_t from)
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
	size_t own = find_own(frames, from);

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
	return frame->module && strstr(base_name(frame->module), ".so");
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

bool claim_fits(const struct race_side *side, const struct vec *frames,
		unsigned int access)
{
	size_t first = intercept_skip(&side->frames);
	size_t from = intercept_skip(frames);
	const struct race_frame *claimed, *frame;

	if (!claim_has_place(side) || !intercept_caller(frames) ||
	    (side->access && access && !(side->access & access)))
		return false;
	claimed = vec_at(&side->frames, first);
	frame = vec_at(frames, from);
	if (claimed->line > 0 && frame->line > 0)
		return same_by_line(&side->frames, first, frames, from);
	return same_by_name(claimed, frame);
}

static bool side_is(const struct race_side *claimed,
		    const struct race_side *side)
{
	return !claim_has_place(claimed) ||
	       claim_fits(claimed, &side->frames, side->access);
}

bool claim_is_race(const struct race *candidate, const struct race *race)
{
	const struct race_side *claimed = candidate->sides;

	if (!claim_has_place(&claimed[0]) && !claim_has_place(&claimed[1]))
		return false;
	return (side_is(&claimed[0], &race->sides[0]) &&
		side_is(&claimed[1], &race->sides[1])) ||
	       (side_is(&claimed[0], &race->sides[1]) &&
		side_is(&claimed[1], &race->sides[0]));
}
