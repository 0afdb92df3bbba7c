/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The fields of the race record and its parts: racewatch-json(5) says what they
 * mean, field.h what is said of them here.
 */
#include <stdlib.h>

#include "base/error.h"
#include "report/code-patterns.h"
#include "report/doubt.h"
#include "report/field.h"
#include "report/members.h"
#include "report/race.h"

#define AT(member) FIELD_AT(struct race_block, member)

static const char *const state_words[] = {
	[BLOCK_UNKNOWN] = NULL,
	[BLOCK_IN_USE] = "in-use",
	[BLOCK_FREE] = "free",
};

static const struct field block_fields[] = {
	{ "address", FIELD_ADDRESS, AT(address) },
	{ "offset", FIELD_COUNT, AT(offset) },
	{ "size", FIELD_COUNT, AT(size) },
	{ "state", FIELD_WORD, AT(state), FIELD_WORDS(state_words) },
};

static const struct fields race_block_fields = {
	FIELDS(struct race_block, block_fields),
};

#undef AT
#define AT(member) FIELD_AT(struct race_variable, member)

static const char *const region_words[] = {
	[REGION_UNKNOWN] = "unknown", [REGION_GLOBAL] = "global",
	[REGION_HEAP] = "heap",	      [REGION_STACK] = "stack",
	[REGION_TLS] = "tls",	      [REGION_MAPPING] = "mapping",
};

static bool has_symbol(const void *record)
{
	const struct race_variable *variable = record;

	return variable->symbol != NULL;
}

static bool has_module(const void *record)
{
	const struct race_variable *variable = record;

	return variable->module != NULL;
}

static bool has_block(const void *record)
{
	return ((const struct race_variable *)record)->block.address != 0;
}

static const struct field variable_fields[] = {
	{ "name", FIELD_TEXT, AT(name) },
	{ "symbol", FIELD_TEXT, AT(symbol) },
	{ "offset", FIELD_COUNT, AT(offset), .known = has_symbol },
	{ "type", FIELD_TEXT, AT(type) },
	{ "container", FIELD_TEXT, AT(container) },
	{ "file", FIELD_TEXT, AT(file) },
	{ "line", FIELD_ID, .flags = FIELD_NULL, AT(line) },
	{ "region", FIELD_WORD, .flags = FIELD_NULL, AT(region),
	  FIELD_WORDS(region_words) },
	{ "module", FIELD_TEXT, AT(module) },
	{ "module_offset", FIELD_ADDRESS, AT(module_offset),
	  .known = has_module },
	{ "owner", FIELD_ID, .flags = FIELD_NULL, AT(owner) },
	{ "owner_thread", FIELD_TEXT, AT(owner_thread) },
	{ "block", FIELD_OBJECT, AT(block), .of = &race_block_fields,
	  .known = has_block },
};

static const struct fields race_variable_fields = {
	FIELDS(struct race_variable, variable_fields),
};

#undef AT
#define AT(member) FIELD_AT(struct code_pattern, member)

static const char *const change_words[] = {
	[PATTERN_UNKNOWN] = NULL,      [PATTERN_CONSTANT] = "constant",
	[PATTERN_ADD] = "add",	       [PATTERN_BITS] = "bits",
	[PATTERN_DERIVED] = "derived",
};

static const char *const pair_words[] = {
	[PATTERN_PAIR_BELOW] = "below",
	[PATTERN_PAIR_ABOVE] = "above",
	[PATTERN_PAIR_BELOW | PATTERN_PAIR_ABOVE] = "both",
};

static const char *const double_check_words[] = {
	[PATTERN_UNCHECKED] = NULL,
	[PATTERN_REREAD] = "reread",
	[PATTERN_REREAD_ONLY] = "reread-only",
	[PATTERN_LAST] = "last",
	[PATTERN_EARLY] = "early",
};

