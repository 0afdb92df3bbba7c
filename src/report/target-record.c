/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The target record; see target-record.h.
 */
#include "report/target-record.h"

#include <inttypes.h>
#include <string.h>

#include "base/strbuf.h"
#include "base/utf8.h"
#include "report/field.h"
#include "report/members.h"
#include "report/text.h"

static const char *const result_words[TARGET_RESULTS] = {
	[TARGET_PENDING] = "pending", [TARGET_PROVOKED] = "provoked",
	[TARGET_ORDERED] = "ordered", [TARGET_UNREACHED] = "unreached",
	[TARGET_TIMEOUT] = "timeout", [TARGET_UNCHANGED] = "unchanged",
};

#define AT(member) FIELD_AT(struct hunt_partner, member)

static const struct field partner_field_list[] = {
	{ "place", FIELD_OBJECT, .flags = FIELD_NEEDED, AT(place),
	  .of = &hunt_place_fields },
	{ "thread_path", FIELD_TEXT, AT(thread_path) },
	{ "size", FIELD_COUNT, AT(size) },
	{ "writes", FIELD_BOOL, AT(writes) },
	{ "atomic", FIELD_BOOL, AT(atomic) },
	{ "syscall", FIELD_BOOL, AT(syscall) },
	{ "string_function", FIELD_TEXT, AT(string_function) },
	{ "function", FIELD_TEXT, AT(function) },
	{ "distance_us", FIELD_US, AT(distance_ns) },
};

static const struct fields partner_fields = {
	FIELDS(struct hunt_partner, partner_field_list),
};

#undef AT
#define AT(member) FIELD_AT(struct hunt_side, member)

static bool has_recording(const void *record)
{
	const struct hunt_side *side = record;

	return side->recorded.address != 0;
}

static bool knows_locks(const void *record)
{
	return !((const struct hunt_side *)record)->locks_unknown;
}

static const struct field side_field_list[] = {
	{ "program", FIELD_TEXT, AT(program) },
	{ "thread_path", FIELD_TEXT, AT(thread_path) },
	{ "place", FIELD_OBJECT, .flags = FIELD_NEEDED, AT(place),
	  .of = &hunt_place_fields },
	{ "stack", FIELD_LIST, FIELD_VEC(struct hunt_side, stack),
	  .of = &hunt_place_fields },
	{ "ordinal", FIELD_COUNT, .flags = FIELD_NEEDED, AT(ordinal) },
	{ "size", FIELD_COUNT, .flags = FIELD_NEEDED, AT(size) },
	{ "writes", FIELD_BOOL, .flags = FIELD_NEEDED, AT(writes) },
	{ "atomic", FIELD_BOOL, AT(atomic) },
	{ "string_function", FIELD_TEXT, AT(string_function) },
	{ "locked", FIELD_BOOL, AT(locked), .known = knows_locks },
	{ NULL, FIELD_BOOL, AT(locks_unknown) },
	{ "partners", FIELD_LIST, FIELD_VEC(struct hunt_side, partners),
	  .of = &partner_fields },
	{ "hold_us", FIELD_US, AT(hold_ns) },
	{ "rank", FIELD_REAL, AT(rank) },
	{ "variable", FIELD_TEXT, AT(variable) },
	{ "function", FIELD_TEXT, AT(function) },
	{ "code_hash", FIELD_DIGITS, .flags = FIELD_NULL, AT(code_hash) },
	{ "recorded", FIELD_OBJECT, AT(recorded), .of = &recorded_fields,
	  .known = has_recording },
	{ "hand_overs", FIELD_LIST, FIELD_VEC(struct hunt_side, hand_overs),
	  .of = &hunt_hand_over_fields },
	{ "ordered_pair", FIELD_LIST, FIELD_VEC(struct hunt_side, ordered_pair),
	  .of = &recorded_access_fields },
};

static void fill_side(struct members *in, const json_t *object, void *record)
{
	struct hunt_side *side = record;

	(void)in;
	side->locks_unknown = object && !members_has(object, "locked");
}

static const struct fields side_fields = {
	FIELDS(struct hunt_side, side_field_list),
	.fill = fill_side,
};

#undef AT
#define AT(member) FIELD_AT(struct target_record, member)

static bool is_over(const void *record)
{
	return ((const struct target_record *)record)->time != 0;
}

static bool has_race_id(const void *record)
{
	return ((const struct target_record *)record)->race_id != 0;
}

