/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What came of candidates; see triage.h. */
#include "hunt/triage.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/same-text.h"
#include "base/vec.h"
#include "foreign/valgrind.h"
#include "hunt/candidates.h"
#include "hunt/claim.h"
#include "report/candidate-record.h"
#include "report/field.h"
#include "report/race.h"
#include "report/target-record.h"

/* Of a candidate's targets. */
struct tried {
	bool any, pending, all_ordered;
	const char *ordered_by; /* of the first that knows */
};

static struct error *set_text(char **to, const char *text)
{
	free(*to);
	*to = text ? strdup(text) : NULL;
	return text && !*to ? error_nomem : NULL;
}

static bool has_side(const struct candidate *candidate, const char *fingerprint)
{
	for (size_t i = 0; i < candidate->sides.count; i++) {
		const struct candidate_side *side =
			vec_at(&candidate->sides, i);

		if (strcmp(side->fingerprint, fingerprint) == 0)
			return true;
	}
	return false;
}

/* Was the race met at one of the candidate's own sides? */
static bool met_at_side(const struct candidate *candidate,
			const struct vec *targets, const struct race *race)
{
	for (size_t i = 0; i < targets->count; i++) {
		const struct target_record *target = vec_at(targets, i);

		/* the outcome has one race, and there may have been others */
		if ((race->target == target->side.id ||
		     (target->outcome.result == TARGET_PROVOKED &&
		      strcmp(target->outcome.race, race->fingerprint) == 0)) &&
		    has_side(candidate, target->side.fingerprint))
			return true;
	}
	return false;
}

/*
 * What was called at a line, or a whole function, may access much: does the report
 * have the address of other bytes of the program's variables?
 */
static bool is_elsewhere(const struct candidate *candidate,
			 const struct race *race)
{
	uint64_t offset = valgrind_offset(candidate->race->address);

	return (candidate->fits[0] != CLAIM_BY_LINE ||
		candidate->fits[1] != CLAIM_BY_LINE) &&
	       offset > 0 && race->variable.region == REGION_GLOBAL &&
	       race->variable.module_offset > 0 &&
	       race->variable.module_offset != offset;
}

/* Is it the executable of a process that has sides of the candidate? */
static bool is_program(const struct candidate *candidate,
		       const struct vec *targets, const char *module)
{
	for (size_t i = 0; i < targets->count; i++) {
		const struct hunt_side *side =
			&((struct target_record *)vec_at(targets, i))->side;

		if (side->program && same_text(side->program, module) &&
		    has_side(candidate, side->fingerprint))
			return true;
	}
	return false;
}

/* Is it of the very bytes, of the program's variables, that the report names? */
static bool is_of_bytes(const struct candidate *candidate,
			const struct vec *targets, const struct race *race)
{
	uint64_t offset = valgrind_offset(candidate->race->address);

	return offset > 0 && race->variable.region == REGION_GLOBAL &&
	       race->variable.module_offset == offset &&
	       is_program(candidate, targets, race->variable.module);
}

static bool is_race(const struct candidate *candidate,
		    const struct vec *targets, const struct race *race)
{
	bool by_bytes = candidate->fits[0] == CLAIM_BY_BYTES ||
			candidate->fits[1] == CLAIM_BY_BYTES;

	if (by_bytes && !is_of_bytes(candidate, targets, race))
		return false;
	if (is_elsewhere(candidate, race))
		return false;
	return claim_is_race(candidate->race, candidate->fits, race) ||
	       (claim_is_on_lines(candidate->race, candidate->fits, race) &&
		met_at_side(candidate, targets, race));
}

/* The race that the candidate is; one that harms is preferred. NULL: none was met. */
static const struct race *find_race(const struct candidate *candidate,
				    const struct vec *targets,
				    const struct vec *races)
{
	const struct race *found = NULL;

	for (size_t i = 0; i < races->count; i++) {
		const struct race *race =
			*(const struct race *const *)vec_at(races, i);

		if (is_race(candidate, targets, race) &&
		    (!found || race->verdict < found->verdict))
			found = race;
	}
	return found;
}

static bool add_target(struct candidate_record *record, uint64_t id)
{
	uint32_t *targets = reallocarray(
		record->targets, record->target_count + 1, sizeof(*targets));

	if (!targets)
		return false;
	record->targets = targets;
	targets[record->target_count++] = (uint32_t)id;
	return true;
}

static struct error *add_tries(const struct candidate *candidate,
			       const struct vec *targets,
			       struct candidate_record *record,
			       struct tried *tried)
{
	tried->all_ordered = true;
	for (size_t i = 0; i < targets->count; i++) {
		const struct target_record *target = vec_at(targets, i);
		unsigned int result = target->outcome.result;

		if (!has_side(candidate, target->side.fingerprint))
			continue;
		if (!add_target(record, target->side.id))
			return error_nomem;
		record->tries += target->outcome.runs;
		tried->any = true;
		tried->pending |= result == TARGET_PENDING ||
				  result == TARGET_UNCHANGED;
		tried->all_ordered &= result == TARGET_ORDERED;
		if (!tried->ordered_by)
			tried->ordered_by = target->outcome.ordered_by;
	}
	/* such as those beyond --sides */
	tried->pending |= candidate->left_out ||
			  record->target_count < candidate->sides.count;
	return NULL;
}

/* Else the pairs that are ordered may be others than the reported one. */
static bool names_both(const struct race *race)
{
	return claim_has_place(&race->sides[0]) &&
	       claim_has_place(&race->sides[1]);
}

static struct error *decide(const struct candidate *candidate,
			    const struct race *race, const struct tried *tried,
			    struct candidate_record *record)
{
	bool synchronizes = race && race->verdict == VERDICT_SYNC;
	bool known = names_both(candidate->race);

	if (race && !synchronizes) {
		record->result = CANDIDATE_PROVOKED;
		record->race_id = race->id;
		return NULL;
	}
	if (!candidate->found) {
		record->result = CANDIDATE_NOT_FOUND;
		return NULL;
	}
	if (known && candidate->ordered && !tried->pending) {
		record->result = CANDIDATE_ORDERED;
		return set_text(&record->ordered_by,
				"the creation or the end of a thread");
	}
	if (tried->pending || !tried->any) {
		record->result = CANDIDATE_PENDING;
		return NULL;
	}
	record->result = CANDIDATE_NOT_MET;
	if (synchronizes || (known && tried->all_ordered)) {
		record->result = CANDIDATE_ORDERED;
		return set_text(&record->ordered_by,
				synchronizes ? "their own synchronization"
					     : tried->ordered_by);
	}
	return NULL;
}

static struct error *judge(const struct candidate *candidate,
			   const struct vec *targets, const struct vec *races,
			   struct candidate_record *record)
{
	struct tried tried = { .any = false };
	struct error *err;

	candidate_record_init(record);
	record->id = candidate->race->id;
	if (!fields_copy(&race_fields, &record->race, candidate->race))
		return error_nomem;
	err = add_tries(candidate, targets, record, &tried);
	return err ? err
		   : decide(candidate, find_race(candidate, targets, races),
			    &tried, record);
}

struct error *triage(const struct candidates *candidates,
		     const struct vec *targets, const struct vec *races,
		     struct vec *records)
{
	struct error *err = NULL;

	for (size_t i = 0; !err && i < candidates->items.count; i++) {
		struct candidate_record *record = vec_append(records);

		err = record ? judge(vec_at(&candidates->items, i), targets,
				     races, record)
			     : error_nomem;
	}
	return err;
}
