/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What came of candidates; see triage.h. */
#include "hunt/triage.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/same-text.h"
#include "base/vec.h"
#include "conflict/symbolize.h"
#include "hunt/candidates.h"
#include "hunt/claim.h"
#include "hunt/ordered.h"
#include "hunt/reported.h"
#include "report/candidate-record.h"
#include "report/field.h"
#include "report/race.h"
#include "report/target-record.h"

/* All that what came of a candidate is told by. */
struct judging {
	const struct vec *targets, *races;
	struct symbolizer *symbolizer;
};

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

/* The executable of a process that has sides of the candidate, from *i on; NULL: none. */
static const char *next_program(const struct candidate *candidate,
				const struct vec *targets, size_t *i)
{
	while (*i < targets->count) {
		const struct hunt_side *side =
			&((struct target_record *)vec_at(targets, (*i)++))
				 ->side;

		if (side->program && has_side(candidate, side->fingerprint))
			return side->program;
	}
	return NULL;
}

static bool is_program(const struct candidate *candidate,
		       const struct vec *targets, const char *module)
{
	const char *program;
	size_t i = 0;

	while ((program = next_program(candidate, targets, &i)) != NULL) {
		if (same_text(program, module))
			return true;
	}
	return false;
}

/* Does the report name bytes of the program, and are the race's a library's? */
static bool is_of_library(const struct candidate *candidate,
			  const struct vec *targets, const struct race *race)
{
	const struct race_variable *variable = &race->variable;
	size_t i = 0;

	return reported_offset(candidate->race) > 0 &&
	       variable->region == REGION_GLOBAL && variable->module &&
	       next_program(candidate, targets, &i) &&
	       !is_program(candidate, targets, variable->module);
}

/*
 * A line may access much, and a whole function more: does the report have another one
 * of the program's variables?
 */
static struct error *is_elsewhere(const struct judging *judging,
				  const struct candidate *candidate,
				  const struct race *race, bool *ret)
{
	bool by_line = candidate->fits[0] == CLAIM_BY_LINE &&
		       candidate->fits[1] == CLAIM_BY_LINE;

	*ret = is_of_library(candidate, judging->targets, race);
	if (*ret)
		return NULL;
	return reported_elsewhere(judging->symbolizer, candidate->race, race,
				  by_line, ret);
}

/* Is it of the very bytes, of the program's variables, that the report names? */
static bool is_of_bytes(const struct candidate *candidate,
			const struct vec *targets, const struct race *race)
{
	uint64_t offset = reported_offset(candidate->race);

	return offset > 0 && race->variable.region == REGION_GLOBAL &&
	       race->variable.module_offset == offset &&
	       is_program(candidate, targets, race->variable.module);
}

static bool is_claimed(const struct judging *judging,
		       const struct candidate *candidate,
		       const struct race *race)
{
	return claim_is_race(candidate->race, candidate->fits, race) ||
	       (claim_is_on_lines(candidate->race, candidate->fits, race) &&
		met_at_side(candidate, judging->targets, race));
}

static struct error *is_race(const struct judging *judging,
			     const struct candidate *candidate,
			     const struct race *race, bool *ret)
{
	bool by_bytes = candidate->fits[0] == CLAIM_BY_BYTES ||
			candidate->fits[1] == CLAIM_BY_BYTES;
	bool elsewhere = false;
	struct error *err = NULL;

	*ret = false;
	if ((by_bytes && !is_of_bytes(candidate, judging->targets, race)) ||
	    !is_claimed(judging, candidate, race))
		return NULL;
	err = is_elsewhere(judging, candidate, race, &elsewhere);
	*ret = !err && !elsewhere;
	return err;
}

/*
 * The race that the candidate is; one that harms is preferred. *ret is NULL: none was
 * met.
 */
static struct error *find_race(const struct judging *judging,
			       const struct candidate *candidate,
			       const struct race **ret)
{
	const struct vec *races = judging->races;
	struct error *err = NULL;

	*ret = NULL;
	for (size_t i = 0; !err && i < races->count; i++) {
		const struct race *race =
			*(const struct race *const *)vec_at(races, i);
		bool is = false;

		if (*ret && race->verdict >= (*ret)->verdict)
			continue;
		err = is_race(judging, candidate, race, &is);
		if (is)
			*ret = race;
	}
	return err;
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

/*
 * Could no other thread come, not by chance? A hold proves it for recorded accesses
 * only: where some had no room, the reported one may be among these. A hand-over,
 * which needs no run, is known of complete recordings only.
 */
static bool is_ordered(const struct candidate *candidate,
		       const struct target_outcome *outcome)
{
	return outcome->result == TARGET_ORDERED &&
	       ordered_is_proved(outcome->ordered_by) &&
	       (outcome->runs == 0 || !candidate->incomplete);
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
		tried->all_ordered &= is_ordered(candidate, &target->outcome);
		if (!tried->ordered_by)
			tried->ordered_by = target->outcome.ordered_by;
	}
	/* such as those beyond --sides */
	tried->pending |= candidate->left_out ||
			  record->target_count < candidate->sides.count;
	return NULL;
}

/* Else what is ordered may be another access. */
static bool is_in_recording(const struct candidate *candidate)
{
	return !claim_is_unsure(candidate->fits[0]) &&
	       !claim_is_unsure(candidate->fits[1]);
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
	bool known = is_in_recording(candidate) && names_both(candidate->race);
	bool synchronizes = known && race && race->verdict == VERDICT_SYNC;

	if (race && race->verdict != VERDICT_SYNC) {
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

static struct error *judge(const struct judging *judging,
			   const struct candidate *candidate,
			   struct candidate_record *record)
{
	struct tried tried = { .any = false };
	const struct race *race = NULL;
	struct error *err;

	candidate_record_init(record);
	record->id = candidate->race->id;
	if (!fields_copy(&race_fields, &record->race, candidate->race))
		return error_nomem;
	err = add_tries(candidate, judging->targets, record, &tried);
	if (!err)
		err = find_race(judging, candidate, &race);
	return err ? err : decide(candidate, race, &tried, record);
}

struct error *triage(const struct candidates *candidates,
		     const struct vec *targets, const struct vec *races,
		     struct vec *records)
{
	struct judging judging = { .targets = targets, .races = races };
	struct error *err = symbolizer_create(NULL, &judging.symbolizer);

	if (err)
		return err;
	for (size_t i = 0; !err && i < candidates->items.count; i++) {
		struct candidate_record *record = vec_append(records);

		err = record ? judge(&judging, vec_at(&candidates->items, i),
				     record)
			     : error_nomem;
	}
	symbolizer_destroy(judging.symbolizer);
	return err;
}
