/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * src/judge/sides.c: which race is known by the one side that was seen. Races
 * are of two functions, "ab"; of a race "a" only one side was seen.
 */
#include "judge/sides.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/error.h"
#include "report/record.h"
#include "report/render.h"
#include "sample-race.h"

/* Its function at its place: of "a" and "b". */
static void set_function(struct race_side *side, char letter)
{
	struct race_frame *frame = vec_at(&side->frames, 0);

	sample_set(&frame->function, (char[]){ letter, '\0' });
	frame->offset = (uint64_t)letter;
}

static void drop_side(struct race *race)
{
	struct race other;

	race_init(&other);
	sample_hide_side(race, &other.sides[1]);
	race_deinit(&other);
}

static void make_race(struct race *race, const char *functions)
{
	sample_race(race);
	set_function(&race->sides[0], functions[0]);
	if (functions[1])
		set_function(&race->sides[1], functions[1]);
	else
		drop_side(race);
	assert_true(race_fingerprint(race));
}

static void set_variable(struct race *race, const char *name)
{
	sample_set(&race->variable.name, name);
	sample_set(&race->variable.symbol, name);
	assert_true(race_fingerprint(race));
}

static void strip(struct race *race)
{
	for (int i = 0; i < 2; i++) {
		for (size_t j = 0; j < race->sides[i].frames.count; j++) {
			struct race_frame *frame =
				vec_at(&race->sides[i].frames, j);

			sample_set(&frame->function, NULL);
		}
	}
	set_variable(race, NULL);
}

static void add(struct sides *sides, const char *functions)
{
	struct race race;

	make_race(&race, functions);
	assert_null(sides_add(sides, &race));
	race_deinit(&race);
}

static bool knows(struct sides *sides, const char *functions)
{
	struct race race;
	bool known;

	make_race(&race, functions);
	known = sides_know(sides, &race);
	assert_int_equal(sides_know(sides, &race), known);
	race_deinit(&race);
	return known;
}

/* Of a set of one race. */
static bool knows_race(const struct race *old, const struct race *now)
{
	struct sides sides;
	bool known;

	sides_init(&sides);
	assert_null(sides_add(&sides, old));
	known = sides_know(&sides, now);
	sides_deinit(&sides);
	return known;
}

static void one_side_is_of_any_race_that_has_it(void **state)
{
	struct sides sides;

	(void)state;
	sides_init(&sides);
	add(&sides, "ab");
	add(&sides, "ac");
	assert_true(knows(&sides, "a"));
	assert_true(knows(&sides, "b"));
	assert_true(knows(&sides, "c"));
	assert_false(knows(&sides, "d"));
	/* neither is a matter of sides */
	assert_false(knows(&sides, "ad"));
	assert_false(knows(&sides, "bc"));
	sides_deinit(&sides);
}

static void a_record_with_one_side_stands_for_one_race(void **state)
{
	struct sides sides;

	(void)state;
	sides_init(&sides);
	add(&sides, "a");
	assert_false(knows(&sides, "bc"));
	assert_true(knows(&sides, "ba"));
	assert_false(knows(&sides, "ac"));
	/* whichever was stalled: the same race */
	assert_true(knows(&sides, "ab"));
	sides_deinit(&sides);
}

static void both_sides_of_a_race_are_taken_by_it(void **state)
{
	struct sides sides;

	(void)state;
	sides_init(&sides);
	add(&sides, "a");
	add(&sides, "b");
	assert_true(knows(&sides, "ab"));
	assert_false(knows(&sides, "ac"));
	assert_false(knows(&sides, "bc"));
	sides_deinit(&sides);
}

static void it_stands_for_none_beside_the_whole(void **state)
{
	struct sides sides;

	(void)state;
	for (int i = 0; i < 2; i++) {
		sides_init(&sides);
		add(&sides, i ? "a" : "ab");
		add(&sides, i ? "ab" : "a");
		assert_false(knows(&sides, "ac"));
		assert_true(knows(&sides, "a"));
		sides_deinit(&sides);
	}
}

static void suppressed_races_take_nothing(void **state)
{
	struct sides sides;
	struct race race;

	(void)state;
	sides_init(&sides);
	add(&sides, "a");
	make_race(&race, "ac");
	sample_set(&race.suppressed.rule, "race:c");
	assert_true(sides_know(&sides, &race));
	assert_true(knows(&sides, "ab"));
	race_deinit(&race);
	sides_deinit(&sides);
}

