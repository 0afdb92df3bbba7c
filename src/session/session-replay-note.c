/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The result of a replay in words, for the race's record; see session-replay.h.
 */
#include "session/session-replay.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/vec.h"
#include "image/variables.h"
#include "report/race-replay.h"
#include "report/race.h"
#include "session/session-races.h"

enum {
	/* "0x" and two digits a byte */
	NOTE_VALUE = 2 + 2 * REPLAY_CHANGE_BYTES + 1,
};

/* A number larger than that is an address, or a pattern of bits. */
static const uint64_t NOTE_DECIMAL_MAX = 1 << 30;

struct note_value {
	char text[NOTE_VALUE];
};

/* What is borrowed by the note. */
struct note {
	const struct session_instance *instance;
	struct vec names; /* of struct data_name, a change each */
	struct vec values; /* of struct note_value *, owned */
	struct vec changes; /* of struct replay_note_change */
};

static void note_init(struct note *note,
		      const struct session_instance *instance)
{
	*note = (struct note){
		.instance = instance,
		.names = VEC_INIT(struct data_name),
		.values = VEC_INIT(struct note_value *),
		.changes = VEC_INIT(struct replay_note_change),
	};
}

static void note_deinit(struct note *note)
{
	for (size_t i = 0; i < note->names.count; i++)
		data_name_deinit(vec_at(&note->names, i));
	for (size_t i = 0; i < note->values.count; i++)
		free(*(struct note_value **)vec_at(&note->values, i));
	vec_deinit(&note->names);
	vec_deinit(&note->values);
	vec_deinit(&note->changes);
}

/* Little-endian numbers as such; what has another size as its bytes. */
static void note_format(const uint8_t *bytes, uint32_t size,
			struct note_value *ret)
{
	uint64_t number = 0;
	size_t at;

	if (size <= sizeof(number) && (size & (size - 1)) == 0) {
		memcpy(&number, bytes, size);
		snprintf(ret->text, sizeof(ret->text),
			 number < NOTE_DECIMAL_MAX ? "%" PRIu64 : "0x%" PRIx64,
			 number);
		return;
	}
	at = (size_t)snprintf(ret->text, sizeof(ret->text), "0x");
	for (uint32_t i = size; i-- > 0 && at + 3 <= sizeof(ret->text);)
		at += (size_t)snprintf(ret->text + at, sizeof(ret->text) - at,
				       "%02x", bytes[i]);
}

static const char *note_region(enum data_region region)
{
	switch (region) {
	case DATA_HEAP:
		return "heap";
	case DATA_STACK:
		return "stack";
	case DATA_TLS:
		return "thread-local memory";
	case DATA_GLOBAL:
	case DATA_MAPPING:
	case DATA_UNKNOWN:
	default:
		return "memory";
	}
}

static bool note_is_raced(const struct note *note,
			  const struct replay_change *change)
{
	const struct replay_question *question = &note->instance->question;

	return change->space == 0 &&
	       change->address < question->address + question->size &&
	       question->address < change->address + change->size;
}

/*
 * Heap and the like have no name, but for the raced bytes; others are told by
 * how far from those they are, which is the same in all instances as a rule.
 */
static void note_place(const struct note *note,
		       const struct replay_change *change,
		       struct data_name *name)
{
	const struct race_variable *variable = &note->instance->race->variable;
	int64_t offset =
		(int64_t)(change->address - note->instance->question.address);
	char text[128];

	if (name->name)
		return;
	if (note_is_raced(note, change) && variable->name)
		snprintf(text, sizeof(text), "%s", variable->name);
	else if (change->space == 0 && llabs(offset) < REPLAY_PAGE)
		snprintf(text, sizeof(text), "%s%+" PRId64 " bytes",
			 variable->name ? variable->name : "raced bytes",
			 offset);
	else
		snprintf(text, sizeof(text), "%s at 0x%" PRIx64,
			 note_region(name->region), change->address);
	name->name = strdup(text);
}

