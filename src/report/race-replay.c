/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Counting the instances of a race, and combining the counts; see
 * race-replay.h. Combining is commutative and associative, like the rest of
 * combine.h: sums, unions, and of two lists of changes the first by an order.
 */
#include "report/race-replay.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "report/field.h"
#include "report/members.h"
#include "report/race.h"

static const char *const outcome_words[] = {
	[RACE_REPLAY_NONE] = NULL,
	[RACE_REPLAY_FAILURE] = "failure",
	[RACE_REPLAY_SAME] = RACE_REPLAY_SAME_NAME,
	[RACE_REPLAY_CHANGE] = "state-change",
	[RACE_REPLAY_FAULT] = "fault",
};

#define AT(member) FIELD_AT(struct race_replay_failure, member)

static const struct field failure_fields[] = {
	{ "name", FIELD_TEXT, FIELD_KEY, FIELD_NEEDED, AT(name) },
	{ "count", FIELD_COUNT, FIELD_SUM, AT(count) },
};

static const struct fields race_replay_failure_fields = {
	FIELDS(struct race_replay_failure, failure_fields),
};

#undef AT
#define AT(member) FIELD_AT(struct race_replay_change, member)

static const struct field change_fields[] = {
	{ "variable", FIELD_TEXT, .flags = FIELD_NEEDED, AT(variable) },
	{ "schedule", FIELD_TEXT, .flags = FIELD_NEEDED, AT(schedule) },
	{ "value", FIELD_TEXT, .flags = FIELD_NEEDED, AT(value) },
	{ "beyond", FIELD_BOOL, AT(beyond) },
	{ "overlap", FIELD_BOOL, AT(overlap) },
};

static const struct fields race_replay_change_fields = {
	FIELDS(struct race_replay_change, change_fields),
};

#undef AT
#define AT(member) FIELD_AT(struct race_replay_fault, member)

static const struct field fault_fields[] = {
	{ "signal", FIELD_ID, FIELD_LEAST, FIELD_NEEDED, AT(signal) },
	{ "address", FIELD_ADDRESS, FIELD_APART, FIELD_NULL, AT(address),
	  .absent = RACE_REPLAY_NOWHERE },
	{ "schedules", FIELD_STRINGS, FIELD_UNION, AT(schedules) },
	{ "handled", FIELD_BOOL, FIELD_APART, AT(handled) },
	{ "executes", FIELD_BOOL, FIELD_APART, AT(executes) },
};

static const struct fields race_replay_fault_fields = {
	FIELDS(struct race_replay_fault, fault_fields),
};

#undef AT
#define AT(member) FIELD_AT(struct race_replay, member)

static bool has_fault(const void *record)
{
	const struct race_replay *replay = record;

	return replay->fault.signal != 0;
}

static const char *outcome_of(const void *record)
{
	return race_replay_outcome_name(race_replay_outcome(record));
}

static const struct field replay_fields[] = {
	{ "outcome", FIELD_MADE, .made = outcome_of },
	{ "instances", FIELD_COUNT, FIELD_SUM, AT(instances) },
	{ "failures", FIELD_COUNTS, FIELD_UNION,
	  FIELD_VEC(struct race_replay, failures),
	  .of = &race_replay_failure_fields },
	{ "changed", FIELD_LIST, FIELD_APART,
	  FIELD_VEC(struct race_replay, changed),
	  .of = &race_replay_change_fields },
	{ "changes", FIELD_COUNT, FIELD_SUM, AT(changes) },
	{ "faults", FIELD_COUNT, FIELD_SUM, AT(faults) },
	{ "beyond", FIELD_COUNT, FIELD_SUM, AT(beyond) },
	{ "registers", FIELD_COUNT, FIELD_SUM, AT(registers) },
	{ "overlaps", FIELD_COUNT, FIELD_SUM, AT(overlaps) },
	{ "overlap_memory", FIELD_COUNT, FIELD_SUM, AT(overlap_memory) },
	{ "overlap_registers", FIELD_COUNT, FIELD_SUM, AT(overlap_registers) },
	{ "still", FIELD_COUNT, FIELD_SUM, AT(still) },
	{ "blind", FIELD_COUNT, FIELD_SUM, AT(blind) },
	{ "redone", FIELD_COUNT, FIELD_SUM, AT(redone) },
	{ "serial", FIELD_COUNT, FIELD_SUM, AT(serial) },
	{ "fault", FIELD_OBJECT, FIELD_APART, AT(fault),
	  .of = &race_replay_fault_fields, .known = has_fault },
};

