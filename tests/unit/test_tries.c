/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How often a side is tried, and with how long a hold. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "base/clock.h"
#include "hunt/tries.h"
#include "report/target-record.h"
#include "wire/hunt.h"

static const uint64_t ms = CLOCK_NS_PER_MS;

static struct tries tries;

static int setup(void **state)
{
	(void)state;
	tries_init(&tries, 0);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	tries_deinit(&tries);
	return 0;
}

static struct hunt_side side_of(uint64_t id, uint64_t hold_ns)
{
	return (struct hunt_side){ .id = id, .hold_ns = hold_ns };
}

/* What the run with that result makes of the side. */
static struct target_outcome ran(const struct hunt_side *side,
				 unsigned int result, uint64_t held_ns)
{
	struct target_outcome outcome = {
		.result = result, .runs = 1, .reached = 3, .hold_ns = held_ns
	};

	assert_true(tries_ended(&tries, side, &outcome));
	return outcome;
}

static void what_was_met_is_settled(void **state)
{
	const struct hunt_side side = side_of(1, 20 * ms);
	struct target_outcome outcome = ran(&side, TARGET_PROVOKED, 5 * ms);

	(void)state;
	assert_int_equal(outcome.result, TARGET_PROVOKED);
}

static void a_hold_in_vain_is_repeated_alone_and_for_longer(void **state)
{
	const struct hunt_side side = side_of(1, 20 * ms);

	(void)state;
	assert_false(tries_is_alone(&tries, &side));
	assert_false(tries_by_ptrace(&tries, &side));
	assert_int_equal(tries_hold_ns(&tries, &side), 20 * ms);
	assert_int_equal(ran(&side, TARGET_TIMEOUT, 20 * ms).result,
			 TARGET_PENDING);
	assert_true(tries_is_alone(&tries, &side));
	/* perf does not see a partner that blocks SIGTRAP */
	assert_true(tries_by_ptrace(&tries, &side));
	assert_int_equal(tries_hold_ns(&tries, &side), TRIES_LONGER * 20 * ms);
	assert_int_equal(ran(&side, TARGET_TIMEOUT, 80 * ms).result,
			 TARGET_TIMEOUT);
}

/* It has met one partner, and was held in vain for another. */
static void what_met_some_is_tried_again_and_stays_provoked(void **state)
{
	static const unsigned int ends[] = { TARGET_TIMEOUT, TARGET_ORDERED,
					     TARGET_UNREACHED };

	(void)state;
	for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) {
		const struct hunt_side side = side_of(i + 1, 20 * ms);
		struct target_outcome outcome = { .hold_ns = 20 * ms };

		strcpy(outcome.race, "met");
		assert_true(tries_ended(&tries, &side, &outcome));
		assert_int_equal(outcome.result, TARGET_PENDING);
		assert_true(tries_is_alone(&tries, &side));
		assert_int_equal(tries_hold_ns(&tries, &side),
				 TRIES_LONGER * 20 * ms);
		/* one that is not reached has one more try for that */
		outcome = ran(&side, ends[i], 80 * ms);
		if (ends[i] == TARGET_UNREACHED)
			outcome = ran(&side, ends[i], 0);
		assert_int_equal(outcome.result, TARGET_PROVOKED);
	}
}

/* Where the partner was near, it may have slipped through; or it came to be later. */
static void an_order_is_doubted_where_the_partner_was_near(void **state)
{
	const struct hunt_side near = side_of(1, 10 * ms + 1);
	const struct hunt_side free = side_of(4, 200 * ms);
	struct hunt_side far = side_of(2, 200 * ms);
	const struct hunt_side other = side_of(3, ms);

	(void)state;
	far.locked = true;
	assert_int_equal(ran(&free, TARGET_ORDERED, ms).result, TARGET_PENDING);
	assert_int_equal(ran(&free, TARGET_ORDERED, ms).result, TARGET_ORDERED);
	assert_int_equal(ran(&near, TARGET_ORDERED, ms).result, TARGET_PENDING);
	assert_true(tries_is_alone(&tries, &near));
	assert_int_equal(ran(&near, TARGET_ORDERED, ms).result, TARGET_ORDERED);
	assert_int_equal(ran(&far, TARGET_ORDERED, ms).result, TARGET_ORDERED);
	assert_false(tries_is_alone(&tries, &other));
}

static void what_is_not_reached_is_tried_twice(void **state)
{
	const struct hunt_side side = side_of(1, 20 * ms);
	(void)state;
	assert_false(tries_by_ptrace(&tries, &side));
	assert_int_equal(ran(&side, TARGET_UNREACHED, 0).result,
			 TARGET_PENDING);
	assert_true(tries_by_ptrace(&tries, &side));
	assert_int_equal(ran(&side, TARGET_UNREACHED, 0).result,
			 TARGET_UNREACHED);
}

/* No register was free: not for ever, and alone before that. */
static void what_is_never_tried_ends_too(void **state)
{
	const struct hunt_side side = side_of(1, 20 * ms);
	int runs = 0;

	(void)state;
	for (int i = 0; i < 4; i++) {
		assert_false(tries_is_alone(&tries, &side));
		assert_int_equal(ran(&side, TARGET_PENDING, 0).result,
				 TARGET_PENDING);
	}
	assert_true(tries_is_alone(&tries, &side));
	while (ran(&side, TARGET_PENDING, 0).result == TARGET_PENDING)
		assert_in_range(++runs, 1, 20);
	assert_int_equal(ran(&side, TARGET_PENDING, 0).result,
			 TARGET_UNREACHED);
}

