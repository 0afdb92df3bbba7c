/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Races and crashes from JSON; see record-race.h. Members come in the order in
 * which render-json.c writes them. What another member tells (kind) is not
 * read.
 */
#include "report/record-race.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "report/crash.h"
#include "report/doubt.h"
#include "report/idioms.h"
#include "report/race.h"

static void read_frame(struct members *in, const json_t *object,
		       struct race_frame *frame)
{
	frame->function = members_text(in, object, "function");
	frame->file = members_text(in, object, "file");
	frame->line = members_int(in, object, "line");
	frame->column = members_int(in, object, "column");
	frame->module = members_text(in, object, "module");
	frame->build_id = members_text(in, object, "build_id");
	frame->offset = members_address(in, object, "offset");
	frame->inlined = members_bool(in, object, "inlined");
	frame->source = members_text(in, object, "source");
}

static void read_frames(struct members *in, const json_t *object,
			const char *key, struct vec *frames)
{
	const json_t *array = members_array(in, object, key);

	for (size_t i = 0; i < json_array_size(array) && !in->err; i++) {
		const json_t *item = members_item(in, array, i, key);
		struct race_frame *frame = item ? vec_append(frames) : NULL;

		if (frame)
			read_frame(in, item, frame);
		else
			members_fail(in, error_nomem);
	}
}

static const char *role_word(unsigned int role)
{
	return race_role_name((enum race_role)role);
}

/* Of the bits of enum access_kind, which are its numbers too. */
static const char *access_word(unsigned int access)
{
	static const char *const words[] = { NULL, "read", "write", "rmw" };

	return words[access];
}

static void read_thread_path(struct members *in, const json_t *object,
			     struct race_side *side)
{
	const json_t *array = members_array(in, object, "thread_path");
	size_t count = json_array_size(array);

	if (!array)
		return;
	side->thread_path = calloc(count + 1, sizeof(*side->thread_path));
	if (!side->thread_path) {
		members_fail(in, error_nomem);
		return;
	}
	side->thread_path_length = count;
	for (size_t i = 0; i < count; i++) {
		const json_t *item = json_array_get(array, i);
		json_int_t number = json_integer_value(item);

		if (!json_is_integer(item) || number < 0 ||
		    number > UINT32_MAX) {
			members_fail(in, error_create(ERROR_FORMAT,
						      "'thread_path' has "
						      "something in it that is "
						      "no child's number"));
			return;
		}
		side->thread_path[i] = (uint32_t)number;
	}
}

static const char *change_word(unsigned int change)
{
	return race_change_name(change);
}

static const char *pair_word(unsigned int pair)
{
	return race_pair_name(pair);
}

static const char *guard_word(unsigned int guard)
{
	return race_guard_name(guard);
}

static void read_idiom(struct members *in, const json_t *side,
		       struct insn_idiom *idiom)
{
	const json_t *object = members_object(in, side, "idiom");
	const json_t *delta;

	idiom->used = UINT64_MAX;
	if (!object)
		return;
	idiom->change = (uint8_t)members_word(in, object, "change", change_word,
					      IDIOM_DERIVED + 1, IDIOM_UNKNOWN);
	delta = json_object_get(object, "delta");
	if (delta && !json_is_integer(delta))
		members_fail(in, error_create(ERROR_FORMAT,
					      "'delta' is no integer"));
	idiom->delta = json_integer_value(delta);
	idiom->changed = members_address(in, object, "changed");
	if (members_string(in, object, "used"))
		idiom->used = members_address(in, object, "used");
	idiom->compared = members_bool(in, object, "compared");
	idiom->tests_zero = members_bool(in, object, "tests_zero");
	idiom->dereferenced = members_bool(in, object, "dereferenced");
	idiom->locked_beside = members_bool(in, object, "locked_beside");
	idiom->locked_adds = members_bool(in, object, "locked_adds");
	idiom->stored_plainly = members_bool(in, object, "stored_plainly");
	idiom->retested = members_bool(in, object, "retested");
	idiom->dispatch = members_bool(in, object, "dispatch");
	idiom->pair = (uint8_t)members_word(
		in, object, "pair", pair_word,
		(IDIOM_PAIR_BELOW | IDIOM_PAIR_ABOVE) + 1, 0);
	idiom->guard = (uint8_t)members_word(in, object, "guard", guard_word,
					     IDIOM_EARLY + 1, IDIOM_UNGUARDED);
	if (members_string(in, object, "lock"))
		idiom->lock = members_address(in, object, "lock");
}

static void read_side(struct members *in, const json_t *object,
		      struct race_side *side)
{
	static const char *const required[] = { "role", NULL };