static const struct field code_pattern_fields[] = {
	{ "change", FIELD_WORD, AT(change), FIELD_WORDS(change_words) },
	{ "delta", FIELD_SIGNED, AT(delta) },
	{ "changed", FIELD_ADDRESS, AT(changed) },
	{ "used", FIELD_ADDRESS, .flags = FIELD_NULL, AT(used),
	  .absent = UINT64_MAX },
	{ "compared", FIELD_BOOL, AT(compared) },
	{ "tests_zero", FIELD_BOOL, AT(tests_zero) },
	{ "dereferenced", FIELD_BOOL, AT(dereferenced) },
	{ "locked_beside", FIELD_BOOL, AT(locked_beside) },
	{ "locked_adds", FIELD_BOOL, AT(locked_adds) },
	{ "stored_plainly", FIELD_BOOL, AT(stored_plainly) },
	{ "retested", FIELD_BOOL, AT(retested) },
	{ "dispatch", FIELD_BOOL, AT(dispatch) },
	{ "pair", FIELD_WORD, AT(pair), FIELD_WORDS(pair_words) },
	{ "guard", FIELD_WORD, AT(double_check),
	  FIELD_WORDS(double_check_words) },
	{ "lock", FIELD_ADDRESS, .flags = FIELD_NULL, AT(lock) },
};

static const struct fields race_pattern_fields = {
	FIELDS(struct code_pattern, code_pattern_fields),
};

#undef AT
#define AT(member) FIELD_AT(struct race_side, member)

static const char *const role_words[] = {
	[RACE_STALLED] = "stalled",
	[RACE_RACING] = "racing",
	[RACE_UNKNOWN] = "unknown",
};

static const char *const access_words[] = {
	[ACCESS_READ] = "read",
	[ACCESS_WRITE] = "write",
	[ACCESS_RMW] = "rmw",
};

static const char *const missing_words[] = {
	[RACE_MISSES_NOTHING] = NULL,
	[RACE_MISSES_MACRO] = "macro",
	[RACE_MISSES_SOURCE] = "source",
	[RACE_MISSES_DEBUG] = "debug-information",
};

static bool has_role(const void *record)
{
	const struct race_side *side = record;

	return side->role != RACE_UNKNOWN;
}

static bool has_pattern(const void *record)
{
	const struct race_side *side = record;

	return race_pattern_is_known(&side->pattern);
}

static bool is_recorded(const void *record)
{
	const struct race_side *side = record;

	return side->recorded.first != 0;
}

static bool knows_locks(const void *record)
{
	return ((const struct race_side *)record)->locks_known;
}

static void fill_side(struct members *in, const json_t *object, void *record)
{
	struct race_side *side = record;

	(void)in;
	side->locks_known = object && members_has(object, "locks");
}

static const struct field side_fields[] = {
	{ "role", FIELD_WORD, .flags = FIELD_NEEDED, AT(role),
	  FIELD_WORDS(role_words), .absent = RACE_UNKNOWN },
	{ "access", FIELD_WORD, AT(access), FIELD_WORDS(access_words) },
	{ "size", FIELD_COUNT, .flags = FIELD_NULL, AT(size) },
	{ "atomic", FIELD_BOOL, AT(atomic), .known = has_role },
	{ "pid", FIELD_ID, .flags = FIELD_NULL, AT(pid) },
	{ "tid", FIELD_ID, .flags = FIELD_NULL, AT(tid) },
	{ "thread", FIELD_TEXT, AT(thread) },
	{ "thread_path", FIELD_NUMBERS, .flags = FIELD_NULL,
	  FIELD_COUNTED(struct race_side, thread_path, thread_path_length) },
	{ "syscall", FIELD_TEXT, AT(syscall) },
	{ "insn", FIELD_TEXT, AT(insn) },
	{ "address", FIELD_ADDRESS, .flags = FIELD_NULL, AT(address) },
	{ "sync", FIELD_TEXT, AT(sync) },
	{ "missing", FIELD_WORD, FIELD_APART, AT(missing),
	  FIELD_WORDS(missing_words) },
	{ "idiom", FIELD_OBJECT, AT(pattern), .of = &race_pattern_fields,
	  .known = has_pattern },
	{ "frames", FIELD_LIST, FIELD_VEC(struct race_side, frames),
	  .of = &race_frame_fields },
	{ "created", FIELD_LIST, .flags = FIELD_NULL,
	  FIELD_VEC(struct race_side, created), .of = &race_frame_fields },
	{ "creator", FIELD_ID, .flags = FIELD_NULL, AT(creator) },
	{ "creator_thread", FIELD_TEXT, AT(creator_thread) },
	{ "locks", FIELD_LIST, FIELD_VEC(struct race_side, locks),
	  .of = &recorded_lock_fields, .known = knows_locks },
	{ NULL, FIELD_BOOL, AT(locks_known) },
	{ "recorded", FIELD_OBJECT, AT(recorded), .of = &recorded_access_fields,
	  .known = is_recorded },
};

