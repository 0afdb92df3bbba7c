/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * src/report/race-replay.c: instances are counted by what they came to, what is
 * shown belongs together, and combining does not depend on the order.
 */
#include "report/race-replay.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/error.h"
#include "report/field.h"
#include "report/record.h"
#include "sample-race.h"

static const struct replay_note_change lost[] = {
	{ "used", "ab", "101", false, false },
	{ "used", "a(b)a", "100", false, true },
};
static const struct replay_note_change later[] = {
	{ "used", "ab", "201", false, false },
	{ "used", "a(b)a", "200", false, true },
};
static const struct replay_note_change wider[] = {
	{ "used", "ab", "301", false, false },
	{ "total", "a(b)a", "7", true, true },
};
static const char *const ba[] = { "ba", NULL };
static const char *const split[] = { "a(b)a", "ba", NULL };

static const struct replay_note_change ordered[] = {
	{ "used", "ab", "101", false, false },
	{ "total", "ba", "7", true, false },
};

static const struct replay_note same = { .outcome = RACE_REPLAY_SAME };
static const struct replay_note same_blind = {
	.outcome = RACE_REPLAY_SAME,
	.still = true,
	.blind = true,
};
static const struct replay_note same_still = {
	.outcome = RACE_REPLAY_SAME,
	.still = true,
	.redone = true,
};
static const struct replay_note change_ordered = {
	.outcome = RACE_REPLAY_CHANGE,
	.first = true,
	.beyond = true,
	.changes = ordered,
	.change_count = 2,
};
static const struct replay_note change_overlap = {
	.outcome = RACE_REPLAY_CHANGE,
	.first = true,
	.overlap = true,
	.overlap_memory = true,
	.overlap_registers = true,
	.changes = lost,
	.change_count = 2,
};
static const struct replay_note change = {
	.outcome = RACE_REPLAY_CHANGE,
	.changes = lost,
	.change_count = 2,
};
static const struct replay_note change_later = {
	.outcome = RACE_REPLAY_CHANGE,
	.changes = later,
	.change_count = 2,
};
static const struct replay_note change_wider = {
	.outcome = RACE_REPLAY_CHANGE,
	.beyond = true,
	.changes = wider,
	.change_count = 2,
};
static const struct replay_note change_register = {
	.outcome = RACE_REPLAY_CHANGE,
	.beyond = true,
	.registers = true,
};
static const struct replay_note fault = {
	.outcome = RACE_REPLAY_FAULT,
	.signal = SIGSEGV,
	.handled = true,
	.executes = true,
	.fault_address = 0,
	.fault_schedules = ba,
};
static const struct replay_note fault_elsewhere = {
	.outcome = RACE_REPLAY_FAULT,
	.signal = SIGBUS,
	.fault_address = 0x10,
	.fault_schedules = split,
	.changes = lost,
	.change_count = 2,
};
static const struct replay_note rdtsc = {
	.outcome = RACE_REPLAY_FAILURE,
	.failure = "rdtsc",
};
static const struct replay_note call = {
	.outcome = RACE_REPLAY_FAILURE,
	.failure = "system-call",
};

static void add(struct race *race, const struct replay_note *note)
{
	assert_true(race_replay_add(race, note));
}

static void assert_outcome(const struct race *race,
			   enum race_replay_outcome outcome)
{
	assert_int_equal(race_replay_outcome(&race->replay), outcome);
}

static void the_gravest_outcome_counts(void **state)
{
	struct race race;

	(void)state;
	race_init(&race);
	assert_outcome(&race, RACE_REPLAY_NONE);
	add(&race, &rdtsc);
	assert_outcome(&race, RACE_REPLAY_FAILURE);
	assert_int_equal(race.replay.instances, 0);
	add(&race, &same);
	assert_outcome(&race, RACE_REPLAY_SAME);
	add(&race, &change);
	assert_outcome(&race, RACE_REPLAY_CHANGE);
	add(&race, &fault);
	add(&race, &same);
	assert_outcome(&race, RACE_REPLAY_FAULT);
	assert_int_equal(race.replay.instances, 4);
	assert_int_equal(race.replay.changes, 1);
	assert_int_equal(race.replay.faults, 1);
	race_deinit(&race);
}

static void failures_are_counted_by_name(void **state)
{
	const struct race_replay_failure *first;
	struct race race;

	(void)state;
	race_init(&race);
	add(&race, &call);
	add(&race, &rdtsc);
	add(&race, &call);
	assert_int_equal(race.replay.failures.count, 2);
	first = vec_at(&race.replay.failures, 0);
	assert_string_equal(first->name, "rdtsc");
	assert_int_equal(first[0].count, 1);
	assert_int_equal(first[1].count, 2);
	assert_int_equal(race_replay_failures(&race.replay), 3);
	race_deinit(&race);
}

static const char *shown(const struct race *race, size_t i)
{
	const struct race_replay_change *one = vec_at(&race->replay.changed, i);

	return one->value;
}

