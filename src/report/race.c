/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The race record; see race.h. Its fields, their words and the memory that they own
 * are in race-fields.c, and the fingerprints are made in fingerprint.c.
 */
#include "report/race.h"

#include <stdlib.h>
#include <string.h>

#include "report/code-patterns.h"

static struct race_values *find_values(const struct race *race,
				       const uint8_t *before,
				       const uint8_t *after)
{
	for (size_t i = 0; i < race->values.count; i++) {
		struct race_values *values = vec_at(&race->values, i);

		if (memcmp(values->before, before, sizeof(values->before)) ==
			    0 &&
		    memcmp(values->after, after, sizeof(values->after)) == 0)
			return values;
	}
	return NULL;
}

static void race_add_changed(struct race *race, const uint8_t *before,
			     const uint8_t *after)
{
	for (size_t i = 0; i < sizeof(race->changed); i++)
		race->changed[i] |= before[i] ^ after[i];
}

/* Without the last pair of equal values, which tells least. False: all differ. */
static bool drop_unchanged(struct race *race)
{
	for (size_t i = race->values.count; i-- > 0;) {
		const struct race_values *values = vec_at(&race->values, i);

		if (memcmp(values->before, values->after,
			   sizeof(values->before)) == 0) {
			vec_remove(&race->values, i);
			return true;
		}
	}
	return false;
}

bool race_add_values(struct race *race, const uint8_t *before,
		     const uint8_t *after, uint64_t count)
{
	struct race_values *values = find_values(race, before, after);

	race_add_changed(race, before, after);
	if (!values) {
		if (race->values.count == RACE_VALUES_MAX &&
		    (memcmp(before, after, sizeof(values->before)) == 0 ||
		     !drop_unchanged(race)))
			return true;
		values = vec_append(&race->values);
		if (!values)
			return false;
		memcpy(values->before, before, sizeof(values->before));
		memcpy(values->after, after, sizeof(values->after));
		values->count = 0;
	}
	values->count += count;
	return true;
}

/*
 * It was there when somebody was about to write it for the first time. Where
 * nothing changed, the write had been done when the value was looked at.
 */
static void doubt_check(struct race *race, const struct race *again)
{
	static const uint8_t zero[X86_ACCESS_MAX];

	if (memcmp(again->before, zero, sizeof(zero)) != 0 &&
	    memcmp(again->before, again->after, sizeof(zero)) != 0 &&
	    race->sides[0].pattern.double_check != PATTERN_REREAD_ONLY &&
	    race->sides[1].pattern.double_check != PATTERN_REREAD_ONLY &&
	    race_is_double_checked(race))
		race->sides[0].pattern.double_check = PATTERN_UNCHECKED;
}

bool race_see_again(struct race *race, const struct race *again)
{
	race->count += again->count ? again->count : 1;
	if (again->last_time > race->last_time)
		race->last_time = again->last_time;
	doubt_check(race, again);
	/* values of other sizes are of other variables with the same name */
	if (again->size == race->size)
		return race_add_values(race, again->before, again->after, 1);
	race_add_changed(race, again->before, again->after);
	return true;
}

/* What nobody saw must have been a write: the value has changed. */
static bool side_writes(const struct race_side *side)
{
	return side->access == ACCESS_NONE || (side->access & ACCESS_WRITE);
}

const char *race_kind(const struct race *race)
{
	if (!side_writes(&race->sides[0]))
		return "read-write";
	return side_writes(&race->sides[1]) ? "write-write" : "write-read";
}

bool race_counts(const struct race *race, bool ignore_unlikely)
{
	return race->verdict != VERDICT_SYNC && !race->suppressed.rule &&
	       (race->verdict != VERDICT_UNLIKELY || !ignore_unlikely);
}

bool race_is_actionable(const struct race *race, bool ignore_unlikely)
{
	return race_counts(race, ignore_unlikely) &&
	       race->status != STATUS_KNOWN;
}