static int compare_failures(const void *a, const void *b)
{
	const struct race_replay_failure *one = a, *two = b;

	return strcmp(one->name, two->name);
}

/* Another program may have written them in another order. */
static void fill_replay(struct members *in, const json_t *object, void *record)
{
	struct vec *failures = &((struct race_replay *)record)->failures;

	(void)object;
	if (!in->err && failures->count > 0)
		qsort(failures->items, failures->count, failures->size,
		      compare_failures);
}

const struct fields race_replay_fields = {
	FIELDS(struct race_replay, replay_fields),
	.fill = fill_replay,
};

const char *race_replay_outcome_name(enum race_replay_outcome outcome)
{
	return outcome_words[outcome];
}

enum race_replay_outcome race_replay_outcome(const struct race_replay *replay)
{
	if (replay->faults)
		return RACE_REPLAY_FAULT;
	if (replay->changes)
		return RACE_REPLAY_CHANGE;
	if (replay->instances)
		return RACE_REPLAY_SAME;
	return replay->failures.count ? RACE_REPLAY_FAILURE : RACE_REPLAY_NONE;
}

bool race_replay_settles(const struct race *race)
{
	return race->verdict == VERDICT_UNLIKELY && race->reason &&
	       strcmp(race->reason, RACE_REPLAY_SAME_NAME) == 0;
}

bool race_replay_excuses(const struct race *race)
{
	return race_replay_settles(race) ||
	       (race->verdict == VERDICT_UNLIKELY && race->reason &&
		strcmp(race->reason, RACE_REPLAY_EITHER_NAME) == 0);
}

bool race_replay_is_unlike(const struct race_replay *replay)
{
	static const char *const names[] = { "limit",	    "locals",
					     "old-load",    "signal",
					     "unequal-end", "waits" };

	for (size_t i = 0; i < replay->failures.count; i++) {
		const struct race_replay_failure *failure =
			vec_at(&replay->failures, i);

		for (size_t j = 0; j < sizeof(names) / sizeof(names[0]); j++) {
			if (strcmp(failure->name, names[j]) == 0)
				return true;
		}
	}
	return false;
}

uint64_t race_replay_failures(const struct race_replay *replay)
{
	uint64_t count = 0;

	for (size_t i = 0; i < replay->failures.count; i++) {
		const struct race_replay_failure *failure =
			vec_at(&replay->failures, i);

		count += failure->count;
	}
	return count;
}

/* None of n has an effect by a chance of (1 - share)^n. */
double race_replay_bound(uint64_t instances)
{
	if (instances == 0)
		return 1;
	return 1 - pow(1 - REPLAY_CONFIDENCE, 1 / (double)instances);
}

/* How much a list of changes tells: of an overlap, and beyond the raced bytes. */
static int changes_weight(const struct vec *changes)
{
	bool overlap = false, beyond = false;

	for (size_t i = 0; i < changes->count; i++) {
		const struct race_replay_change *change = vec_at(changes, i);

		overlap |= change->overlap;
		beyond |= change->beyond;
	}
	return 4 * overlap + 2 * beyond + (changes->count > 0);
}

static int order_changes(const struct race_replay_change *a,
			 const struct race_replay_change *b)
{
	int order = strcmp(a->variable, b->variable);

	order = order ? order : strcmp(a->schedule, b->schedule);
	order = order ? order : strcmp(a->value, b->value);
	order = order ? order : b->beyond - a->beyond;
	return order ? order : b->overlap - a->overlap;
}

/* Negative: a is the list to show. */
static int order_changed(const struct vec *a, const struct vec *b)
{
	int order = changes_weight(b) - changes_weight(a);

	for (size_t i = 0; !order && i < a->count && i < b->count; i++)
		order = order_changes(vec_at(a, i), vec_at(b, i));
	return order ? order : (a->count > b->count) - (a->count < b->count);
}

static bool copy_into(char **to, const char *text)
{
	*to = strdup(text);
	return *to != NULL;
}

static bool append_change(struct vec *changes,
			  const struct replay_note_change *from)
{
	struct race_replay_change *change = vec_append(changes);
	bool good = change && copy_into(&change->variable, from->variable);

	good = good && copy_into(&change->schedule, from->schedule);
	good = good && copy_into(&change->value, from->value);
	if (good) {
		change->beyond = from->beyond;
		change->overlap = from->overlap;
	}
	return good;
}

