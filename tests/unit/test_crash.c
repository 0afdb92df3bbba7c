/* SPDX-License-Identifier: GPL-3.0-or-later */
/* src/report/crash.c: what a race has in common with a crash. */
#include "report/crash.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "sample-race.h"

enum { SECOND = 1000000000 };

static void add_frame(struct crash *crash, const char *function,
		      const char *module)
{
	struct race_frame *frame = vec_append(&crash->frames);

	assert_non_null(frame);
	sample_set(&frame->function, function);
	sample_set(&frame->module, module);
}

/* Died in a function of the C library that `function' had called. */
static void sample_crash(struct crash *crash, const struct race *race,
			 const char *function)
{
	crash_init(crash);
	crash->signal = 11;
	crash->pid = race->pid;
	crash->time = race->last_time + SECOND;
	add_frame(crash, "strlen", "/usr/lib/libc.so.6");
	add_frame(crash, function, "/usr/bin/cache");
	add_frame(crash, "main", "/usr/bin/cache");
}

static void set_address(struct crash *crash, uint64_t address)
{
	crash->has_address = true;
	crash->address = address;
}

static struct crash_race compared(struct crash *crash, const struct race *race)
{
	struct crash_race got;

	assert_true(crash_add_race(crash, race));
	assert_int_equal(crash->races.count, 1);
	got = *(struct crash_race *)vec_at(&crash->races, 0);
	got.variable = NULL;
	crash_deinit(crash);
	return got;
}

static void only_the_raced_bytes_are_the_same_address(void **state)
{
	struct crash_race got;
	struct crash crash;
	struct race race;

	(void)state;
	sample_race(&race);
	for (int i = -1; i <= (int)race.size; i++) {
		sample_crash(&crash, &race, "other");
		set_address(&crash, race.address + (uint64_t)i);
		got = compared(&crash, &race);
		assert_int_equal(got.same_address,
				 i >= 0 && i < (int)race.size);
		assert_int_equal(got.before_ns, SECOND);
	}
	race_deinit(&race);
}

static void the_line_is_the_object(void **state)
{
	struct crash_race got;
	struct crash crash;
	struct race race;

	(void)state;
	sample_race(&race);
	sample_crash(&crash, &race, "other");
	set_address(&crash, race.address | 63);
	assert_true(compared(&crash, &race).same_object);
	sample_crash(&crash, &race, "other");
	set_address(&crash, (race.address | 63) + 1);
	got = compared(&crash, &race);
	assert_false(got.same_object);
	race_deinit(&race);
}

/* Elsewhere in memory of the same numbers. */
static void another_process_has_other_addresses(void **state)
{
	struct crash_race got;
	struct crash crash;
	struct race race;

	(void)state;
	sample_race(&race);
	sample_crash(&crash, &race, "other");
	crash.pid++;
	set_address(&crash, race.address);
	got = compared(&crash, &race);
	assert_false(got.same_address || got.same_object);
	race_deinit(&race);
}

static bool leads_to(struct race *race, uint64_t value, uint64_t address)
{
	struct crash crash;

	memset(race->before, 0xee, sizeof(race->before));
	memset(race->after, 0xee, sizeof(race->after));
	vec_clear(&race->values);
	memcpy(race->after, &value, sizeof(value));
	sample_crash(&crash, race, "other");
	set_address(&crash, address);
	return compared(&crash, race).same_pointer;
}

static void a_pointer_leads_to_its_members(void **state)
{
	struct race race;

	(void)state;
	sample_race(&race);
	race.size = 8;
	sample_set(&race.variable.type, "struct shard *");
	assert_true(leads_to(&race, 0, 0x10));
	assert_true(leads_to(&race, 0, 4095));
	assert_false(leads_to(&race, 0, 4096));
	assert_true(leads_to(&race, 0x7000, 0x7000));
	assert_false(leads_to(&race, 0x7000, 0x6fff));
	/* a number that was zero is no pointer */
	sample_set(&race.variable.type, "long");
	assert_false(leads_to(&race, 0, 0x10));
	sample_set(&race.variable.type, NULL);
	assert_true(leads_to(&race, 0, 0x10));
	race.size = 4;
	assert_false(leads_to(&race, 0, 0x10));
	race_deinit(&race);
}

static bool function_is_shared(const struct race *race, const char *function)
{
	struct crash crash;

	sample_crash(&crash, race, function);
	return compared(&crash, race).same_function;
}

static void functions_meet_below_the_library(void **state)
{
	struct race race;

	(void)state;
	sample_race(&race);
	/* the accessing function, and one that had called it */
	assert_true(function_is_shared(&race, "shard_add"));
	assert_true(function_is_shared(&race, "filler"));
	assert_false(function_is_shared(&race, "shard_ad"));
	race_deinit(&race);
}

/* All stacks of the first thread end there. */
static void main_alone_says_nothing(void **state)
{
	struct race race;

	(void)state;
	sample_race(&race);
	sample_set(&((struct race_frame *)vec_at(&race.sides[0].frames, 1))
			    ->function,
		   "main");
	assert_false(function_is_shared(&race, "other"));
	sample_set(&((struct race_frame *)vec_at(&race.sides[0].frames, 0))
			    ->function,
		   "main");
	assert_true(function_is_shared(&race, "main"));
	race_deinit(&race);
}

static void the_nearest_comes_first(void **state)
{
	static const int before[] = { 3, 1, 2 };
	struct crash crash;
	struct race race;

	(void)state;
	sample_race(&race);
	sample_crash(&crash, &race, "other");
	crash.time = race.time;
	for (unsigned int i = 0; i < 3; i++) {
		race.id = i + 1;
		race.last_time = crash.time - (uint64_t)before[i] * SECOND;
		assert_true(crash_add_race(&crash, &race));
	}
	crash_sort_races(&crash);
	for (unsigned int i = 0; i < 3; i++) {
		const struct crash_race *got = vec_at(&crash.races, i);

		assert_int_equal(got->before_ns, (i + 1) * (uint64_t)SECOND);
		assert_string_equal(got->variable, "shards[3].used");
	}
	crash_deinit(&crash);
	race_deinit(&race);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(only_the_raced_bytes_are_the_same_address),
		cmocka_unit_test(the_line_is_the_object),
		cmocka_unit_test(another_process_has_other_addresses),
		cmocka_unit_test(a_pointer_leads_to_its_members),
		cmocka_unit_test(functions_meet_below_the_library),
		cmocka_unit_test(main_alone_says_nothing),
		cmocka_unit_test(the_nearest_comes_first),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
