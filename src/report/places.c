/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Lines and heap blocks of races; see places.h. */
#include "report/places.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "base/hash.h"
#include "base/strbuf.h"
#include "base/utf8.h"
#include "report/race.h"

/* Calls that tell an allocation: the allocator's caller may be a wrapper. */
enum { PLACES_ALLOCATED = 2 };

/* The innermost frame that does not serve another one. */
static const struct race_frame *doer(const struct race_side *side)
{
	for (size_t i = 0; i < side->frames.count; i++) {
		const struct race_frame *frame = vec_at(&side->frames, i);

		if (!race_frame_is_c_library(frame))
			return frame;
	}
	return side->frames.count > 0 ? vec_at(&side->frames, 0) : NULL;
}

/* A name as a record in JSON has it, so that the record has the same places. */
static void add_frame(struct strbuf *text, const struct race_frame *frame)
{
	const char *module = race_frame_module(frame);

	if (frame->file && frame->line > 0) {
		utf8_add(text, frame->file);
		strbuf_addf(text, ":%d;", frame->line);
	} else {
		utf8_add(text, module ? module : "");
		strbuf_addf(text, "+%" PRIx64 ";", frame->offset);
	}
}

static uint64_t hash_side(const struct race_side *side)
{
	const struct race_frame *frame = doer(side);
	struct strbuf text = { 0 };
	uint64_t hash;

	if (frame)
		add_frame(&text, frame);
	hash = hash_text(strbuf_text(&text));
	strbuf_deinit(&text);
	return hash;
}

static uint64_t hash_block(const struct recorded_block *block)
{
	const struct vec *frames = &block->allocated;
	struct strbuf text = { 0 };
	uint64_t hash;

	for (size_t i = 0; i < frames->count && i < PLACES_ALLOCATED; i++)
		add_frame(&text, vec_at(frames, i));
	hash = hash_text(strbuf_text(&text));
	strbuf_deinit(&text);
	return hash;
}

uint64_t race_places(const struct race *race)
{
	uint64_t sides[2], parts[3];
	bool swap;

	if (race->evidence != EVIDENCE_PROVOKED &&
	    race->evidence != EVIDENCE_REPORTED)
		return 0;
	for (int i = 0; i < 2; i++)
		sides[i] = hash_side(&race->sides[i]);
	swap = sides[1] < sides[0];
	parts[0] = sides[swap];
	parts[1] = sides[!swap];
	parts[2] = hash_block(&race->recorded.block);
	return hash_bytes(parts, sizeof(parts));
}
