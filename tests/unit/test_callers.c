/* SPDX-License-Identifier: GPL-3.0-or-later */
/* src/hunt/callers.c: one race by several callers. */
#include "hunt/callers.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/error.h"
#include "report/race.h"
#include "sample-race.h"

static void add_frame(struct race_side *side, const char *file, int line)
{
	struct race_frame *frame = sample_frame(side, "f", line, 16);

	sample_set(&frame->file, file);
}

/* f() at line 9 of s.c, called at these lines, which is called at line 90. */
static void make_race(struct race *race, int one, int two)
{
	race_init(race);
	for (int i = 0; i < 2; i++) {
		add_frame(&race->sides[i], "s.c", 9);
		add_frame(&race->sides[i], "s.c", i ? two : one);
		add_frame(&race->sides[i], "s.c", 90);
	}
}

static uint64_t hash_of(int one, int two)
{
	struct race race;
	uint64_t hash;

	make_race(&race, one, two);
	hash = callers_hash(&race);
	race_deinit(&race);
	return hash;
}

static void callers_count_in_any_order(void **state)
{
	(void)state;
	assert_int_equal(hash_of(20, 30), hash_of(20, 30));
	assert_int_equal(hash_of(20, 30), hash_of(30, 20));
	assert_int_not_equal(hash_of(20, 30), hash_of(20, 20));
	assert_int_not_equal(hash_of(20, 20), hash_of(30, 30));
}

static void callers_of_callers_do_not(void **state)
{
	struct race race;

	(void)state;
	make_race(&race, 20, 30);
	((struct race_frame *)vec_at(&race.sides[0].frames, 2))->line = 91;
	assert_int_equal(callers_hash(&race), hash_of(20, 30));
	race_deinit(&race);
}

/* The caller of what a library's header has is the first one of its own. */
static void a_wrapper_has_its_caller_and_the_next_one(void **state)
{
	uint64_t hashes[3];

	(void)state;
	for (int i = 0; i < 3; i++) {
		struct race race;

		race_init(&race);
		add_frame(&race.sides[0], "/usr/include/c++/12/vector", 9);
		add_frame(&race.sides[0], "s.c", 20);
		add_frame(&race.sides[0], "s.c", i == 1 ? 31 : 30);
		add_frame(&race.sides[0], "s.c", i == 2 ? 41 : 40);
		hashes[i] = callers_hash(&race);
		race_deinit(&race);
	}
	assert_int_not_equal(hashes[0], hashes[1]);
	assert_int_equal(hashes[0], hashes[2]);
}

static void without_lines_offsets_tell(void **state)
{
	struct race race;
	uint64_t hash;

	(void)state;
	race_init(&race);
	sample_frame(&race.sides[0], NULL, 0, 0x10);
	hash = callers_hash(&race);
	((struct race_frame *)vec_at(&race.sides[0].frames, 0))->offset++;
	assert_int_not_equal(callers_hash(&race), hash);
	race_deinit(&race);
	race_init(&race);
	assert_int_not_equal(callers_hash(&race), hash);
	race_deinit(&race);
}

static void each_is_kept_once_and_not_too_many(void **state)
{
	struct callers callers;
	struct race race;

	(void)state;
	callers_init(&callers);
	for (int i = 0; i < 2 * (CALLERS_MAX + 1); i++) {
		make_race(&race, 20, 30 + i / 2);
		assert_null(callers_add(&callers, &race));
		race_deinit(&race);
		assert_int_equal(callers.races.count,
				 i / 2 < CALLERS_MAX ? i / 2 + 1 : CALLERS_MAX);
	}
	/* they are copies */
	assert_string_equal(
		((struct race_frame *)vec_at(
			 &(*(struct race **)vec_at(&callers.races, 0))
				  ->sides[1]
				  .frames,
			 1))
			->file,
		"s.c");
	callers_deinit(&callers);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(callers_count_in_any_order),
		cmocka_unit_test(callers_of_callers_do_not),
		cmocka_unit_test(a_wrapper_has_its_caller_and_the_next_one),
		cmocka_unit_test(without_lines_offsets_tell),
		cmocka_unit_test(each_is_kept_once_and_not_too_many),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
