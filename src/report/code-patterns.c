/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Code patterns of a race's two sides; see code-patterns.h.
 */
#include "report/code-patterns.h"

#include <string.h>

#include "report/race.h"

bool race_is_double_checked(const struct race *race)
{
	const struct race_side *read = &race->sides[0];
	const struct race_side *write = &race->sides[1];

	if (read->access != ACCESS_READ) {
		read = &race->sides[1];
		write = &race->sides[0];
	}
	if (read->access != ACCESS_READ || read->pattern.lock == 0 ||
	    read->pattern.lock != write->pattern.lock ||
	    read->address != write->address || read->size != write->size)
		return false;
	if (read->pattern.double_check == PATTERN_REREAD_ONLY)
		return write->pattern.double_check == PATTERN_LAST ||
		       write->pattern.double_check == PATTERN_EARLY;
	return read->pattern.double_check == PATTERN_REREAD &&
	       write->access == ACCESS_WRITE &&
	       write->pattern.double_check == PATTERN_LAST;
}

bool race_side_updates(const struct race_side *side)
{
	return side->access == ACCESS_RMW ||
	       side->pattern.change == PATTERN_ADD ||
	       side->pattern.change == PATTERN_BITS ||
	       side->pattern.change == PATTERN_DERIVED;
}

bool race_pattern_is_known(const struct code_pattern *pattern)
{
	return pattern->change != PATTERN_UNKNOWN ||
	       pattern->used != UINT64_MAX || pattern->compared ||
	       pattern->tests_zero || pattern->dereferenced ||
	       pattern->locked_beside || pattern->retested ||
	       pattern->dispatch || pattern->pair ||
	       pattern->double_check != PATTERN_UNCHECKED;
}

static const char *side_function(const struct race_side *side)
{
	const struct race_frame *frame =
		side->frames.count ? vec_at(&side->frames, 0) : NULL;

	return frame && frame->function ? frame->function : "";
}

static bool sides_match(const struct race_side *a, const struct race_side *b)
{
	return strcmp(side_function(a), side_function(b)) == 0;
}

/* A load and a store of the same function: do they belong to one change? */
static bool is_change(const struct code_pattern *pattern)
{
	return pattern->change != PATTERN_UNKNOWN &&
	       pattern->change != PATTERN_CONSTANT;
}

/* What is said of one access that may be either of two. */
static void join_side(struct race_side *side, const struct race_side *again)
{
	struct code_pattern *pattern = &side->pattern;
	const struct code_pattern *other = &again->pattern;

	if (side->access != again->access &&
	    (!is_change(pattern) || !is_change(other)))
		pattern->change = PATTERN_DERIVED;
	/* of the two, what is furthest from a plain load or store */
	if (pattern->change != other->change)
		pattern->change = PATTERN_DERIVED;
	if (other->delta < pattern->delta)
		pattern->delta = other->delta;
	pattern->changed |= other->changed;
	pattern->used |= other->used;
	pattern->compared |= other->compared;
	pattern->tests_zero |= other->tests_zero;
	pattern->dereferenced |= other->dereferenced;
	pattern->locked_beside &= other->locked_beside;
	pattern->locked_adds |= other->locked_adds;
	pattern->stored_plainly |= other->stored_plainly;
	pattern->retested |= other->retested;
	pattern->dispatch &= other->dispatch;
	if (pattern->double_check != other->double_check)
		pattern->double_check = PATTERN_UNCHECKED;
}

static void swap_text(char **one, char **two)
{
	char *text = *one;

	*one = *two;
	*two = text;
}

static void take_verdict(struct race *race, struct race *from)
{
	race->verdict = from->verdict;
	swap_text(&race->reason, &from->reason);
	swap_text(&race->grounds, &from->grounds);
}

/* Are a's sides those of b, by function, or also by what they do? */
static bool races_match(const struct race *a, const struct race *b, bool cross,
			bool by_access)
{
	for (int i = 0; i < 2; i++) {
		const struct race_side *mine = &a->sides[i];
		const struct race_side *other = &b->sides[cross ? 1 - i : i];

		if (!sides_match(mine, other) ||
		    (by_access && mine->access != other->access))
			return false;
	}
	return true;
}

/* Do the two accesses lie to each other as those of the other race? */
static bool overlaps_match(const struct race *a, const struct race *b,
			   bool cross)
{
	const struct race_side *sides = a->sides;
	const struct race_side *first = &b->sides[cross],
			       *second = &b->sides[!cross];

	return sides[0].size == first->size && sides[1].size == second->size &&
	       sides[0].address - sides[1].address ==
		       first->address - second->address;
}

void race_join_patterns(struct race *race, struct race *again)
{
	bool cross = !races_match(race, again, false, true) &&
		     (races_match(race, again, true, true) ||
		      !races_match(race, again, false, false));
	bool match = races_match(race, again, cross, false);

	if (race->verdict == VERDICT_HARMFUL)
		return;
	if (again->verdict < race->verdict)
		take_verdict(race, again);
	if (race->verdict == VERDICT_HARMFUL)
		return;
	if (race_is_double_checked(race) && !race_is_double_checked(again))
		race->sides[0].pattern.double_check = PATTERN_UNCHECKED;
	if (strcmp(race->fingerprint_code, again->fingerprint_code) != 0)
		race->joined = true;
	for (int i = 0; i < 2; i++) {
		struct race_side *side = &race->sides[i];

		if (match)
			join_side(side, &again->sides[cross ? 1 - i : i]);
		else
			side->pattern.change = PATTERN_DERIVED;
		/* bits are counted from the first byte of an access */
		if (!match || !overlaps_match(race, again, cross))
			side->pattern.used = UINT64_MAX;
		if (!match)
			side->pattern.double_check = PATTERN_UNCHECKED;
	}
}