static void values_shown_are_of_one_instance(void **state)
{
	struct race race;

	(void)state;
	race_init(&race);
	add(&race, &change_later);
	add(&race, &change);
	assert_int_equal(race.replay.changed.count, 2);
	assert_string_equal(shown(&race, 0), "201");
	assert_string_equal(shown(&race, 1), "200");
	race_deinit(&race);
}

static void change_beyond_the_raced_bytes_is_shown_first(void **state)
{
	struct race race;

	(void)state;
	race_init(&race);
	add(&race, &change);
	add(&race, &change_wider);
	add(&race, &change_later);
	assert_string_equal(shown(&race, 0), "301");
	assert_int_equal(race.replay.beyond, 1);
	assert_int_equal(race.replay.registers, 0);
	add(&race, &change_register);
	assert_string_equal(shown(&race, 0), "301");
	assert_int_equal(race.replay.beyond, 2);
	assert_int_equal(race.replay.registers, 1);
	race_deinit(&race);
}

/* An order that reaches far tells less than an overlap that does not. */
static void an_overlap_is_shown_first(void **state)
{
	struct race race;

	(void)state;
	race_init(&race);
	add(&race, &change_ordered);
	assert_int_equal(race.replay.overlaps, 0);
	assert_int_equal(race.replay.serial, 1);
	add(&race, &change_overlap);
	assert_int_equal(race.replay.serial, 1);
	add(&race, &change_ordered);
	assert_int_equal(race.replay.serial, 2);
	assert_int_equal(race.replay.changed.count, 2);
	assert_string_equal(shown(&race, 1), "100");
	assert_int_equal(race.replay.changes, 3);
	assert_int_equal(race.replay.overlaps, 1);
	assert_int_equal(race.replay.overlap_memory, 1);
	assert_int_equal(race.replay.overlap_registers, 1);
	race_deinit(&race);
}

static void what_did_not_move_is_counted(void **state)
{
	struct race race;

	(void)state;
	race_init(&race);
	add(&race, &same);
	add(&race, &same_still);
	add(&race, &same_blind);
	add(&race, &rdtsc);
	assert_int_equal(race.replay.instances, 3);
	assert_int_equal(race.replay.still, 2);
	assert_int_equal(race.replay.blind, 1);
	assert_int_equal(race.replay.redone, 1);
	race_deinit(&race);
}

static void too_many_changes_are_left_out(void **state)
{
	struct replay_note_change many[RACE_REPLAY_CHANGES_MAX + 1];
	const struct replay_note note = {
		.outcome = RACE_REPLAY_CHANGE,
		.changes = many,
		.change_count = RACE_REPLAY_CHANGES_MAX + 1,
	};
	struct race race;

	(void)state;
	for (size_t i = 0; i <= RACE_REPLAY_CHANGES_MAX; i++)
		many[i] = lost[0];
	race_init(&race);
	add(&race, &note);
	assert_int_equal(race.replay.changed.count, RACE_REPLAY_CHANGES_MAX);
	race_deinit(&race);
}

static void faults_keep_what_they_have_in_common(void **state)
{
	struct race race;

	(void)state;
	race_init(&race);
	add(&race, &fault);
	add(&race, &fault);
	assert_int_equal(race.replay.fault.signal, SIGSEGV);
	assert_int_equal(race.replay.fault.address, 0);
	assert_string_equal(race.replay.fault.schedules[0], "ba");
	assert_null(race.replay.fault.schedules[1]);
	assert_true(race.replay.fault.handled);
	assert_true(race.replay.fault.executes);
	add(&race, &fault_elsewhere);
	add(&race, &fault);
	assert_int_equal(race.replay.fault.signal, SIGBUS);
	assert_true(race.replay.fault.address == RACE_REPLAY_NOWHERE);
	assert_string_equal(race.replay.fault.schedules[0], "a(b)a");
	assert_string_equal(race.replay.fault.schedules[1], "ba");
	assert_null(race.replay.fault.schedules[2]);
	assert_int_equal(race.replay.faults, 4);
	/* not for each of them */
	assert_false(race.replay.fault.handled);
	assert_false(race.replay.fault.executes);
	race_deinit(&race);
}

/* The whole record as a line; the caller frees it. */
static char *line_of(const struct race *race)
{
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);

	assert_non_null(out);
	assert_null(fields_write(&race_fields, race, out));
	assert_int_equal(fclose(out), 0);
	return text;
}

static const struct replay_note *const notes[] = {
	&same,
	&change,
	&change_later,
	&change_wider,
	&change_register,
	&fault,
	&fault_elsewhere,
	&rdtsc,
	&call,
	&same_still,
	&same_blind,
	&change_ordered,
	&change_overlap,
};

enum { NOTES = sizeof(notes) / sizeof(notes[0]) };

/* Up to two instances of every pair of notes. */
static void make(struct race *race, size_t i)
{
	race_init(race);
	if (i == 0)
		return;
	add(race, notes[(i - 1) / NOTES]);
	add(race, notes[(i - 1) % NOTES]);
}

