/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The candidate record; see candidate-record.h. */
#include "report/candidate-record.h"

#include <inttypes.h>

#include "base/strbuf.h"
#include "base/utf8.h"
#include "report/field.h"
#include "report/phrase.h"
#include "report/text.h"

static const char *const result_words[CANDIDATE_RESULTS] = {
	[CANDIDATE_PROVOKED] = "provoked", [CANDIDATE_ORDERED] = "ordered",
	[CANDIDATE_NOT_MET] = "not-met",   [CANDIDATE_NOT_FOUND] = "not-found",
	[CANDIDATE_PENDING] = "pending",
};

static const char *const spoken[CANDIDATE_RESULTS] = {
	[CANDIDATE_PROVOKED] = "provoked",
	[CANDIDATE_ORDERED] = "ordered",
	[CANDIDATE_NOT_MET] = "not met",
	[CANDIDATE_NOT_FOUND] = "not found in the recording",
	[CANDIDATE_PENDING] = "not tried to the end",
};

static bool has_race_id(const void *record)
{
	return ((const struct candidate_record *)record)->race_id != 0;
}

#define AT(member) FIELD_AT(struct candidate_record, member)

static const struct field candidate_field_list[] = {
	{ "schema", FIELD_VERSION, .merge = FIELD_APART },
	{ "id", FIELD_COUNT, .flags = FIELD_NEEDED, AT(id) },
	{ "outcome", FIELD_WORD, .flags = FIELD_NEEDED, AT(result),
	  FIELD_WORDS(result_words), .absent = CANDIDATE_PENDING },
	{ "tries", FIELD_COUNT, AT(tries) },
	{ "ordered_by", FIELD_TEXT, AT(ordered_by) },
	{ "race_id", FIELD_COUNT, .merge = FIELD_APART, AT(race_id),
	  .known = has_race_id },
	{ "targets", FIELD_NUMBERS,
	  FIELD_COUNTED(struct candidate_record, targets, target_count) },
	{ "reported", FIELD_OBJECT, .flags = FIELD_NEEDED, AT(race),
	  .of = &race_fields },
};

const struct fields candidate_fields = {
	.type = "candidate",
	FIELDS(struct candidate_record, candidate_field_list),
};

void candidate_record_init(struct candidate_record *record)
{
	fields_init(&candidate_fields, record);
}

void candidate_record_deinit(struct candidate_record *record)
{
	fields_deinit(&candidate_fields, record);
}

const char *candidate_result_words(unsigned int result)
{
	return result < CANDIDATE_RESULTS ? spoken[result] : "unknown";
}

static void say_outcome(struct strbuf *line,
			const struct candidate_record *record)
{
	strbuf_add(line, candidate_result_words(record->result));
	if (record->result == CANDIDATE_PROVOKED && record->race_id)
		strbuf_addf(line, ": race #%" PRIu64, record->race_id);
	if (record->result == CANDIDATE_ORDERED && record->ordered_by) {
		strbuf_add(line, " by ");
		utf8_add_visible(line, record->ordered_by);
	}
	if (record->tries == 0 && record->result == CANDIDATE_ORDERED)
		strbuf_add(line, ", not tried");
	if (record->tries == 0 || record->result == CANDIDATE_NOT_FOUND)
		return;
	strbuf_add(line, ", in ");
	text_add_count(line, record->tries);
	strbuf_add(line, record->tries == 1 ? " try" : " tries");
}

void candidate_say(struct strbuf *line, const struct candidate_record *record)
{
	const struct race *race = &record->race;

	phrase_add_accesses(line, race);
	strbuf_add(line, ", ");
	phrase_add_variable(line, race);
	strbuf_add(line, ": ");
	phrase_add_innermost(line, &race->sides[0]);
	strbuf_add(line, " against ");
	phrase_add_innermost(line, &race->sides[1]);
	strbuf_add(line, ": ");
	say_outcome(line, record);
}

void candidate_say_counts(struct strbuf *line,
			  const uint64_t counts[CANDIDATE_RESULTS])
{
	const char *before = ": ";
	uint64_t sum = 0;

	for (unsigned int i = 0; i < CANDIDATE_RESULTS; i++)
		sum += counts[i];
	text_add_plural(line, sum, "candidate");
	for (unsigned int i = 0; i < CANDIDATE_RESULTS; i++) {
		if (counts[i] == 0)
			continue;
		strbuf_add(line, before);
		text_add_count(line, counts[i]);
		strbuf_addf(line, " %s", spoken[i]);
		before = ", ";
	}
}