/* A hold of 30 ms is for a partner that comes 10 ms later. */
static void holds_before_it_make_a_side_late(void **state)
{
	struct hunt_side side = side_of(1, 30 * ms);

	(void)state;
	side.locked = true;
	assert_false(tries_are_late(&side, 30 * ms, 0));
	assert_false(tries_are_late(&side, 30 * ms, 10 * ms));
	assert_true(tries_are_late(&side, 30 * ms, 10 * ms + 1));
}

/* It is tried again alone. */
static void what_is_tried_again_is_never_late(void **state)
{
	struct hunt_side side = side_of(1, 30 * ms);

	(void)state;
	assert_false(tries_are_late(&side, 30 * ms, 100 * ms));
	assert_int_equal(ran(&side, TARGET_ORDERED, ms).result, TARGET_PENDING);
	side = side_of(2, 12 * ms);
	side.locked = true;
	assert_false(tries_are_late(&side, 12 * ms, 100 * ms));
	assert_int_equal(ran(&side, TARGET_ORDERED, ms).result, TARGET_PENDING);
}

/* With others it would be late again and again. */
static void what_is_late_twice_is_tried_alone(void **state)
{
	const struct hunt_side side = side_of(1, 30 * ms);

	(void)state;
	assert_int_equal(ran(&side, TARGET_PENDING, ms).result, TARGET_PENDING);
	assert_false(tries_is_alone(&tries, &side));
	assert_int_equal(ran(&side, TARGET_PENDING, ms).result, TARGET_PENDING);
	assert_true(tries_is_alone(&tries, &side));
	assert_int_equal(tries_hold_ns(&tries, &side), 30 * ms);
}

static void runs_at_a_time_fit_the_processors(void **state)
{
	(void)state;
	/* two threads that compute, one, and one that mostly sleeps */
	assert_int_equal(tries_at_once(8, 2, 2000 * ms, 1000 * ms), 1);
	assert_int_equal(tries_at_once(8, 2, 1000 * ms, 1000 * ms), 2);
	assert_int_equal(tries_at_once(8, 4, 1000 * ms, 1000 * ms), 4);
	assert_int_equal(tries_at_once(8, 2, 10 * ms, 1000 * ms), 8);
	assert_int_equal(tries_at_once(1, 2, 10 * ms, 1000 * ms), 1);
	assert_int_equal(tries_at_once(8, 1, 9000 * ms, 1000 * ms), 1);
	assert_int_equal(tries_at_once(8, 2, 0, 0), 8);
}

/* So that a small hunt is spread, too. */
static void a_part_is_claimed_where_others_may_be(void **state)
{
	(void)state;
	assert_int_equal(tries_to_claim(1000, 2, false), 64);
	assert_int_equal(tries_to_claim(10, 2, false), 64);
	assert_int_equal(tries_to_claim(1000, 2, true), 64);
	assert_int_equal(tries_to_claim(40, 2, true), 10);
	assert_int_equal(tries_to_claim(3, 2, true), 1);
	assert_int_equal(tries_to_claim(0, 2, true), 0);
}

static void a_high_ordinal_is_counted_by_a_register(void **state)
{
	struct hunt_side side = side_of(1, 20 * ms);

	(void)state;
	side.ordinal = WIRE_HUNT_TEXT_ORDINAL;
	assert_false(tries_is_counted(&side));
	side.ordinal++;
	assert_true(tries_is_counted(&side));
}

static void the_user_says_how_long(void **state)
{
	const struct hunt_side side = side_of(1, 20 * ms);
	const struct hunt_side silent = side_of(2, 0);

	(void)state;
	assert_int_equal(tries_hold_ns(&tries, &silent), 50 * ms);
	tries_deinit(&tries);
	tries_init(&tries, 7 * ms);
	assert_int_equal(tries_hold_ns(&tries, &side), 7 * ms);
	assert_int_equal(tries_hold_ns(&tries, &silent), 7 * ms);
	/* a second one is not longer than is of use, unless the first is */
	tries_deinit(&tries);
	tries_init(&tries, 1000 * ms);
	ran(&side, TARGET_TIMEOUT, 1000 * ms);
	assert_int_equal(tries_hold_ns(&tries, &side), 2000 * ms);
	tries_deinit(&tries);
	tries_init(&tries, 5000 * ms);
	ran(&side, TARGET_TIMEOUT, 5000 * ms);
	assert_int_equal(tries_hold_ns(&tries, &side), 5000 * ms);
}

int main(void)
{
#define TRY(test) cmocka_unit_test_setup_teardown(test, setup, teardown)
	const struct CMUnitTest tests[] = {
		TRY(what_was_met_is_settled),
		TRY(a_hold_in_vain_is_repeated_alone_and_for_longer),
		TRY(what_met_some_is_tried_again_and_stays_provoked),
		TRY(an_order_is_doubted_where_the_partner_was_near),
		TRY(what_is_not_reached_is_tried_twice),
		TRY(what_is_late_twice_is_tried_alone),
		TRY(runs_at_a_time_fit_the_processors),
		TRY(what_is_never_tried_ends_too),
		TRY(holds_before_it_make_a_side_late),
		TRY(what_is_tried_again_is_never_late),
		TRY(a_part_is_claimed_where_others_may_be),
		TRY(a_high_ordinal_is_counted_by_a_register),
		TRY(the_user_says_how_long),
	};

	return cmocka_run_group_tests_name("tries", tests, NULL, NULL);
}