static char *combined(size_t i, size_t j, size_t k, bool first)
{
	struct race a, b, c;
	char *line;

	make(&a, i);
	make(&b, j);
	make(&c, k);
	if (first) {
		assert_true(race_replay_combine(&a.replay, &b.replay));
		assert_true(race_replay_combine(&a.replay, &c.replay));
	} else {
		assert_true(race_replay_combine(&b.replay, &c.replay));
		assert_true(race_replay_combine(&a.replay, &b.replay));
	}
	line = line_of(&a);
	race_deinit(&a);
	race_deinit(&b);
	race_deinit(&c);
	return line;
}

static void combining_minds_no_order(void **state)
{
	enum { KINDS = NOTES * NOTES + 1 };

	(void)state;
	for (size_t i = 0; i < KINDS; i++) {
		for (size_t j = 0; j < KINDS; j++) {
			size_t k = (7 * i + 11 * j) % KINDS;
			char *one = combined(i, j, k, true);
			char *two = combined(i, j, k, false);
			char *three = combined(k, j, i, true);

			assert_string_equal(one, two);
			assert_string_equal(one, three);
			free(one);
			free(two);
			free(three);
		}
	}
}

static void parse(const char *line, struct report_record *record)
{
	report_record_init(record);
	assert_null(report_record_parse(line, strlen(line), record));
	assert_int_equal(record->type, REPORT_RACE);
}

static void what_is_written_is_read(void **state)
{
	struct report_record record;
	struct race race;
	char *line, *again;

	(void)state;
	sample_race(&race);
	for (size_t i = 0; i < NOTES; i++)
		add(&race, notes[i]);
	line = line_of(&race);
	parse(line, &record);
	again = line_of(&record.race);
	assert_string_equal(line, again);
	free(line);
	free(again);
	report_record_deinit(&record);
	race_deinit(&race);
}

/* The line with this text for the member's null; the caller frees it. */
static char *line_with(const char *replay)
{
	static const char member[] = "\"replay\":";
	char *before, *end, *line = NULL;
	struct race race;

	sample_race(&race);
	before = line_of(&race);
	end = strstr(before, member);
	assert_non_null(end);
	end += strlen(member);
	assert_int_equal(strncmp(end, "null", 4), 0);
	assert_true(asprintf(&line, "%.*s%s%s", (int)(end - before), before,
			     replay, end + 4) > 0);
	free(before);
	race_deinit(&race);
	return line;
}

static void record_without_a_replay_is_read(void **state)
{
	struct report_record record;
	char *line = line_with("null"), *again;

	(void)state;
	parse(line, &record);
	assert_outcome(&record.race, RACE_REPLAY_NONE);
	again = line_of(&record.race);
	assert_string_equal(line, again);
	free(line);
	free(again);
	report_record_deinit(&record);
}

static void failures_of_any_order_are_sorted(void **state)
{
	char *line =
		line_with("{\"failures\":{\"system-call\":4,\"rdtsc\":1}}");
	struct report_record record;

	(void)state;
	parse(line, &record);
	assert_true(race_replay_add(&record.race, &rdtsc));
	assert_int_equal(record.race.replay.failures.count, 2);
	assert_int_equal(race_replay_failures(&record.race.replay), 6);
	free(line);
	report_record_deinit(&record);
}

static void failure_without_a_number_is_malformed(void **state)
{
	char *line = line_with("{\"failures\":{\"rdtsc\":\"often\"}}");
	struct report_record record;
	struct error *err;

	(void)state;
	report_record_init(&record);
	err = report_record_parse(line, strlen(line), &record);
	assert_non_null(err);
	error_free(err);
	free(line);
	report_record_deinit(&record);
}

static void bound_falls_with_the_instances(void **state)
{
	(void)state;
	assert_true(race_replay_bound(0) >= 1);
	/* 0.5 ^ 1 is more than 0.05, as is 0.5 ^ 4, but not 0.5 ^ 5 */
	assert_true(race_replay_bound(4) > 0.5);
	assert_true(race_replay_bound(5) < 0.5);
	assert_true(race_replay_bound(58) > 0.05);
	assert_true(race_replay_bound(59) < 0.05);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_gravest_outcome_counts),
		cmocka_unit_test(failures_are_counted_by_name),
		cmocka_unit_test(values_shown_are_of_one_instance),
		cmocka_unit_test(change_beyond_the_raced_bytes_is_shown_first),
		cmocka_unit_test(an_overlap_is_shown_first),
		cmocka_unit_test(what_did_not_move_is_counted),
		cmocka_unit_test(too_many_changes_are_left_out),
		cmocka_unit_test(faults_keep_what_they_have_in_common),
		cmocka_unit_test(combining_minds_no_order),
		cmocka_unit_test(what_is_written_is_read),
		cmocka_unit_test(record_without_a_replay_is_read),
		cmocka_unit_test(failures_of_any_order_are_sorted),
		cmocka_unit_test(failure_without_a_number_is_malformed),
		cmocka_unit_test(bound_falls_with_the_instances),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
