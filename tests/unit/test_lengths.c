/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Lengths of stalls, learned from what they came to.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/clock.h"
#include "schedule/lengths.h"

#define US CLOCK_NS_PER_US
#define MAX CLOCK_NS_PER_MS

static void what_is_unknown_gets_the_longest(void **state)
{
	struct lengths lengths = { .noted = 0 };

	(void)state;
	assert_int_equal(lengths_of(&lengths, 1, MAX, false), MAX);
	assert_int_equal(lengths_of(&lengths, 1, MAX, true), MAX);
	lengths_note(&lengths, 2, true, 50 * US);
	assert_int_equal(lengths_of(&lengths, 1, MAX, true), MAX);
	lengths_deinit(&lengths);
}

static void conflicts_that_come_soon_make_it_short(void **state)
{
	struct lengths lengths = { .noted = 0 };

	(void)state;
	for (int i = 0; i < 20; i++)
		lengths_note(&lengths, 1, true, i % 2 ? 40 * US : 60 * US);
	assert_in_range(lengths_of(&lengths, 1, MAX, false), 160 * US,
			240 * US);
	assert_int_equal(lengths_of(&lengths, 1, MAX, false),
			 lengths_of(&lengths, 1, MAX, true));
	/* none is shorter than an eighth, nor than watching takes */
	lengths_note(&lengths, 2, true, US);
	assert_int_equal(lengths_of(&lengths, 2, MAX, false), MAX / 8);
	assert_int_equal(lengths_of(&lengths, 2, 100 * US, false), 20 * US);
	assert_int_equal(lengths_of(&lengths, 2, 5 * US, false), 5 * US);
	lengths_deinit(&lengths);
}

static void conflicts_that_come_late_keep_it_long(void **state)
{
	struct lengths lengths = { .noted = 0 };

	(void)state;
	lengths_note(&lengths, 1, true, 900 * US);
	assert_int_equal(lengths_of(&lengths, 1, MAX, true), MAX);
	lengths_note(&lengths, 2, true, 100 * CLOCK_NS_PER_S);
	assert_int_equal(lengths_of(&lengths, 2, MAX, true), MAX);
	lengths_deinit(&lengths);
}

/* They came soon, and come no more: another partner may be slower. */
static void conflicts_of_the_past_are_forgotten(void **state)
{
	struct lengths lengths = { .noted = 0 };

	(void)state;
	lengths_note(&lengths, 1, true, 50 * US);
	for (int i = 0; i < 16; i++) {
		assert_true(lengths_of(&lengths, 1, MAX, false) < MAX);
		lengths_note(&lengths, 1, false, MAX / 2);
	}
	assert_int_equal(lengths_of(&lengths, 1, MAX, false), MAX);
	lengths_note(&lengths, 1, true, 50 * US);
	assert_int_equal(lengths_of(&lengths, 1, MAX, false), 200 * US);
	lengths_deinit(&lengths);
}

static void quiet_ones_are_short_only_where_time_is_scarce(void **state)
{
	struct lengths lengths = { .noted = 0 };
	uint64_t last = MAX;

	(void)state;
	for (int i = 0; i < 100; i++) {
		uint64_t length;

		lengths_note(&lengths, 1, false, MAX / 2);
		length = lengths_of(&lengths, 1, MAX, true);
		assert_true(length <= last);
		last = length;
		assert_int_equal(lengths_of(&lengths, 1, MAX, false), MAX);
	}
	assert_int_equal(last, MAX / 8);
	/* a few say nothing yet */
	for (int i = 0; i < 7; i++)
		lengths_note(&lengths, 2, false, MAX / 2);
	assert_int_equal(lengths_of(&lengths, 2, MAX, true), MAX);
	lengths_deinit(&lengths);
}

static void memory_is_bounded_and_the_oldest_goes(void **state)
{
	struct lengths lengths = { .noted = 0 };

	(void)state;
	for (uint64_t i = 1; i <= LENGTHS_MAX + 1000; i++)
		lengths_note(&lengths, i, true, 50 * US);
	assert_in_range(lengths.sites.count, LENGTHS_MAX / 4, LENGTHS_MAX);
	/* of what is left, most is of the later half */
	assert_true(lengths_of(&lengths, LENGTHS_MAX, MAX, false) < MAX);
	assert_int_equal(lengths_of(&lengths, 1, MAX, false), MAX);
	lengths_deinit(&lengths);
}

/* All of one age: the half goes all the same, not nothing and not all. */
static void as_old_as_each_other_half_of_them_go(void **state)
{
	struct lengths lengths = { .noted = 0 };

	(void)state;
	for (uint64_t i = 1; i <= LENGTHS_MAX; i++) {
		lengths_note(&lengths, i, true, 50 * US);
		lengths.noted = 0;
	}
	lengths_note(&lengths, LENGTHS_MAX + 1, true, 50 * US);
	assert_in_range(lengths.sites.count, LENGTHS_MAX / 4,
			3 * LENGTHS_MAX / 4);
	lengths_deinit(&lengths);
}

/*
 * A program that is over after two milliseconds has several stalls, and one that
 * goes on has those that a partner of some milliseconds needs.
 */
static void a_young_program_has_short_ones(void **state)
{
	uint64_t age = 0;
	int stalls = 0;

	(void)state;
	for (; age < 2 * CLOCK_NS_PER_MS; stalls++)
		age += lengths_young(age);
	assert_in_range(stalls, 16, 32);
	assert_in_range(lengths_young(0), 20 * US, 60 * US);
	assert_in_range(lengths_young(32 * CLOCK_NS_PER_MS), 4 * MAX, 8 * MAX);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_unknown_gets_the_longest),
		cmocka_unit_test(conflicts_that_come_soon_make_it_short),
		cmocka_unit_test(conflicts_that_come_late_keep_it_long),
		cmocka_unit_test(conflicts_of_the_past_are_forgotten),
		cmocka_unit_test(
			quiet_ones_are_short_only_where_time_is_scarce),
		cmocka_unit_test(memory_is_bounded_and_the_oldest_goes),
		cmocka_unit_test(as_old_as_each_other_half_of_them_go),
		cmocka_unit_test(a_young_program_has_short_ones),
	};

	return cmocka_run_group_tests_name("lengths", tests, NULL, NULL);
}
