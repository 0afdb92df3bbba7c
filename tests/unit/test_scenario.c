/* SPDX-License-Identifier: GPL-3.0-or-later */
/* src/provoke/scenario.c: REPORT#ID, and the two instructions of the race. */
#include "provoke/scenario.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/error.h"
#include "base/strbuf.h"
#include "report/field.h"
#include "sample-race.h"
#include "sampling/where.h"

static void a_word_is_a_path_and_a_number(void **state)
{
	char *path;
	uint64_t id;

	(void)state;
	assert_null(scenario_parse("out.jsonl#12", &path, &id));
	assert_string_equal(path, "out.jsonl");
	assert_int_equal(id, 12);
	free(path);
	/* the last one counts */
	assert_null(scenario_parse("a#1/b#2", &path, &id));
	assert_string_equal(path, "a#1/b");
	assert_int_equal(id, 2);
	free(path);
}

static void other_words_are_errors_of_usage(void **state)
{
	static const char *const words[] = {
		"",
		"out.jsonl",
		"out.jsonl#",
		"out.jsonl#0",
		"#1",
		"out#1x",
		"out#-1",
		"out# 1",
		"out#x",
		"out#+1",
		"out#99999999999999999999",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		char *path;
		uint64_t id;
		struct error *err = scenario_parse(words[i], &path, &id);

		assert_non_null(err);
		assert_int_equal(err->kind, ERROR_USAGE);
		assert_non_null(strstr(error_message(err), "REPORT#ID"));
		error_free(err);
	}
}

/* A report with the race, as `number', in a file; "" for none. */
struct saved {
	char path[64], word[80];
};

static void save(struct saved *saved, struct race *race, uint64_t number)
{
	FILE *file;
	int fd;

	strcpy(saved->path, "/tmp/test_scenario.XXXXXX");
	fd = mkstemp(saved->path);
	assert_true(fd >= 0);
	file = fdopen(fd, "w");
	assert_non_null(file);
	if (race)
		assert_null(fields_write(&race_fields, race, file));
	fclose(file);
	snprintf(saved->word, sizeof(saved->word), "%s#%d", saved->path,
		 (int)number);
}

static void assert_refused(struct race *race, uint64_t number,
			   const char *wanted)
{
	struct scenario scenario;
	struct saved saved;
	struct error *err;

	save(&saved, race, number);
	err = scenario_load(saved.word, &scenario);
	assert_non_null(err);
	assert_int_equal(err->kind, ERROR_OTHER);
	if (!strstr(error_message(err), wanted))
		fail_msg("%s", error_message(err));
	error_free(err);
	scenario_deinit(&scenario);
	unlink(saved.path);
}

static void both_sides_are_instructions_of_modules(void **state)
{
	struct scenario scenario;
	struct saved saved;
	struct race race;

	(void)state;
	sample_race(&race);
	race.id = 3;
	save(&saved, &race, 3);
	assert_null(scenario_load(saved.word, &scenario));
	assert_int_equal(scenario.places.count, 2);
	for (int i = 0; i < 2; i++) {
		const struct race_frame *frame =
			vec_at(&race.sides[i].frames, 0);
		const struct where *where = vec_at(&scenario.places, i);

		assert_int_equal(where->kind, WHERE_OFFSET);
		assert_int_equal(where->offset, frame->offset);
		assert_string_equal(where->name, race_frame_module(frame));
	}
	scenario_deinit(&scenario);
	unlink(saved.path);
	race_deinit(&race);
}

static void a_race_that_is_not_there_is_told(void **state)
{
	struct race race;

	(void)state;
	sample_race(&race);
	race.id = 3;
	assert_refused(&race, 4, "has no race #4: its last is #3");
	assert_refused(NULL, 1, "has no race");
	race_deinit(&race);
}

static void an_access_of_the_kernel_is_told(void **state)
{
	struct race race;

	(void)state;
	sample_race(&race);
	race.id = 1;
	sample_set(&race.sides[1].syscall, "read");
	assert_refused(&race, 1, "side b the kernel made the access");
	race_deinit(&race);
}

static void a_side_that_nobody_saw_is_told(void **state)
{
	struct race race;

	(void)state;
	sample_race(&race);
	race.id = 1;
	race.sides[1].role = RACE_UNKNOWN;
	race_frames_clear(&race.sides[1].frames);
	assert_refused(&race, 1, "side b nobody saw who made the access");
	race_deinit(&race);
}

static void another_build_is_told(void **state)
{
	struct scenario scenario;
	struct saved saved;
	struct race race;
	struct error *err;

	(void)state;
	sample_race(&race);
	race.id = 1;
	for (int i = 0; i < 2; i++) {
		struct race_frame *frame = vec_at(&race.sides[i].frames, 0);

		sample_set(&frame->module, "/proc/self/exe");
		sample_set(&frame->build_id, "00ff");
	}
	save(&saved, &race, 1);
	assert_null(scenario_load(saved.word, &scenario));
	err = scenario_check_builds(&scenario, NULL);
	assert_non_null(err);
	assert_non_null(
		strstr(error_message(err), "/proc/self/exe is another build"));
	error_free(err);
	scenario_deinit(&scenario);
	unlink(saved.path);
	race_deinit(&race);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_word_is_a_path_and_a_number),
		cmocka_unit_test(other_words_are_errors_of_usage),
		cmocka_unit_test(both_sides_are_instructions_of_modules),
		cmocka_unit_test(a_race_that_is_not_there_is_told),
		cmocka_unit_test(an_access_of_the_kernel_is_told),
		cmocka_unit_test(a_side_that_nobody_saw_is_told),
		cmocka_unit_test(another_build_is_told),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
