/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What a race tells of others on the same variable; see related.h.
 */
#include "report/related.h"

#include <string.h>

#include "base/same-text.h"
#include "report/code-patterns.h"
#include "report/race.h"

static bool overlap(uint64_t a, uint32_t a_size, uint64_t b, uint32_t b_size)
{
	return a < b + b_size && b < a + a_size;
}

bool related_by_variable(const struct race *a, const struct race *b)
{
	const struct race_variable *one = &a->variable, *other = &b->variable;

	if (a->pid == b->pid &&
	    overlap(a->address, a->size, b->address, b->size))
		return true;
	return one->symbol && same_text(one->symbol, other->symbol) &&
	       same_text(one->module, other->module) &&
	       overlap(one->offset, a->size, other->offset, b->size);
}

bool related_pattern_decides(const struct code_pattern *pattern)
{
	return pattern->compared || pattern->tests_zero ||
	       pattern->dereferenced || pattern->change == PATTERN_DERIVED ||
	       (pattern->change == PATTERN_ADD && pattern->delta < 0);
}

bool related_tell(struct race *race, const struct race *teller)
{
	if (race->decides || !related_by_variable(race, teller) ||
	    (!related_pattern_decides(&teller->sides[0].pattern) &&
	     !related_pattern_decides(&teller->sides[1].pattern)))
		return false;
	race->decides = true;
	return true;
}

/* "used" of "shard->used" and of "table[3].used" */
static const char *field_of(const char *name)
{
	const char *last = name;

	for (; *name; name++) {
		if (strchr(".>]", *name) && name[1])
			last = name + 1;
	}
	return last;
}

/* By whichever pointers the two came to memory of that type. */
static bool are_one_field(const struct race_variable *one,
			  const struct race_variable *other)
{
	return !one->symbol && !other->symbol && one->name && other->name &&
	       one->container && same_text(one->container, other->container) &&
	       strcmp(field_of(one->name), field_of(other->name)) == 0;
}

static bool share_code(const struct race *a, const struct race *b)
{
	for (int i = 0; i < 2; i++) {
		for (int j = 0; j < 2; j++) {
			if (a->sides[i].frames.count > 0 &&
			    b->sides[j].frames.count > 0 &&
			    race_same_code(a, i, b, j))
				return true;
		}
	}
	return false;
}

bool related_share_replays(const struct race *a, const struct race *b)
{
	if (related_by_variable(a, b) ||
	    are_one_field(&a->variable, &b->variable))
		return true;
	return (!a->variable.name || !b->variable.name) &&
	       a->variable.region != REGION_GLOBAL &&
	       b->variable.region != REGION_GLOBAL && share_code(a, b);
}

/* Not of what is inlined there: that is many a function's. NULL: not known. */
static const char *function_of(const struct race *race, int side)
{
	const struct vec *frames = &race->sides[side].frames;

	for (size_t i = 0; i < frames->count; i++) {
		const struct race_frame *frame = vec_at(frames, i);

		if (!frame->inlined)
			return frame->function;
	}
	return NULL;
}

/* A side is in the function, and makes such an access. */
static bool has_side(const struct race *race, int side, const char *function,
		     uint32_t access)
{
	return race->sides[side].access & access &&
	       same_text(function_of(race, side), function);
}

bool related_is_behind(const struct race *race, const struct race *other)
{
	for (int i = 0; i < 2; i++) {
		const char *reader = function_of(race, i);
		const char *writer = function_of(race, 1 - i);

		if (!reader || !writer ||
		    !race->sides[i].pattern.dereferenced ||
		    !(race->sides[1 - i].access & ACCESS_WRITE))
			continue;
		for (int j = 0; j < 2; j++) {
			if (has_side(other, j, reader, ACCESS_READ) &&
			    has_side(other, 1 - j, writer, ACCESS_WRITE))
				return !related_by_variable(race, other);
		}
	}
	return false;
}

