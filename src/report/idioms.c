/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Idioms of a race's two sides; see idioms.h.
 */
#include "report/idioms.h"

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
	if (read->access != ACCESS_READ || read->idiom.lock == 0 ||
	    read->idiom.lock != write->idiom.lock ||
	    read->address != write->address || read->size != write->size)
		return false;
	if (read->idiom.guard == IDIOM_REREAD_ONLY)
		return write->idiom.guard == IDIOM_LAST ||
		       write->idiom.guard == IDIOM_EARLY;
	return read->idiom.guard == IDIOM_REREAD &&
	       write->access == ACCESS_WRITE &&
	       write->idiom.guard == IDIOM_LAST;
}

bool race_idiom_is_known(const struct insn_idiom *idiom)
{
	return idiom->change != IDIOM_UNKNOWN || idiom->used != UINT64_MAX ||
	       idiom->compared || idiom->tests_zero || idiom->dereferenced ||
	       idiom->locked_beside || idiom->retested || idiom->dispatch ||
	       idiom->pair || idiom->guard != IDIOM_UNGUARDED;
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
static bool is_change(const struct insn_idiom *idiom)
{
	return idiom->change != IDIOM_UNKNOWN &&
	       idiom->change != IDIOM_CONSTANT;
}

/* What is said of one access that may be either of two. */
static void join_side(struct race_side *side, const struct race_side *again)
{
	struct insn_idiom *idiom = &side->idiom;
	const struct insn_idiom *other = &again->idiom;

	if (side->access != again->access &&
	    (!is_change(idiom) || !is_change(other)))
		idiom->change = IDIOM_DERIVED;
	/* of the two, what is furthest from a plain load or store */
	if (idiom->change != other->change)
		idiom->change = IDIOM_DERIVED;
	if (other->delta < idiom->delta)
		idiom->delta = other->delta;
	idiom->changed |= other->changed;
	idiom->used |= other->used;
	idiom->compared |= other->compared;
	idiom->tests_zero |= other->tests_zero;
	idiom->dereferenced |= other->dereferenced;
	idiom->locked_beside &= other->locked_beside;
	idiom->locked_adds |= other->locked_adds;
	idiom->stored_plainly |= other->stored_plainly;
	idiom->retested |= other->retested;
	idiom->dispatch &= other->dispatch;
	if (idiom->guard != other->guard)
		idiom->guard = IDIOM_UNGUARDED;
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

void race_join_idioms(struct race *race, struct race *again)
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
		race->sides[0].idiom.guard = IDIOM_UNGUARDED;
	if (strcmp(race->fingerprint_code, again->fingerprint_code) != 0)
		race->joined = true;
	for (int i = 0; i < 2; i++) {
		struct race_side *side = &race->sides[i];

		if (match)
			join_side(side, &again->sides[cross ? 1 - i : i]);
		else
			side->idiom.change = IDIOM_DERIVED;
		/* bits are counted from the first byte of an access */
		if (!match || !overlaps_match(race, again, cross))
			side->idiom.used = UINT64_MAX;
		if (!match)
			side->idiom.guard = IDIOM_UNGUARDED;
	}
}
