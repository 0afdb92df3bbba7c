/* SPDX-License-Identifier: GPL-3.0-or-later */
/* src/report/race.c: what kind of race it is, and the words of the schema. */
#include "report/race.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "sample-race.h"

static const char *kind_of(unsigned int stalled, unsigned int racing)
{
	struct race race = { 0 };

	race.sides[0].access = stalled;
	race.sides[1].access = racing;
	return race_kind(&race);
}

static void kind_names_the_stalled_access_first(void **state)
{
	(void)state;
	assert_string_equal(kind_of(ACCESS_READ, ACCESS_WRITE), "read-write");
	assert_string_equal(kind_of(ACCESS_WRITE, ACCESS_READ), "write-read");
	assert_string_equal(kind_of(ACCESS_WRITE, ACCESS_WRITE), "write-write");
}

static void read_modify_write_is_a_write(void **state)
{
	(void)state;
	assert_string_equal(kind_of(ACCESS_RMW, ACCESS_READ), "write-read");
	assert_string_equal(kind_of(ACCESS_READ, ACCESS_RMW), "read-write");
	assert_string_equal(kind_of(ACCESS_RMW, ACCESS_RMW), "write-write");
}

static void what_nobody_saw_was_a_write(void **state)
{
	(void)state;
	assert_string_equal(kind_of(ACCESS_READ, ACCESS_NONE), "read-write");
	assert_string_equal(kind_of(ACCESS_WRITE, ACCESS_NONE), "write-write");
}

static void deinit_leaves_an_empty_race(void **state)
{
	struct race race;

	(void)state;
	sample_race(&race);
	sample_more(&race);
	race_deinit(&race);
	assert_null(race.program);
	assert_null(race.sides[1].insn);
	assert_int_equal(race.sides[0].frames.count, 0);
	sample_frame(&race.sides[0], "again", 1, 2);
	race_deinit(&race);
}

static void pair_of(struct race *race, uint8_t before, uint8_t after)
{
	struct race again = { .size = race->size,
			      .last_time = race->time + after };

	again.before[0] = before;
	again.after[0] = after;
	assert_true(race_see_again(race, &again));
}

static void all_changed_bits_are_remembered(void **state)
{
	struct race race;

	(void)state;
	sample_race(&race);
	/* more pairs than are kept */
	for (uint8_t i = 0; i < RACE_VALUES_MAX; i++)
		pair_of(&race, i, i);
	assert_int_equal(race.changed[0], 0);
	pair_of(&race, 0, 0x40);
	assert_int_equal(race.values.count, RACE_VALUES_MAX);
	assert_int_equal(race.changed[0], 0x40);
	race_deinit(&race);
}

static void unlikely_ones_count_unless_they_are_ignored(void **state)
{
	static const enum race_verdict counted[] = { VERDICT_HARMFUL,
						     VERDICT_SUSPECT,
						     VERDICT_UNLIKELY };
	struct race race;

	(void)state;
	sample_race(&race);
	for (int i = 0; i < 3; i++) {
		bool ignored = counted[i] == VERDICT_UNLIKELY;

		race.verdict = counted[i];
		assert_true(race_counts(&race, false));
		assert_true(race_is_actionable(&race, false));
		assert_int_equal(race_counts(&race, true), !ignored);
		assert_int_equal(race_is_actionable(&race, true), !ignored);
	}
	race.status = STATUS_KNOWN;
	assert_true(race_counts(&race, false));
	assert_false(race_is_actionable(&race, false));
	sample_set(&race.suppressed.rule, "race:x");
	assert_false(race_counts(&race, false));
	sample_set(&race.suppressed.rule, NULL);
	race.verdict = VERDICT_SYNC;
	assert_false(race_counts(&race, false));
	race_deinit(&race);
}