static const struct fields race_side_fields = {
	FIELDS(struct race_side, side_fields),
	.fill = fill_side,
};

#undef AT
#define AT(member) FIELD_AT(struct race_values, member)

static const struct field values_fields[] = {
	{ "before", FIELD_BYTES, AT(before) },
	{ "after", FIELD_BYTES, AT(after) },
	{ "count", FIELD_COUNT, AT(count) },
};

static const struct fields race_values_fields = {
	FIELDS(struct race_values, values_fields),
};

#undef AT
#define AT(member) FIELD_AT(struct race_suppression, member)

static const struct field suppression_fields[] = {
	{ "rule", FIELD_TEXT, FIELD_KEY, FIELD_NEEDED, AT(rule) },
	{ "file", FIELD_TEXT, FIELD_KEY, AT(file) },
	{ "line", FIELD_ID, FIELD_KEY, FIELD_NULL, AT(line) },
	{ "reason", FIELD_TEXT, FIELD_KEY, AT(reason) },
	{ "bug", FIELD_TEXT, FIELD_KEY, AT(bug) },
};

const struct fields race_suppression_fields = {
	FIELDS(struct race_suppression, suppression_fields),
};

#undef AT
#define AT(member) FIELD_AT(struct race, member)

static const char *const evidence_words[] = {
	[EVIDENCE_WATCHPOINT] = "watchpoint",
	[EVIDENCE_COLLISION] = "collision",
	[EVIDENCE_VALUE_CHANGE] = "value-change",
	[EVIDENCE_PROVOKED] = "provoked",
	[EVIDENCE_REPORTED] = "reported",
};

static const char *const verdict_words[] = {
	[VERDICT_HARMFUL] = "harmful",
	[VERDICT_SUSPECT] = "suspect",
	[VERDICT_UNLIKELY] = "unlikely",
	[VERDICT_SYNC] = "sync",
};

static const char *const status_words[] = {
	[STATUS_UNSET] = NULL,
	[STATUS_NEW] = "new",
	[STATUS_KNOWN] = "known",
	[STATUS_GONE] = "gone",
};

static const char *kind_of(const void *record)
{
	return race_kind(record);
}

static const char *doubt_of(const void *record)
{
	return race_doubt_text(record);
}

static bool is_suppressed(const void *record)
{
	const struct race *race = record;

	return race->suppressed.rule != NULL;
}

static bool has_replay(const void *record)
{
	const struct race *race = record;

	return race_replay_outcome(&race->replay) != RACE_REPLAY_NONE;
}

static bool has_target(const void *record)
{
	return ((const struct race *)record)->target != 0;
}

static bool has_recording(const void *record)
{
	const struct race *race = record;

	return race->recorded.address != 0;
}

