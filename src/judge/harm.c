/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The table of signs; see harm.h.
 */
#include "judge/harm.h"

#include <inttypes.h>
#include <string.h>

#include "base/strbuf.h"
#include "report/race.h"

static bool side_updates(const struct race_side *side)
{
	return side->idiom.change == IDIOM_ADD ||
	       side->idiom.change == IDIOM_DERIVED;
}

static bool side_counts_down(const struct race_side *side)
{
	return side->idiom.change == IDIOM_ADD && side->idiom.delta < 0 &&
	       side->idiom.tests_zero;
}

/*
 * Somebody counts down and acts when it reaches zero, and the other side
 * changes the count too, neither by a locked instruction: the action is taken
 * twice, too soon, or never.
 */
static bool is_reference_count(const struct race *race, struct strbuf *grounds)
{
	for (int i = 0; i < 2; i++) {
		const struct race_side *side = &race->sides[i];
		const struct race_side *other = &race->sides[1 - i];

		if (!side_counts_down(side) || side->atomic)
			continue;
		if (!side_updates(other) && other->access == ACCESS_READ)
			continue;
		strbuf_addf(grounds,
			    "one side takes %" PRId64
			    " off and tests for zero, the other changes it at "
			    "the same time, and neither is atomic",
			    -side->idiom.delta);
		return true;
	}
	return false;
}

static uint64_t pointer_of(const uint8_t *bytes)
{
	uint64_t value;

	memcpy(&value, bytes, sizeof(value));
	return value;
}

/* In user space, not in the first pages. */
static bool looks_like_pointer(uint64_t value)
{
	return value >= 0x10000 && value < UINT64_C(1) << 47;
}

/*
 * A pointer that one side reads and follows was seen to become NULL meanwhile.
 */
static bool is_cleared_pointer(const struct race *race, struct strbuf *grounds)
{
	bool follows = (race->sides[0].idiom.dereferenced &&
			race->sides[0].access == ACCESS_READ) ||
		       (race->sides[1].idiom.dereferenced &&
			race->sides[1].access == ACCESS_READ);

	if (!follows || race->size != sizeof(uint64_t))
		return false;
	for (size_t i = 0; i < race->values.count; i++) {
		const struct race_values *values = vec_at(&race->values, i);

		if (!looks_like_pointer(pointer_of(values->before)) ||
		    pointer_of(values->after) != 0)
			continue;
		strbuf_addf(grounds,
			    "the pointer 0x%" PRIx64
			    " became NULL while the other side was about to "
			    "follow it",
			    pointer_of(values->before));
		return true;
	}
	return false;
}

const struct harm_sign harm_signs[] = {
	{ "reference-count", is_reference_count },
	{ "cleared-pointer", is_cleared_pointer },
	{ NULL, NULL },
};

const struct harm_sign *harm_find(const struct race *race,
				  struct strbuf *grounds)
{
	for (const struct harm_sign *sign = harm_signs; sign->name; sign++) {
		if (sign->fits(race, grounds))
			return sign;
	}
	return NULL;
}