/* Valid as long as the note is. */
static struct error *note_name(struct note *note,
			       const struct replay_change *change,
			       const char **ret)
{
	struct data_name name = { 0 };
	struct error *err =
		variables_name(note->instance->images[change->space],
			       note->instance->pids[change->space],
			       change->address, change->size, &name);

	if (err)
		return err;
	note_place(note, change, &name);
	*ret = name.name;
	if (name.name && vec_push(&note->names, &name))
		return NULL;
	data_name_deinit(&name);
	return error_nomem;
}

static const char *note_value(struct note *note,
			      const struct replay_change *change, int schedule)
{
	struct note_value *value = calloc(1, sizeof(*value));

	if (!value || !vec_push(&note->values, &value)) {
		free(value);
		return NULL;
	}
	note_format(change->values[schedule], change->size, value);
	return value->text;
}

static struct error *note_change(struct note *note,
				 const struct replay_change *change,
				 uint32_t overlaps)
{
	struct replay_note_change line = {
		.beyond = !note_is_raced(note, change),
	};
	struct error *err = note_name(note, change, &line.variable);

	for (int i = 0; i < REPLAY_SCHEDULES && !err; i++) {
		if (!(change->schedules & (1u << i)))
			continue;
		line.schedule = replay_schedule_name(i);
		line.overlap = overlaps >> i & 1;
		line.value = note_value(note, change, i);
		if (!line.value || !vec_push(&note->changes, &line))
			err = error_nomem;
	}
	return err;
}

static enum race_replay_outcome note_outcome(enum replay_verdict verdict)
{
	switch (verdict) {
	case REPLAY_NO_CHANGE:
		return RACE_REPLAY_SAME;
	case REPLAY_CHANGE:
		return RACE_REPLAY_CHANGE;
	case REPLAY_FAULT:
		return RACE_REPLAY_FAULT;
	case REPLAY_FAILURE:
	default:
		return RACE_REPLAY_FAILURE;
	}
}

static struct error *note_add(struct session *session, const struct note *note,
			      const struct replay_result *result)
{
	const char *faults[REPLAY_SCHEDULES + 1] = { NULL };
	const struct replay_note line = {
		.outcome = note_outcome(result->verdict),
		.failure = result->failure,
		.beyond = result->beyond,
		.registers = result->registers,
		.overlap = result->overlaps != 0,
		.overlap_memory = result->overlap_memory,
		.overlap_registers = result->overlap_registers,
		.still = result->still && note->instance->question.varies,
		.blind = result->blind,
		.redone = result->redone,
		.first = note->instance->question.first && !result->waited,
		.signal = result->signal,
		.handled = result->handled,
		.executes = result->executes,
		.fault_address = result->fault_address,
		.fault_schedules = faults,
		.changes = note->changes.items,
		.change_count = note->changes.count,
	};
	int count = 0;

	for (int i = 0; i < REPLAY_SCHEDULES; i++) {
		if (result->fault_schedules & (1u << i))
			faults[count++] = replay_schedule_name(i);
	}
	if (!race_replay_add(note->instance->race, &line))
		return error_nomem;
	return session_replayed(session, note->instance->race);
}

struct error *session_replay_note(struct session *session,
				  const struct session_instance *instance,
				  const struct replay_result *result)
{
	struct note note;
	struct error *err = NULL;

	note_init(&note, instance);
	for (size_t i = 0; i < result->changes.count && !err; i++)
		err = note_change(&note, vec_at(&result->changes, i),
				  result->overlaps);
	if (!err)
		err = note_add(session, &note, result);
	note_deinit(&note);
	return err;
}

struct error *session_replay_failed(struct session *session, struct race *race,
				    const char *failure)
{
	const struct replay_note line = { .outcome = RACE_REPLAY_FAILURE,
					  .failure = failure };

	return race_replay_add(race, &line) ? session_replayed(session, race)
					    : error_nomem;
}
