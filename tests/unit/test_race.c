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
	race_deinit(&race);
	assert_null(race.program);
	assert_null(race.sides[1].insn);
	assert_int_equal(race.sides[0].frames.count, 0);
	sample_frame(&race.sides[0], "again", 1, 2);
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
		cmocka_unit_test(words_are_those_of_the_schema),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