	side->role = (enum race_role)members_word(
		in, object, "role", role_word, RACE_UNKNOWN + 1, RACE_UNKNOWN);
	side->access = members_word(in, object, "access", access_word,
				    ACCESS_RMW + 1, ACCESS_NONE);
	side->size = (uint32_t)members_uint(in, object, "size", UINT32_MAX);
	side->atomic = members_bool(in, object, "atomic");
	side->pid = members_int(in, object, "pid");
	side->tid = members_int(in, object, "tid");
	side->thread = members_text(in, object, "thread");
	read_thread_path(in, object, side);
	side->syscall = members_text(in, object, "syscall");
	side->insn = members_text(in, object, "insn");
	side->address = members_address(in, object, "address");
	side->sync = members_text(in, object, "sync");
	side->missing = members_word(in, object, "missing", race_missing_name,
				     RACE_MISSES_DEBUG + 1,
				     RACE_MISSES_NOTHING);
	read_idiom(in, object, &side->idiom);
	read_frames(in, object, "frames", &side->frames);
	read_frames(in, object, "created", &side->created);
	side->creator = members_int(in, object, "creator");
	side->creator_thread = members_text(in, object, "creator_thread");
	members_require(in, object, required);
}

static void read_sides(struct members *in, const json_t *object,
		       struct race *race)
{
	const json_t *array = members_array(in, object, "sides");

	race->sides[0].role = RACE_UNKNOWN;
	race->sides[1].role = RACE_UNKNOWN;
	if (!array)
		return;
	if (json_array_size(array) != 2) {
		members_fail(in, error_create(ERROR_FORMAT,
					      "'sides' are %zu, not two",
					      json_array_size(array)));
		return;
	}
	for (size_t i = 0; i < 2; i++)
		read_side(in, members_item(in, array, i, "sides"),
			  &race->sides[i]);
}

static const char *region_word(unsigned int region)
{
	return race_region_name((enum race_region)region);
}

static void read_variable(struct members *in, const json_t *race,
			  struct race_variable *variable)
{
	const json_t *object = members_object(in, race, "variable");

	variable->name = members_text(in, object, "name");
	variable->symbol = members_text(in, object, "symbol");
	variable->offset = members_uint(in, object, "offset", UINT64_MAX);
	variable->type = members_text(in, object, "type");
	variable->container = members_text(in, object, "container");
	variable->file = members_text(in, object, "file");
	variable->line = members_int(in, object, "line");
	variable->region = (enum race_region)members_word(in, object, "region",
							  region_word,
							  REGION_MAPPING + 1,
							  REGION_UNKNOWN);
	variable->module = members_text(in, object, "module");
	variable->module_offset = members_address(in, object, "module_offset");
	variable->owner = members_int(in, object, "owner");
	variable->owner_thread = members_text(in, object, "owner_thread");
}

static void read_values(struct members *in, const json_t *object,
			struct race *race)
{
	const json_t *array = members_array(in, object, "values");

	for (size_t i = 0; i < json_array_size(array) && !in->err; i++) {
		const json_t *item = members_item(in, array, i, "values");
		struct race_values values;

		members_bytes(in, item, "before", values.before, race->size,
			      sizeof(values.before));
		members_bytes(in, item, "after", values.after, race->size,
			      sizeof(values.after));
		values.count = members_uint(in, item, "count", UINT64_MAX);
		if (!race_add_values(race, values.before, values.after,
				     values.count))
			members_fail(in, error_nomem);
	}
}

/* Those of the values are set already; there may have been more values. */
static void read_changed(struct members *in, const json_t *object,
			 struct race *race)
{
	uint8_t changed[X86_ACCESS_MAX] = { 0 };

	members_bytes(in, object, "changed", changed, race->size,
		      sizeof(changed));
	for (size_t i = 0; i < sizeof(changed); i++)
		race->changed[i] |= changed[i];
}

static void read_suppression(struct members *in, const json_t *race,
			     struct race_suppression *suppression)
{
	const json_t *object = members_object(in, race, "suppressed");

	if (!object)
		return;
	suppression->rule = members_text(in, object, "rule");
	if (!suppression->rule)
		members_fail(in, error_create(ERROR_FORMAT,
					      "'suppressed' has no 'rule'"));
	suppression->file = members_text(in, object, "file");
	suppression->line = members_int(in, object, "line");
	suppression->reason = members_text(in, object, "reason");
	suppression->bug = members_text(in, object, "bug");
}

static void read_hosts(struct members *in, const json_t *object,
		       struct race *race)
{
	const json_t *array = members_array(in, object, "hosts");

