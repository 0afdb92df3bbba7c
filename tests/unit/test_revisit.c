/* SPDX-License-Identifier: GPL-3.0-or-later */
/* src/sampling/revisit.c: which locations of races have more stalls, and when. */
#include "sampling/revisit.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "report/race.h"

enum { NONE = UINT32_MAX };

static struct race races[3];
static const uint32_t places[3][2] = { { 10, 11 }, { 20, 21 }, { 30, 31 } };

/* All but one, which is the context; as often as its replays say. */
static uint32_t most_of(const void *context, const struct race *race)
{
	return race == context ? 0
			       : REVISIT_MOST + (uint32_t)race->replay.still;
}

static uint32_t draw(struct revisits *revisits, const struct race *unwanted)
{
	return revisits_draw(revisits, most_of, unwanted);
}

/* As many stalls elsewhere as a draw wants. */
static uint32_t draw_next(struct revisits *revisits,
			  const struct race *unwanted)
{
	for (int i = 0; i < REVISIT_EACH - 1; i++) {
		revisits_stalled(revisits);
		assert_int_equal(draw(revisits, unwanted), NONE);
	}
	revisits_stalled(revisits);
	return draw(revisits, unwanted);
}

static void add(struct revisits *revisits, int race)
{
	assert_true(revisits_add(revisits, &races[race], places[race]));
}

static void test_turns(void **state)
{
	static const uint32_t order[] = { 10, 20, 11, 21, 10, 20 };
	struct revisits revisits = REVISITS_INIT;

	(void)state;
	assert_int_equal(draw_next(&revisits, NULL), NONE);
	add(&revisits, 0);
	add(&revisits, 1);
	add(&revisits, 0); /* known */
	assert_int_equal(draw(&revisits, NULL), order[0]);
	for (size_t i = 1; i < sizeof(order) / sizeof(order[0]); i++)
		assert_int_equal(draw_next(&revisits, NULL), order[i]);
	revisits_deinit(&revisits);
}

/* One race by two pairs of instructions. */
static void test_pairs_of_a_race(void **state)
{
	struct revisits revisits = REVISITS_INIT;

	(void)state;
	assert_true(revisits_add(&revisits, &races[0], places[0]));
	assert_true(revisits_add(&revisits, &races[0], places[1]));
	assert_int_equal(draw_next(&revisits, NULL), places[0][0]);
	assert_int_equal(draw_next(&revisits, NULL), places[1][0]);
	revisits_deinit(&revisits);
}

static void test_unwanted(void **state)
{
	struct revisits revisits = REVISITS_INIT;

	(void)state;
	for (int i = 0; i < 3; i++)
		add(&revisits, i);
	assert_int_equal(draw_next(&revisits, NULL), 10);
	/* its turn is the next one's, now and later */
	assert_int_equal(draw_next(&revisits, &races[1]), 30);
	assert_int_equal(draw_next(&revisits, NULL), 11);
	assert_int_equal(draw_next(&revisits, NULL), 31);
	assert_int_equal(draw_next(&revisits, &races[0]), 30);
	/* what cannot be paid out is saved */
	assert_int_equal(draw_next(&revisits, &races[2]), NONE);
	add(&revisits, 1);
	assert_int_equal(draw(&revisits, NULL), 20);
	revisits_deinit(&revisits);
}

/* What is saved is no more than two draws. */
static void test_saved(void **state)
{
	struct revisits revisits = REVISITS_INIT;

	(void)state;
	for (int i = 0; i < 10 * REVISIT_EACH; i++)
		revisits_stalled(&revisits);
	add(&revisits, 0);
	assert_int_equal(draw(&revisits, NULL), 10);
	assert_int_equal(draw(&revisits, NULL), 11);
	assert_int_equal(draw(&revisits, NULL), NONE);
	revisits_deinit(&revisits);
}

/* A race that is wanted for ever takes its share of stalls, and no more. */
static void test_most(void **state)
{
	struct revisits revisits = REVISITS_INIT;

	(void)state;
	add(&revisits, 0);
	for (int i = 0; i < REVISIT_MOST; i++)
		assert_int_not_equal(draw_next(&revisits, NULL), NONE);
	add(&revisits, 0);
	assert_int_equal(draw_next(&revisits, NULL), NONE);
	add(&revisits, 1);
	assert_int_equal(draw(&revisits, NULL), 20);
	for (int i = 1; i < REVISIT_MOST; i++)
		assert_int_not_equal(draw_next(&revisits, NULL), NONE);
	assert_int_equal(draw_next(&revisits, NULL), NONE);
	revisits_deinit(&revisits);
}

/* The caller may allow more while the race is wanted. */
static void test_more(void **state)
{
	struct revisits revisits = REVISITS_INIT;

	(void)state;
	add(&revisits, 2);
	for (int i = 0; i < REVISIT_MOST; i++)
		assert_int_not_equal(draw_next(&revisits, NULL), NONE);
	assert_int_equal(draw_next(&revisits, NULL), NONE);
	races[2].replay.still = 3;
	/* what was saved meanwhile is two draws */
	assert_int_not_equal(draw(&revisits, NULL), NONE);
	assert_int_not_equal(draw_next(&revisits, NULL), NONE);
	assert_int_not_equal(draw_next(&revisits, NULL), NONE);
	assert_int_equal(draw_next(&revisits, NULL), NONE);
	races[2].replay.still = 0;
	revisits_deinit(&revisits);
}

static void test_room(void **state)
{
	struct revisits revisits = REVISITS_INIT;

	(void)state;
	for (uint32_t i = 0; i < REVISIT_PAIRS + 1; i++) {
		const uint32_t sites[2] = { i, i };

		assert_true(revisits_add(&revisits, &races[0], sites));
	}
	for (uint32_t i = 0; i < REVISIT_PAIRS; i++)
		assert_int_equal(draw_next(&revisits, NULL), i);
	assert_int_equal(draw_next(&revisits, NULL), 0);
	revisits_deinit(&revisits);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_turns),
		cmocka_unit_test(test_pairs_of_a_race),
		cmocka_unit_test(test_unwanted),
		cmocka_unit_test(test_saved),
		cmocka_unit_test(test_most),
		cmocka_unit_test(test_more),
		cmocka_unit_test(test_room),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
