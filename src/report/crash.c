/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The crash record and its relation to races; see crash.h.
 */
#include "report/crash.h"

#include <stdlib.h>
#include <string.h>

#include "report/field.h"
#include "report/members.h"
#include "report/race.h"

enum {
	/* bytes that share a cache line are of one object, as a rule */
	CRASH_OBJECT = 64,
	/* members lie at most so far behind the pointer that is followed */
	CRASH_MEMBER_MAX = 4096,
	POINTER_SIZE = 8,
};

#define AT(member) FIELD_AT(struct crash_race, member)

static const struct field related_fields[] = {
	{ "id", FIELD_COUNT, .flags = FIELD_NULL, AT(id) },
	{ "variable", FIELD_TEXT, AT(variable) },
	{ "fingerprint", FIELD_DIGITS, .flags = FIELD_NULL, AT(fingerprint) },
	{ "before_s", FIELD_SECONDS, AT(before_ns) },
	{ "same_address", FIELD_BOOL, AT(same_address) },
	{ "same_object", FIELD_BOOL, AT(same_object) },
	{ "same_pointer", FIELD_BOOL, AT(same_pointer) },
	{ "same_function", FIELD_BOOL, AT(same_function) },
};

static const struct fields crash_race_fields = {
	FIELDS(struct crash_race, related_fields),
};

#undef AT
#define AT(member) FIELD_AT(struct crash, member)

static bool has_address(const void *record)
{
	const struct crash *crash = record;

	return crash->has_address;
}

static const struct field crash_field_list[] = {
	{ "time", FIELD_TIME, .flags = FIELD_NEEDED, AT(time) },
	{ "signal", FIELD_ID, .flags = FIELD_NEEDED, AT(signal) },
	{ "pid", FIELD_ID, .flags = FIELD_NULL, AT(pid) },
	{ "tid", FIELD_ID, .flags = FIELD_NULL, AT(tid) },
	{ "thread", FIELD_TEXT, AT(thread) },
	{ "address", FIELD_ADDRESS, AT(address), .known = has_address },
	{ "frames", FIELD_LIST, FIELD_VEC(struct crash, frames),
	  .of = &race_frame_fields },
	{ "races", FIELD_LIST, FIELD_VEC(struct crash, races),
	  .of = &crash_race_fields },
};

static void fill_crash(struct members *in, const json_t *object, void *record)
{
	struct crash *crash = record;

	(void)in;
	crash->has_address = members_has(object, "address");
}

const struct fields crash_fields = {
	.type = "crash",
	FIELDS(struct crash, crash_field_list),
	.fill = fill_crash,
};

void crash_init(struct crash *crash)
{
	fields_init(&crash_fields, crash);
}

void crash_deinit(struct crash *crash)
{
	fields_deinit(&crash_fields, crash);
}

/* Libraries that a program dies in on its own behalf: abort(3) and the like. */
static bool frame_is_runtime(const struct race_frame *frame)
{
	static const char *const libraries[] = {
		"libc.",     "libc-",	   "libpthread", "ld-linux",
		"libstdc++", "linux-vdso", "[vdso]",	 NULL,
	};

	return race_frame_is_in(frame, libraries);
}

/* The innermost frame of the program's own, or NULL. */
static const struct race_frame *own_frame(const struct vec *frames)
{
	for (size_t i = 0; i < frames->count; i++) {
		const struct race_frame *frame = vec_at(frames, i);

		if (!frame_is_runtime(frame))
			return frame;
	}
	return NULL;
}

static bool frame_same_function(const struct race_frame *a,
				const struct race_frame *b)
{
	if (!a->function || !b->function ||
	    strcmp(a->function, b->function) != 0)
		return false;
	return !a->module || !b->module || strcmp(a->module, b->module) == 0;
}

/* Is it among the frames? Every stack ends in main(), which says nothing. */
static bool frames_have(const struct vec *frames,
			const struct race_frame *wanted)
{
	if (!wanted || !wanted->function)
		return false;
	for (size_t i = 0; i < frames->count; i++) {
		const struct race_frame *frame = vec_at(frames, i);

		if (frame_same_function(frame, wanted))
			return strcmp(wanted->function, "main") != 0 ||
			       frame == own_frame(frames);
	}
	return false;
}

static bool crash_same_function(const struct crash *crash,
				const struct race *race)
{
	const struct race_frame *died = own_frame(&crash->frames);

	for (int i = 0; i < 2; i++) {
		const struct vec *frames = &race->sides[i].frames;

		if (frames_have(&crash->frames, own_frame(frames)) ||
		    frames_have(frames, died))
			return true;
	}
	return false;
}

static bool crash_same_object(const struct crash *crash,
			      const struct race *race)
{
	uint64_t first = race->address / CRASH_OBJECT;
	uint64_t last = (race->address + (race->size ? race->size - 1 : 0)) /
			CRASH_OBJECT;
	uint64_t line = crash->address / CRASH_OBJECT;

	return line >= first && line <= last;
}

/* Does the type say that it is something else? */
static bool may_be_pointer(const struct race *race)
{
	const char *type = race->variable.type;
	size_t length = type ? strlen(type) : 0;

	return race->size == POINTER_SIZE &&
	       (!type || (length > 0 && type[length - 1] == '*'));
}

static bool value_leads_to(const uint8_t *bytes, uint64_t address)
{
	uint64_t value;

	memcpy(&value, bytes, sizeof(value));
	return address - value < CRASH_MEMBER_MAX;
}

/* Is a value seen there the pointer that was followed to the fault? */
static bool crash_same_pointer(const struct crash *crash,
			       const struct race *race)
{
	if (!may_be_pointer(race))
		return false;
	if (value_leads_to(race->before, crash->address) ||
	    value_leads_to(race->after, crash->address))
		return true;
	for (size_t i = 0; i < race->values.count; i++) {
		const struct race_values *values = vec_at(&race->values, i);

		if (value_leads_to(values->before, crash->address) ||
		    value_leads_to(values->after, crash->address))
			return true;
	}
	return false;
}

bool crash_add_race(struct crash *crash, const struct race *race)
{
	struct crash_race related = {
		.id = race->id,
		.before_ns = race->last_time < crash->time
				     ? crash->time - race->last_time
				     : 0,
		.same_function = crash_same_function(crash, race),
	};

	memcpy(related.fingerprint, race->fingerprint,
	       sizeof(related.fingerprint));
	/* another process has other things there */
	if (crash->has_address && crash->pid == race->pid) {
		related.same_address = crash->address - race->address <
				       race->size;
		related.same_object = crash_same_object(crash, race);
		related.same_pointer = crash_same_pointer(crash, race);
	}
	if (race->variable.name) {
		related.variable = strdup(race->variable.name);
		if (!related.variable)
			return false;
	}
	if (vec_push(&crash->races, &related))
		return true;
	free(related.variable);
	return false;
}

static int crash_compare(const void *left, const void *right)
{
	const struct crash_race *a = left, *b = right;

	if (a->before_ns != b->before_ns)
		return a->before_ns < b->before_ns ? -1 : 1;
	return a->id < b->id ? -1 : a->id > b->id;
}

void crash_sort_races(struct crash *crash)
{
	if (crash->races.count > 1)
		qsort(crash->races.items, crash->races.count,
		      sizeof(struct crash_race), crash_compare);
}