static void the_variable_is_part_of_it(void **state)
{
	struct race half, whole;

	(void)state;
	make_race(&half, "a");
	make_race(&whole, "ab");
	set_variable(&whole, "other");
	assert_false(knows_race(&half, &whole));
	assert_false(knows_race(&whole, &half));
	race_deinit(&half);
	race_deinit(&whole);
}

/* A build without symbols; and another build, with them. */
static void names_or_code_tell_the_side(void **state)
{
	struct race half, whole;

	(void)state;
	make_race(&half, "a");
	make_race(&whole, "ab");
	strip(&half);
	assert_true(knows_race(&half, &whole));
	assert_true(knows_race(&whole, &half));
	((struct race_frame *)vec_at(&half.sides[0].frames, 0))->offset += 64;
	assert_false(knows_race(&half, &whole));
	assert_false(knows_race(&whole, &half));
	race_deinit(&half);
	make_race(&half, "a");
	((struct race_frame *)vec_at(&half.sides[0].frames, 0))->offset += 64;
	assert_true(knows_race(&half, &whole));
	race_deinit(&half);
	race_deinit(&whole);
}

/* Callers count for a field, unless the side has no names. */
static void the_other_side_has_no_part_in_it(void **state)
{
	struct race half, whole;
	struct race_frame *frame;

	(void)state;
	make_race(&half, "a");
	make_race(&whole, "ab");
	half.variable.region = whole.variable.region = REGION_HEAP;
	frame = vec_at(&whole.sides[1].frames, 0);
	sample_set(&frame->function, NULL);
	frame = vec_at(&half.sides[0].frames, 0);
	frame->offset += 64;
	assert_true(knows_race(&half, &whole));
	assert_true(knows_race(&whole, &half));
	race_deinit(&half);
	race_deinit(&whole);
}

static void synchronization_is_no_race(void **state)
{
	struct race half, whole;

	(void)state;
	make_race(&half, "a");
	make_race(&whole, "ab");
	whole.verdict = VERDICT_SYNC;
	assert_false(knows_race(&half, &whole));
	assert_false(knows_race(&whole, &half));
	race_deinit(&half);
	race_deinit(&whole);
}

static void a_side_of_which_nothing_is_told_is_none(void **state)
{
	struct race half, whole;

	(void)state;
	make_race(&whole, "ab");
	sample_unknown(&half);
	sample_set(&half.variable.name, "shards[3].used");
	sample_set(&half.variable.symbol, "shards");
	half.variable.region = REGION_GLOBAL;
	assert_false(knows_race(&half, &whole));
	assert_false(knows_race(&whole, &half));
	race_deinit(&half);
	race_deinit(&whole);
}

/* What is read from a report is known as what was seen. */
static void a_report_keeps_what_tells_a_side(void **state)
{
	struct renderer json = { .ops = &render_json };
	struct report_record record;
	struct race half, whole;
	char *line = NULL;
	size_t size = 0;

	(void)state;
	make_race(&half, "a");
	make_race(&whole, "ab");
	json.out = open_memstream(&line, &size);
	assert_non_null(json.out);
	assert_null(render_json.race(&json, &half));
	fclose(json.out);
	report_record_init(&record);
	assert_null(report_record_parse(line, size, &record));
	assert_int_equal(record.type, REPORT_RACE);
	assert_true(knows_race(&record.race, &whole));
	assert_true(knows_race(&whole, &record.race));
	report_record_deinit(&record);
	free(line);
	race_deinit(&half);
	race_deinit(&whole);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_side_is_of_any_race_that_has_it),
		cmocka_unit_test(a_record_with_one_side_stands_for_one_race),
		cmocka_unit_test(both_sides_of_a_race_are_taken_by_it),
		cmocka_unit_test(it_stands_for_none_beside_the_whole),
		cmocka_unit_test(suppressed_races_take_nothing),
		cmocka_unit_test(the_variable_is_part_of_it),
		cmocka_unit_test(names_or_code_tell_the_side),
		cmocka_unit_test(the_other_side_has_no_part_in_it),
		cmocka_unit_test(synchronization_is_no_race),
		cmocka_unit_test(a_side_of_which_nothing_is_told_is_none),
		cmocka_unit_test(a_report_keeps_what_tells_a_side),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
