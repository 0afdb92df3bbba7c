/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Races by their callers; see callers.h. */
#include "hunt/callers.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/error.h"
#include "base/hash.h"
#include "base/strbuf.h"
#include "foreign/intercept.h"
#include "hunt/claim.h"
#include "report/field.h"
#include "report/race.h"

void callers_init(struct callers *callers)
{
	callers->races = (struct vec)VEC_INIT(struct race *);
}

static struct race *race_at(const struct callers *callers, size_t i)
{
	return *(struct race **)vec_at(&callers->races, i);
}

void callers_deinit(struct callers *callers)
{
	for (size_t i = 0; i < callers->races.count; i++)
		race_free(race_at(callers, i));
	vec_deinit(&callers->races);
}

static void add_frame(struct strbuf *text, const struct race_frame *frame)
{
	if (frame->file && frame->line > 0)
		strbuf_addf(text, "%s:%d;", frame->file, frame->line);
	else
		strbuf_addf(text, "%s+%" PRIx64 ";",
			    frame->module ? frame->module : "", frame->offset);
}

/* The frames to the innermost one of its own, and to the next one. */
static uint64_t hash_side(const struct race_side *side)
{
	const struct vec *frames = &side->frames;
	size_t last = claim_find_own(frames, intercept_skip(frames));
	struct strbuf text = { 0 };
	uint64_t hash;

	if (last + 1 < frames->count)
		last = claim_find_own(frames, last + 1);
	for (size_t i = 0; i < frames->count && i <= last; i++)
		add_frame(&text, vec_at(frames, i));
	hash = hash_text(strbuf_text(&text));
	strbuf_deinit(&text);
	return hash;
}

uint64_t callers_hash(const struct race *race)
{
	uint64_t one = hash_side(&race->sides[0]);
	uint64_t two = hash_side(&race->sides[1]);
	const uint64_t sides[2] = { one < two ? one : two,
				    one < two ? two : one };

	return hash_blocks(sides, sizeof(sides));
}

static bool is_known(const struct callers *callers, uint64_t hash)
{
	for (size_t i = 0; i < callers->races.count; i++) {
		if (callers_hash(race_at(callers, i)) == hash)
			return true;
	}
	return false;
}

struct error *callers_add(struct callers *callers, const struct race *race)
{
	struct race *copy;

	if (callers->races.count >= CALLERS_MAX ||
	    is_known(callers, callers_hash(race)))
		return NULL;
	copy = malloc(sizeof(*copy));
	if (!copy)
		return error_nomem;
	race_init(copy);
	if (fields_copy(&race_fields, copy, race) &&
	    vec_push(&callers->races, &copy))
		return NULL;
	race_free(copy);
	return error_nomem;
}
