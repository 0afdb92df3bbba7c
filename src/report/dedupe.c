/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * One record per distinct race; see dedupe.h. A search along the list is
 * enough: repeats are told by address before they come here, and there are
 * seldom more than some hundred races.
 */
#include "report/dedupe.h"

#include <string.h>

#include "base/error.h"
#include "report/code-patterns.h"
#include "report/doubt.h"
#include "report/race.h"
#include "report/related.h"

void dedupe_init(struct dedupe *dedupe)
{
	*dedupe = (struct dedupe){ .races = VEC_INIT(struct race *) };
}

void dedupe_deinit(struct dedupe *dedupe)
{
	for (size_t i = 0; i < dedupe->races.count; i++)
		race_free(*(struct race **)vec_at(&dedupe->races, i));
	vec_deinit(&dedupe->races);
}

/*
 * The same two instructions, on memory that in one of the cases could not be
 * named: the process had ended before its pointers were followed, or one
 * thread's registers no longer told.
 */
static bool are_same_code(const struct race *a, const struct race *b)
{
	return strcmp(a->fingerprint_code, b->fingerprint_code) == 0 &&
	       (!a->variable.name || !b->variable.name) &&
	       a->variable.region != REGION_GLOBAL &&
	       b->variable.region != REGION_GLOBAL;
}

/* One side of a race, seen without the other one. */
static bool is_glimpse_of(const struct race *glimpse, const struct race *race)
{
	return race_is_one_sided(glimpse) && !race_is_one_sided(race) &&
	       related_by_variable(glimpse, race) &&
	       (race_same_code(glimpse, 0, race, 0) ||
		race_same_code(glimpse, 0, race, 1));
}

/*
 * Synchronization and a race are never twins, even where they have the same
 * names: a race must not vanish behind the atomic access beside it. Nor behind
 * a suppressed one: a rule for one element says nothing of the others. A hunt
 * tells races of one name apart by what its recording knows of each target.
 */
static bool may_be_twins(const struct race *a, const struct race *b)
{
	return a->target == b->target &&
	       (a->verdict == VERDICT_SYNC) == (b->verdict == VERDICT_SYNC) &&
	       !a->suppressed.rule == !b->suppressed.rule;
}

static bool are_twins(const struct race *a, const struct race *b)
{
	return may_be_twins(a, b) &&
	       (strcmp(a->fingerprint, b->fingerprint) == 0 ||
		are_same_code(a, b));
}

static bool show_one(const struct race *a, const struct race *b)
{
	return may_be_twins(a, b) &&
	       (is_glimpse_of(a, b) || is_glimpse_of(b, a));
}

static struct race *find(const struct dedupe *dedupe, const struct race *race,
			 bool (*fits)(const struct race *a,
				      const struct race *b))
{
	for (size_t i = 0; i < dedupe->races.count; i++) {
		struct race *kept = *(struct race **)vec_at(&dedupe->races, i);

		if (fits(kept, race))
			return kept;
	}
	return NULL;
}

static struct race *find_twin(const struct dedupe *dedupe,
			      const struct race *race)
{
	struct race *twin = find(dedupe, race, are_twins);

	return twin ? twin : find(dedupe, race, show_one);
}

/*
 * The glimpse becomes the race, and that what the glimpse was: who refers to
 * it by its place has the whole race. The verdict is the race's: the same as if
 * the two had come the other way round.
 */
static bool complete(struct race *glimpse, struct race *race)
{
	const struct race old = *glimpse;
	bool counted = true;
	struct vec values;

	*glimpse = *race;
	*race = old;
	glimpse->id = old.id;
	glimpse->time = old.time;
	glimpse->count = 1 + old.count;
	if (!race_replay_combine(&glimpse->replay, &race->replay))
		return false;
	if (old.size != glimpse->size)
		return true;
	/* what the glimpse saw came first */
	values = glimpse->values;
	glimpse->values = race->values;
	race->values = values;
	for (size_t i = 0; i < sizeof(old.changed); i++)
		glimpse->changed[i] |= old.changed[i];
	for (size_t i = 0; i < values.count; i++) {
		const struct race_values *pair = vec_at(&values, i);

		counted = race_add_values(glimpse, pair->before, pair->after,
					  pair->count) &&
			  counted;
	}
	return counted;
}

/* Another sighting of the twin, which had both sides or is as good. */
static bool see_again(struct race *twin, struct race *race)
{
	/* a glimpse knows nothing of what the other side does */
	if (race_is_one_sided(twin) == race_is_one_sided(race)) {
		race_join_patterns(twin, race);
		race_join_doubts(twin, race);
	}
	return race_see_again(twin, race);
}

struct error *dedupe_add(struct dedupe *dedupe, struct race *race,
			 struct race **ret, enum dedupe_found *ret_found)
{
	struct race *twin = find_twin(dedupe, race);

	*ret_found = DEDUPE_NEW;
	if (twin) {
		bool counted;

		*ret_found = race_is_one_sided(twin) && !race_is_one_sided(race)
				     ? DEDUPE_COMPLETED
				     : DEDUPE_AGAIN;
		counted = *ret_found == DEDUPE_COMPLETED
				  ? complete(twin, race)
				  : see_again(twin, race);
		race_free(race);
		if (!counted)
			return error_nomem;
	} else if (!vec_push(&dedupe->races, &race)) {
		race_free(race);
		return error_nomem;
	} else {
		race->id = 0;
		race->count = 1;
	}
	*ret = twin ? twin : race;
	return NULL;
}

void dedupe_number(struct dedupe *dedupe, struct race *race)
{
	if (race->id == 0)
		race->id = ++dedupe->numbered;
}

void dedupe_number_all(struct dedupe *dedupe)
{
	for (size_t i = 0; i < dedupe->races.count; i++)
		dedupe_number(dedupe,
			      *(struct race **)vec_at(&dedupe->races, i));
}