static const struct field target_field_list[] = {
	{ "schema", FIELD_VERSION, .merge = FIELD_APART },
	{ "id", FIELD_COUNT, .flags = FIELD_NEEDED, AT(side.id) },
	{ "fingerprint", FIELD_DIGITS, .flags = FIELD_NULL,
	  AT(side.fingerprint) },
	{ "side", FIELD_OBJECT, .flags = FIELD_NEEDED, AT(side),
	  .of = &side_fields },
	{ "time", FIELD_TIME, AT(time), .known = is_over },
	{ "outcome", FIELD_WORD, .flags = FIELD_NEEDED, AT(outcome.result),
	  FIELD_WORDS(result_words) },
	{ "runs", FIELD_COUNT, AT(outcome.runs) },
	{ "reached", FIELD_COUNT, AT(outcome.reached) },
	{ "held_us", FIELD_US, AT(outcome.hold_ns) },
	{ "ordered_by", FIELD_TEXT, AT(outcome.ordered_by) },
	{ "race", FIELD_DIGITS, .flags = FIELD_NULL, AT(outcome.race) },
	{ "race_id", FIELD_COUNT, .merge = FIELD_APART, AT(race_id),
	  .known = has_race_id },
};

const struct fields target_fields = {
	.type = "target",
	FIELDS(struct target_record, target_field_list),
};

#undef AT
#define AT(member) FIELD_AT(struct target_outcome, member)

/* What an outcome owns, for its end. */
static const struct field outcome_field_list[] = {
	{ "ordered_by", FIELD_TEXT, AT(ordered_by) },
};

static const struct fields outcome_fields = {
	FIELDS(struct target_outcome, outcome_field_list),
};

void target_record_init(struct target_record *record)
{
	fields_init(&target_fields, record);
}

void target_record_deinit(struct target_record *record)
{
	fields_deinit(&target_fields, record);
}

void hunt_side_init(struct hunt_side *side)
{
	fields_init(&side_fields, side);
}

void hunt_side_deinit(struct hunt_side *side)
{
	fields_deinit(&side_fields, side);
}

void hunt_partner_init(struct hunt_partner *partner)
{
	fields_init(&partner_fields, partner);
}

void target_outcome_deinit(struct target_outcome *outcome)
{
	fields_deinit(&outcome_fields, outcome);
}

const char *target_result_name(unsigned int result)
{
	return result < TARGET_RESULTS ? result_words[result] : "unknown";
}

bool target_result_parse(const char *name, unsigned int *ret)
{
	for (unsigned int i = 0; i < TARGET_RESULTS; i++) {
		if (strcmp(result_words[i], name) == 0) {
			*ret = i;
			return true;
		}
	}
	return false;
}

/* "thread 0.1 WRITES 8 bytes" */
static void say_access(struct strbuf *line, const char *thread_path,
		       bool writes, uint32_t size)
{
	if (thread_path) {
		strbuf_add(line, "thread ");
		utf8_add_visible(line, thread_path);
	} else {
		strbuf_add(line, "any thread");
	}
	strbuf_addf(line, " %s ", writes ? "WRITES" : "READS");
	text_add_plural(line, size, "byte");
}

/* " at cache+0x1179 (shard_add)" */
static void say_place(struct strbuf *line, const struct hunt_place *place,
		      const char *function)
{
	strbuf_add(line, " at ");
	text_add_offset(line, place->module, place->offset);
	text_add_bracketed(line, function);
}

void target_say_partner(struct strbuf *line, const struct hunt_partner *partner)
{
	say_access(line, partner->thread_path, partner->writes, partner->size);
	if (partner->syscall)
		strbuf_add(line, " in a system call");
	say_place(line, &partner->place, partner->function);
}

void target_say_side(struct strbuf *line, const struct hunt_side *side)
{
	say_access(line, side->thread_path, side->writes, side->size);
	if (side->variable) {
		strbuf_add(line, ", ");
		utf8_add_visible(line, side->variable);
		strbuf_add(line, ",");
	}
	say_place(line, &side->place, side->function);
	strbuf_add(line, ", execution ");
	text_add_count(line, side->ordinal + 1);
}

static void say_tries(struct strbuf *line, const struct target_record *record)
{
	const struct target_outcome *outcome = &record->outcome;

	switch (outcome->result) {
	case TARGET_ORDERED:
		if (outcome->ordered_by) {
			strbuf_add(line, " by ");
			utf8_add_visible(line, outcome->ordered_by);
		}
		break;
	case TARGET_UNREACHED:
		strbuf_add(line, ": ");
		text_add_count(line, outcome->reached);
		strbuf_add(line, " of ");
		text_add_plural(line, record->side.ordinal + 1, "execution");
		if (outcome->reached > record->side.ordinal)
			strbuf_add(line, ", but only while no thread could be "
					 "held there,");
		break;
	case TARGET_TIMEOUT:
		strbuf_add(line, ": held ");
		text_add_time(line, outcome->hold_ns);
		break;
	case TARGET_PROVOKED:
		if (outcome->race[0])
			strbuf_addf(line, ": race %s", outcome->race);
		break;
	default:
		break;
	}
}

void target_say_outcome(struct strbuf *line, const struct target_record *record)
{
	strbuf_add(line, target_result_name(record->outcome.result));
	say_tries(line, record);
	if (record->outcome.runs > 0) {
		strbuf_add(line, " in ");
		text_add_plural(line, record->outcome.runs, "run");
	}
}