	for (size_t i = 0; i < json_array_size(array) && !in->err; i++) {
		const char *name = json_string_value(json_array_get(array, i));
		char *copy = name ? strdup(name) : NULL;

		if (!name) {
			members_fail(in, error_create(ERROR_FORMAT,
						      "'hosts' has something "
						      "in it that is no name"));
		} else if (!copy || !vec_push(&race->hosts, &copy)) {
			free(copy);
			members_fail(in, error_nomem);
		}
	}
}

static const char *evidence_word(unsigned int evidence)
{
	return race_evidence_name((enum race_evidence)evidence);
}

static const char *verdict_word(unsigned int verdict)
{
	return race_verdict_name((enum race_verdict)verdict);
}

static const char *status_word(unsigned int status)
{
	return race_status_name((enum race_status)status);
}

/* What was caught: where, when, and how it was seen. */
static void read_sighting(struct members *in, const json_t *object,
			  struct race *race)
{
	race->id = members_uint(in, object, "id", UINT64_MAX);
	race->time = members_time(in, object, "time");
	race->last_time = members_time(in, object, "last_time");
	members_digits(in, object, "fingerprint", race->fingerprint,
		       sizeof(race->fingerprint));
	members_digits(in, object, "fingerprint_code", race->fingerprint_code,
		       sizeof(race->fingerprint_code));
	/* absent: the weakest, which claims least */
	race->evidence = (enum race_evidence)members_word(
		in, object, "evidence", evidence_word,
		EVIDENCE_VALUE_CHANGE + 1, EVIDENCE_VALUE_CHANGE);
	race->backend = members_text(in, object, "backend");
	race->pid = members_int(in, object, "pid");
	race->program = members_text(in, object, "program");
	race->address = members_address(in, object, "address");
	race->size = (uint32_t)members_uint(in, object, "size", UINT32_MAX);
	members_bytes(in, object, "before", race->before, race->size,
		      sizeof(race->before));
	members_bytes(in, object, "after", race->after, race->size,
		      sizeof(race->after));
}

void record_read_race(struct members *in, const json_t *object,
		      struct race *race)
{
	static const char *const required[] = {
		"id",	 "fingerprint", "evidence", "address", "size",
		"sides", "count",	"verdict",  NULL
	};

	read_sighting(in, object, race);
	read_values(in, object, race);
	read_changed(in, object, race);
	read_variable(in, object, &race->variable);
	read_sides(in, object, race);
	race->count = members_uint(in, object, "count", UINT64_MAX);
	race->verdict = (enum race_verdict)members_word(in, object, "verdict",
							verdict_word,
							VERDICT_SYNC + 1,
							VERDICT_SUSPECT);
	race->reason = members_text(in, object, "reason");
	race->grounds = members_text(in, object, "grounds");
	read_suppression(in, object, &race->suppressed);
	race->status = (enum race_status)members_word(in, object, "status",
						      status_word,
						      STATUS_GONE + 1,
						      STATUS_UNSET);
	race->runs = members_uint(in, object, "runs", UINT64_MAX);
	read_hosts(in, object, race);
	race->stall_ns = members_us(in, object, "stall_us");
	race->elapsed_ns = members_us(in, object, "elapsed_us");
	members_require(in, object, required);
}

static void read_related(struct members *in, const json_t *object,
			 struct crash *crash)
{
	const json_t *array = members_array(in, object, "races");

	for (size_t i = 0; i < json_array_size(array) && !in->err; i++) {
		const json_t *item = members_item(in, array, i, "races");
		struct crash_race *race = vec_append(&crash->races);

		if (!race) {
			members_fail(in, error_nomem);
			return;
		}
		race->id = members_uint(in, item, "id", UINT64_MAX);
		race->variable = members_text(in, item, "variable");
		members_digits(in, item, "fingerprint", race->fingerprint,
			       sizeof(race->fingerprint));
		race->before_ns = members_seconds(in, item, "before_s");
		race->same_address = members_bool(in, item, "same_address");
		race->same_object = members_bool(in, item, "same_object");
		race->same_pointer = members_bool(in, item, "same_pointer");
		race->same_function = members_bool(in, item, "same_function");
	}
}

void record_read_crash(struct members *in, const json_t *object,
		       struct crash *crash)
{
	static const char *const required[] = { "time", "signal", NULL };

	crash->time = members_time(in, object, "time");
	crash->signal = members_int(in, object, "signal");
	crash->pid = members_int(in, object, "pid");
	crash->tid = members_int(in, object, "tid");
	crash->thread = members_text(in, object, "thread");
	crash->has_address = members_string(in, object, "address") != NULL;
	crash->address = members_address(in, object, "address");
	read_frames(in, object, "frames", &crash->frames);
	read_related(in, object, crash);
	members_require(in, object, required);
}