static const struct field race_field_list[] = {
	{ "id", FIELD_COUNT, FIELD_APART, FIELD_NEEDED, AT(id) },
	{ "time", FIELD_TIME, FIELD_LEAST, AT(time) },
	{ "last_time", FIELD_TIME, FIELD_MOST, AT(last_time) },
	{ "fingerprint", FIELD_DIGITS, .flags = FIELD_NEEDED, AT(fingerprint) },
	{ "fingerprint_code", FIELD_DIGITS, AT(fingerprint_code) },
	{ "kind", FIELD_MADE, .made = kind_of },
	/* absent: the weakest, which claims least */
	{ "evidence", FIELD_WORD, .flags = FIELD_NEEDED, AT(evidence),
	  FIELD_WORDS(evidence_words), .absent = EVIDENCE_VALUE_CHANGE },
	{ "backend", FIELD_TEXT, AT(backend) },
	{ "pid", FIELD_ID, .flags = FIELD_NULL, AT(pid) },
	{ "program", FIELD_TEXT, AT(program) },
	{ "address", FIELD_ADDRESS, .flags = FIELD_NEEDED, AT(address) },
	{ "size", FIELD_COUNT, .flags = FIELD_NEEDED | FIELD_MEASURE,
	  AT(size) },
	{ "before", FIELD_BYTES, AT(before) },
	{ "after", FIELD_BYTES, AT(after) },
	{ "values", FIELD_LIST, FIELD_APART, FIELD_VEC(struct race, values),
	  .of = &race_values_fields },
	{ "changed", FIELD_BYTES, FIELD_ANY, AT(changed) },
	{ "variable", FIELD_OBJECT, AT(variable), .of = &race_variable_fields },
	{ "sides", FIELD_ARRAY, .flags = FIELD_NEEDED, AT(sides),
	  .of = &race_side_fields },
	{ "count", FIELD_COUNT, FIELD_SUM, FIELD_NEEDED, AT(count) },
	{ "verdict", FIELD_WORD, FIELD_APART, FIELD_NEEDED, AT(verdict),
	  FIELD_WORDS(verdict_words), .absent = VERDICT_SUSPECT },
	{ "reason", FIELD_TEXT, FIELD_APART, AT(reason) },
	{ "grounds", FIELD_TEXT, FIELD_APART, AT(grounds) },
	{ "doubt", FIELD_MADE, FIELD_APART, .made = doubt_of },
	{ "replay", FIELD_OBJECT, FIELD_APART, AT(replay),
	  .of = &race_replay_fields, .known = has_replay },
	{ "suppressed", FIELD_OBJECT, FIELD_APART, AT(suppressed),
	  .of = &race_suppression_fields, .known = is_suppressed },
	{ "status", FIELD_WORD, FIELD_APART, AT(status),
	  FIELD_WORDS(status_words) },
	{ "runs", FIELD_COUNT, FIELD_SUM, FIELD_ONE, AT(runs) },
	{ "hosts", FIELD_STRINGS, FIELD_APART, FIELD_VEC(struct race, hosts) },
	{ "stall_us", FIELD_US, AT(stall_ns) },
	{ "elapsed_us", FIELD_US, AT(elapsed_ns) },
	{ "target", FIELD_COUNT, AT(target), .known = has_target },
	{ "earlier", FIELD_BOOL, FIELD_BOTH, AT(earlier) },
	{ "recorded", FIELD_OBJECT, AT(recorded), .of = &recorded_fields,
	  .known = has_recording },
	{ NULL, FIELD_TEXT, AT(refuted) },
};

/* There may be too many values, or some twice; they are bits of changed. */
static void fill_race(struct members *in, const json_t *object, void *record)
{
	struct race *race = record;
	struct vec values = race->values;

	(void)object;
	race->values = (struct vec)VEC_INIT(struct race_values);
	for (size_t i = 0; i < values.count; i++) {
		const struct race_values *pair = vec_at(&values, i);

		if (!race_add_values(race, pair->before, pair->after,
				     pair->count))
			members_fail(in, error_nomem);
	}
	vec_deinit(&values);
}

const struct fields race_fields = {
	.type = "race",
	FIELDS(struct race, race_field_list),
	.fill = fill_race,
};

const char *race_evidence_name(enum race_evidence evidence)
{
	return evidence_words[evidence];
}

const char *race_verdict_name(enum race_verdict verdict)
{
	return verdict_words[verdict];
}

const char *race_region_name(enum race_region region)
{
	return region_words[region];
}

const char *race_role_name(enum race_role role)
{
	return role_words[role];
}

const char *race_status_name(enum race_status status)
{
	return status_words[status];
}

void race_init(struct race *race)
{
	fields_init(&race_fields, race);
}

void race_deinit(struct race *race)
{
	fields_deinit(&race_fields, race);
}

void race_free(struct race *race)
{
	race_deinit(race);
	free(race);
}
