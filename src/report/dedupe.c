/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * One record per distinct race; see dedupe.h. A search along the list is
 * enough: repeats are told by address before they come here, and there are
 * seldom more than some hundred races.
 */
#include "report/dedupe.h"

#include <string.h>

#include "base/error.h"
#include "report/doubt.h"
#include "report/idioms.h"
#include "report/race.h"

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

/*
 * Synchronization and a race are never twins, even where they have the same
 * names: a race must not vanish behind the atomic access beside it. Nor behind
 * a suppressed one: a rule for one element says nothing of the others.
 */
static bool are_twins(const struct race *a, const struct race *b)
{
	return (strcmp(a->fingerprint, b->fingerprint) == 0 ||
		are_same_code(a, b)) &&
	       (a->verdict == VERDICT_SYNC) == (b->verdict == VERDICT_SYNC) &&
	       !a->suppressed.rule == !b->suppressed.rule;
}

static struct race *find_twin(const struct dedupe *dedupe,
			      const struct race *race)
{
	for (size_t i = 0; i < dedupe->races.count; i++) {
		struct race *kept = *(struct race **)vec_at(&dedupe->races, i);

		if (are_twins(kept, race))
			return kept;
	}
	return NULL;
}

struct error *dedupe_add(struct dedupe *dedupe, struct race *race,
			 struct race **ret, bool *ret_new)
{
	struct race *twin = find_twin(dedupe, race);

	if (twin) {
		bool counted;

		race_join_idioms(twin, race);
		race_join_doubts(twin, race);
		counted = race_see_again(twin, race);
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
	*ret_new = !twin;
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