static size_t changes_kept(const struct replay_note *note)
{
	return note->change_count < RACE_REPLAY_CHANGES_MAX
		       ? note->change_count
		       : RACE_REPLAY_CHANGES_MAX;
}

static bool note_changes(struct race_replay *replay,
			 const struct replay_note *note)
{
	for (size_t i = 0; i < changes_kept(note); i++) {
		if (!append_change(&replay->changed, &note->changes[i]))
			return false;
	}
	return true;
}

/* Of the instances of a run the first is shown, or the first to tell more. */
static bool shows_more(const struct replay_note *note,
		       const struct vec *changed)
{
	bool overlap = false, beyond = false;

	for (size_t i = 0; i < changes_kept(note); i++) {
		overlap |= note->changes[i].overlap;
		beyond |= note->changes[i].beyond;
	}
	return changed->count == 0 ||
	       4 * overlap + 2 * beyond + 1 > changes_weight(changed);
}

static bool note_fault(struct race_replay *replay,
		       const struct replay_note *note)
{
	const char *const *schedule = note->fault_schedules;
	bool good = true;

	replay->faults = 1;
	replay->fault.signal = note->signal;
	replay->fault.address = note->fault_address;
	replay->fault.handled = note->handled;
	replay->fault.executes = note->executes;
	for (; good && schedule && *schedule; schedule++)
		good = fields_add_string(&race_replay_fault_fields, "schedules",
					 &replay->fault, *schedule);
	return good;
}

static bool note_failure(struct race_replay *replay,
			 const struct replay_note *note)
{
	struct race_replay_failure *failure = vec_append(&replay->failures);

	if (!failure || !copy_into(&failure->name,
				   note->failure ? note->failure : "unknown"))
		return false;
	failure->count = 1;
	return true;
}

/* One instance as if there were no other, but for what is shown. */
static bool note_instance(struct race_replay *replay,
			  const struct replay_note *note)
{
	if (note->outcome == RACE_REPLAY_FAILURE)
		return note_failure(replay, note);
	replay->instances = 1;
	replay->changes = note->outcome == RACE_REPLAY_CHANGE;
	replay->still = note->still;
	replay->blind = note->still && note->blind;
	replay->redone = note->redone;
	if (note->outcome == RACE_REPLAY_SAME)
		return true;
	replay->beyond = note->beyond;
	replay->registers = note->registers;
	replay->overlaps = note->overlap;
	replay->overlap_memory = note->overlap_memory;
	replay->overlap_registers = note->overlap_registers;
	replay->serial = note->first && !note->overlap &&
			 note->outcome == RACE_REPLAY_CHANGE;
	return note->outcome != RACE_REPLAY_FAULT || note_fault(replay, note);
}

static void keep_changed(struct race_replay *replay, struct race_replay *other)
{
	struct vec kept = other->changed;

	other->changed = replay->changed;
	replay->changed = kept;
}

static bool combine_faults(struct race_replay_fault *fault,
			   struct race_replay_fault *other)
{
	struct race_replay_fault old = *fault;

	if (other->signal == 0)
		return true;
	if (fault->signal == 0) {
		*fault = *other;
		*other = old;
		return true;
	}
	if (other->signal < fault->signal)
		fault->signal = other->signal;
	if (other->address != fault->address)
		fault->address = RACE_REPLAY_NOWHERE;
	fault->handled &= other->handled;
	fault->executes &= other->executes;
	return fields_merge(&race_replay_fault_fields, fault, other, false);
}

bool race_replay_combine(struct race_replay *replay, struct race_replay *other)
{
	if (order_changed(&other->changed, &replay->changed) < 0)
		keep_changed(replay, other);
	return combine_faults(&replay->fault, &other->fault) &&
	       fields_merge(&race_replay_fields, replay, other, false);
}

bool race_replay_add(struct race *race, const struct replay_note *note)
{
	struct race_replay one;
	bool good;

	if (note->outcome == RACE_REPLAY_NONE)
		return true;
	fields_init(&race_replay_fields, &one);
	good = note_instance(&one, note);
	if (shows_more(note, &race->replay.changed))
		good = good && note_changes(&one, note);
	good = good && race_replay_combine(&race->replay, &one);
	fields_deinit(&race_replay_fields, &one);
	return good;
}
