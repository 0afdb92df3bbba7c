/* SPDX-License-Identifier: GPL-3.0-or-later */
/* src/provoke/attempts.c: which orders, and how long the holds are. */
#include "provoke/attempts.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static const uint64_t MS = 1000 * 1000;

static void both_orders_are_ab_and_ba(void **state)
{
	(void)state;
	assert_true(attempts_want(ATTEMPTS_BOTH, WIRE_ORDER_AB));
	assert_true(attempts_want(ATTEMPTS_BOTH, WIRE_ORDER_BA));
}

static void one_order_is_not_the_other(void **state)
{
	(void)state;
	assert_true(attempts_want(ATTEMPTS_AB, WIRE_ORDER_AB));
	assert_false(attempts_want(ATTEMPTS_AB, WIRE_ORDER_BA));
	assert_false(attempts_want(ATTEMPTS_BA, WIRE_ORDER_AB));
	assert_true(attempts_want(ATTEMPTS_BA, WIRE_ORDER_BA));
}

static void the_first_hold_is_longer_than_the_race_took(void **state)
{
	struct attempts attempts;

	(void)state;
	attempts_begin(&attempts, 3 * MS);
	assert_int_equal(attempts.hold_ns, 56 * MS);
	attempts_begin(&attempts, UINT64_MAX);
	assert_int_equal(attempts.hold_ns, 1000 * MS);
}

static void holds_grow_tenfold_up_to_a_second(void **state)
{
	struct attempts attempts;

	(void)state;
	attempts_begin(&attempts, 0);
	assert_int_equal(attempts.hold_ns, 50 * MS);
	attempts_ran(&attempts, false);
	assert_int_equal(attempts.hold_ns, 500 * MS);
	attempts_ran(&attempts, false);
	assert_int_equal(attempts.hold_ns, 1000 * MS);
	attempts_ran(&attempts, false);
	assert_int_equal(attempts.hold_ns, 1000 * MS);
}

static void a_hold_that_was_long_enough_stays(void **state)
{
	struct attempts attempts;

	(void)state;
	attempts_begin(&attempts, 0);
	attempts_ran(&attempts, false);
	attempts_ran(&attempts, true);
	assert_int_equal(attempts.hold_ns, 500 * MS);
}

static void another_instruction_counts_after_two_runs_in_vain(void **state)
{
	struct attempts attempts;

	(void)state;
	attempts_begin(&attempts, 0);
	attempts_ran(&attempts, false);
	assert_false(attempts_by_watch(&attempts));
	attempts_ran(&attempts, false);
	assert_true(attempts_by_watch(&attempts));
	attempts_ran(&attempts, true);
	assert_false(attempts_by_watch(&attempts));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(both_orders_are_ab_and_ba),
		cmocka_unit_test(one_order_is_not_the_other),
		cmocka_unit_test(the_first_hold_is_longer_than_the_race_took),
		cmocka_unit_test(holds_grow_tenfold_up_to_a_second),
		cmocka_unit_test(a_hold_that_was_long_enough_stays),
		cmocka_unit_test(
			another_instruction_counts_after_two_runs_in_vain),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
