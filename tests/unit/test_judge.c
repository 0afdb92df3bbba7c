/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * src/judge/judge.c: what becomes of a race by its baseline, and of the baseline,
 * where one side of a race was seen.
 */
#include "judge/judge.h"

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
#include "report/race.h"
#include "sample-race.h"

static char folder[] = "/tmp/test_judge.XXXXXX";
static char path[64];

/* The sample, or that with a third function in the place of its second. */
static void make_race(struct race *race, bool both, const char *function)
{
	struct race_frame *frame;

	sample_race(race);
	frame = vec_at(&race->sides[1].frames, 0);
	if (function) {
		sample_set(&frame->function, function);
		frame->offset += 64;
	}
	if (!both) {
		struct race other;

		race_init(&other);
		sample_hide_side(race, &other.sides[1]);
		race_deinit(&other);
	}
	assert_true(race_fingerprint(race));
}

/* A run that meets the races and updates the baseline. */
static void meet(struct race *races[], size_t count)
{
	const char *name = path;
	struct judge_config config = {
		.baselines = VEC_INIT(const char *),
		.no_default_suppressions = true,
		.update_baseline = true,
	};
	struct vec all = VEC_INIT(struct race *);
	struct judge judge;

	assert_true(vec_push(&config.baselines, &name));
	assert_null(judge_init(&judge, &config));
	for (size_t i = 0; i < count; i++) {
		bool settled = false;

		assert_null(judge_race(&judge, races[i], &settled));
		assert_int_equal(settled, races[i]->status == STATUS_KNOWN);
		assert_true(vec_push(&all, &races[i]));
	}
	assert_null(judge_finish(&judge, &all));
	judge_deinit(&judge);
	vec_deinit(&all);
	vec_deinit(&config.baselines);
}

static int lines_of_races(void)
{
	char line[1 << 14];
	FILE *file = fopen(path, "r");
	int count = 0;

	assert_non_null(file);
	while (fgets(line, sizeof(line), file))
		count += strstr(line, "\"type\":\"race\"") != NULL;
	fclose(file);
	return count;
}

/* Then the baseline has it, and no longer stands for another one. */
static void the_other_side_is_added_to_the_baseline(void **state)
{
	struct race half, whole, other;

	(void)state;
	unlink(path);
	make_race(&half, false, NULL);
	make_race(&whole, true, NULL);
	make_race(&other, true, "other");
	meet((struct race *[]){ &half }, 1);
	assert_int_equal(half.status, STATUS_NEW);
	assert_int_equal(lines_of_races(), 1);
	meet((struct race *[]){ &half, &whole }, 2);
	assert_int_equal(half.status, STATUS_KNOWN);
	assert_int_equal(whole.status, STATUS_KNOWN);
	assert_int_equal(lines_of_races(), 2);
	meet((struct race *[]){ &other, &whole, &half }, 3);
	assert_int_equal(other.status, STATUS_NEW);
	assert_int_equal(whole.status, STATUS_KNOWN);
	assert_int_equal(half.status, STATUS_KNOWN);
	assert_int_equal(lines_of_races(), 3);
	race_deinit(&half);
	race_deinit(&whole);
	race_deinit(&other);
}

static void one_side_of_a_known_race_is_not_added(void **state)
{
	struct race half, whole;

	(void)state;
	unlink(path);
	make_race(&half, false, NULL);
	make_race(&whole, true, NULL);
	meet((struct race *[]){ &whole }, 1);
	assert_int_equal(whole.status, STATUS_NEW);
	meet((struct race *[]){ &half }, 1);
	assert_int_equal(half.status, STATUS_KNOWN);
	assert_int_equal(lines_of_races(), 1);
	race_deinit(&half);
	race_deinit(&whole);
}

static int make_folder(void **state)
{
	(void)state;
	if (!mkdtemp(folder))
		return -1;
	snprintf(path, sizeof(path), "%s/base.jsonl", folder);
	return 0;
}

static int remove_folder(void **state)
{
	(void)state;
	unlink(path);
	return rmdir(folder);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_other_side_is_added_to_the_baseline),
		cmocka_unit_test(one_side_of_a_known_race_is_not_added),
	};

	return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