static void the_c_library_is_told_by_its_name(void **state)
{
	struct race_frame frame = { .line = 0 };

	(void)state;
	assert_false(race_frame_is_c_library(&frame));
	frame.module = (char *)"/lib/x86_64-linux-gnu/libc.so.6";
	assert_true(race_frame_is_c_library(&frame));
	frame.module = (char *)"libc-2.31.so";
	assert_true(race_frame_is_c_library(&frame));
	frame.module = (char *)"/opt/libc.d/libcache.so";
	assert_false(race_frame_is_c_library(&frame));
}

static void distinct_values_are_kept_and_counted(void **state)
{
	const struct race_values *values;
	struct race race;

	(void)state;
	sample_race(&race);
	pair_of(&race, 1, 2);
	pair_of(&race, 3, 4);
	pair_of(&race, 1, 2);
	assert_int_equal(race.count, 3 + 3);
	assert_true(race.last_time == race.time + 4);
	assert_int_equal(race.values.count, 2);
	values = vec_at(&race.values, 0);
	assert_int_equal(values->before[0], 1);
	assert_int_equal(values->count, 2);
	for (int i = 0; i < 2 * RACE_VALUES_MAX; i++)
		pair_of(&race, (uint8_t)(100 + i), 0);
	assert_int_equal(race.values.count, RACE_VALUES_MAX);
	race_deinit(&race);
}

/* A counter's values only rise, whichever of the pairs are kept. */
static void kept_values_stay_in_their_order(void **state)
{
	struct race race;

	(void)state;
	sample_race(&race);
	for (uint8_t i = 0; i < RACE_VALUES_MAX; i++)
		pair_of(&race, 10 * i + 10, 10 * i + 10 + i % 3);
	for (uint8_t i = 0; i < RACE_VALUES_MAX; i++)
		pair_of(&race, 10 * i + 110, 10 * i + 111);
	assert_int_equal(race.values.count, RACE_VALUES_MAX);
	for (size_t i = 0; i < race.values.count; i++) {
		const struct race_values *values = vec_at(&race.values, i);

		assert_int_not_equal(values->before[0], values->after[0]);
		assert_true(i == 0 || values[-1].after[0] < values->before[0]);
	}
	race_deinit(&race);
}

static void words_are_those_of_the_schema(void **state)
{
	(void)state;
	assert_string_equal(race_evidence_name(EVIDENCE_WATCHPOINT),
			    "watchpoint");
	assert_string_equal(race_evidence_name(EVIDENCE_COLLISION),
			    "collision");
	assert_string_equal(race_evidence_name(EVIDENCE_VALUE_CHANGE),
			    "value-change");
	assert_string_equal(race_verdict_name(VERDICT_HARMFUL), "harmful");
	assert_string_equal(race_verdict_name(VERDICT_SUSPECT), "suspect");
	assert_string_equal(race_verdict_name(VERDICT_UNLIKELY), "unlikely");
	assert_string_equal(race_verdict_name(VERDICT_SYNC), "sync");
	assert_string_equal(race_region_name(REGION_GLOBAL), "global");
	assert_string_equal(race_region_name(REGION_HEAP), "heap");
	assert_string_equal(race_region_name(REGION_STACK), "stack");
	assert_string_equal(race_region_name(REGION_TLS), "tls");
	assert_string_equal(race_region_name(REGION_MAPPING), "mapping");
	assert_string_equal(race_role_name(RACE_STALLED), "stalled");
	assert_string_equal(race_role_name(RACE_RACING), "racing");
	assert_string_equal(race_role_name(RACE_UNKNOWN), "unknown");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(kind_names_the_stalled_access_first),
		cmocka_unit_test(read_modify_write_is_a_write),
		cmocka_unit_test(what_nobody_saw_was_a_write),
		cmocka_unit_test(deinit_leaves_an_empty_race),
		cmocka_unit_test(all_changed_bits_are_remembered),
		cmocka_unit_test(unlikely_ones_count_unless_they_are_ignored),
		cmocka_unit_test(the_c_library_is_told_by_its_name),
		cmocka_unit_test(distinct_values_are_kept_and_counted),
		cmocka_unit_test(kept_values_stay_in_their_order),
		cmocka_unit_test(words_are_those_of_the_schema),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