static bool are_one_object(const struct race_variable *one,
			   const struct race_variable *other)
{
	if (one->region == REGION_GLOBAL || other->region == REGION_GLOBAL)
		return one->region == other->region && one->symbol &&
		       same_text(one->symbol, other->symbol) &&
		       same_text(one->module, other->module);
	return !one->container || !other->container ||
	       same_text(one->container, other->container);
}

static bool are_two_functions(const struct race *a, const struct race *b)
{
	const char *one = function_of(a, 0), *two = function_of(a, 1);
	const char *three = function_of(b, 0), *four = function_of(b, 1);

	if (!one || !two)
		return false;
	return (same_text(one, three) && same_text(two, four)) ||
	       (same_text(one, four) && same_text(two, three));
}

bool related_is_beside(const struct race *race, const struct race *other)
{
	const struct race_replay *replay = &other->replay;

	if (related_share_replays(race, other))
		return false;
	if (are_two_functions(race, other) &&
	    (replay->faults > 0 || replay->overlaps > 0))
		return true;
	return are_one_object(&race->variable, &other->variable) &&
	       (share_code(race, other) || are_two_functions(race, other));
}

/* One side only reads, and the other one writes. */
static bool has_reader(const struct race *race)
{
	for (int i = 0; i < 2; i++) {
		const struct race_side *side = &race->sides[i];

		if (side->access == ACCESS_READ && !race_side_updates(side) &&
		    race->sides[1 - i].access & ACCESS_WRITE)
			return true;
	}
	return false;
}

static void related_note_effect(struct race_replay_related *related,
				const struct race *race)
{
	const struct race_replay *replay = &race->replay;
	uint64_t changes = replay->changes + replay->faults;

	related->changed |= changes > 0;
	related->serial &= changes == 0 ||
			   (changes == replay->serial && has_reader(race));
}

static void related_note(struct race_replay_related *related,
			 const struct race *race)
{
	const struct race_replay *replay = &race->replay;

	related_note_effect(related, race);
	if (replay->instances < related->fewest)
		related->fewest = replay->instances;
	related->unlike |= race_replay_is_unlike(replay);
}

/* Instances of a race on the same variable, which also show that it is benign. */
static void related_count(struct race_replay_related *related,
			  const struct race *race)
{
	const struct race_replay *replay = &race->replay;

	related_note(related, race);
	related->races++;
	related->instances += replay->instances;
	related->telling += replay->instances - replay->still;
	related->blind += replay->blind;
}

bool related_sum_replays(struct race *race, const struct vec *races)
{
	struct race_replay_related related = { .serial = true,
					       .fewest = UINT64_MAX },
				   old = race->replay_related;

	for (size_t i = 0; i < races->count; i++) {
		const struct race *other = *(struct race **)vec_at(races, i);

		if (other->verdict == VERDICT_SYNC)
			continue;
		if (other == race || related_share_replays(race, other))
			related_count(&related, other);
		else if (related_is_behind(race, other))
			related_note(&related, other);
		else if (related_is_beside(race, other))
			related_note_effect(&related, other);
	}
	if (related.fewest == UINT64_MAX)
		related.fewest = 0;
	race->replay_related = related;
	return related.instances != old.instances ||
	       related.races != old.races || related.telling != old.telling ||
	       related.blind != old.blind || related.fewest != old.fewest ||
	       related.changed != old.changed || related.serial != old.serial ||
	       related.unlike != old.unlike;
}

bool race_is_one_sided(const struct race *race)
{
	return race->sides[1].role == RACE_UNKNOWN;
}

/* 2: in source code of the program's own; 1: in other code; 0: not known */
static int place_rank(const struct race_side *side)
{
	const struct race_frame *frame = race_frames_own(&side->frames);

	if (!frame)
		return 0;
	return frame->file && race_frame_is_own(frame) ? 2 : 1;
}

const struct race_side *race_place_side(const struct race *race)
{
	const struct race_side *sides = race->sides;

	return place_rank(&sides[1]) > place_rank(&sides[0]) ? &sides[1]
							     : &sides[0];
}
