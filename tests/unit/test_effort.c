/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Presets, and what is given in their place.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/clock.h"
#include "schedule/effort.h"

static struct effort_options none(void)
{
	return (struct effort_options){
		.effort = EFFORT_NONE,
		.rate = EFFORT_RATE_NONE,
		.stall_ns = EFFORT_STALL_NONE,
		.overhead_pct = EFFORT_OVERHEAD_NONE,
	};
}

static void each_preset_spends_more_than_the_one_before(void **state)
{
	struct effort_options options = none();

	(void)state;
	for (int i = EFFORT_NORMAL; i <= EFFORT_HIGH; i++) {
		struct effort_plan less =
			effort_plan(&options, (enum effort)(i - 1));
		struct effort_plan more = effort_plan(&options, (enum effort)i);

		assert_true(more.params.rate > less.params.rate);
		assert_true(more.params.share > less.params.share);
		assert_true(more.params.stall_max_ns >=
			    less.params.stall_max_ns);
		assert_true(more.params.rest <= less.params.rest);
	}
}

static void a_budget_bounds_what_is_armed_once(void **state)
{
	struct effort_options options = none();
	uint32_t normal = effort_plan(&options, EFFORT_NORMAL).once_max;
	uint32_t entries = effort_plan(&options, EFFORT_LOW).entries_max;

	(void)state;
	assert_true(normal > 0);
	assert_true(effort_plan(&options, EFFORT_HIGH).once_max > normal);
	assert_int_equal(effort_plan(&options, EFFORT_LOW).once_max, 0);
	assert_true(entries > 0);
	options.overhead_pct = 1;
	assert_int_equal(effort_plan(&options, EFFORT_LOW).entries_max,
			 entries / 2);
	options.overhead_pct = 4;
	assert_int_equal(effort_plan(&options, EFFORT_NORMAL).once_max,
			 normal / 10);
	options.overhead_pct = 100;
	assert_int_equal(effort_plan(&options, EFFORT_NORMAL).once_max, normal);
	/* a rate is the number of hits, so nothing is armed beside it */
	options = none();
	options.rate = 1000;
	assert_int_equal(effort_plan(&options, EFFORT_NORMAL).once_max, 0);
	assert_int_equal(effort_plan(&options, EFFORT_LOW).entries_max, 0);
	options.effort = EFFORT_HIGH;
	assert_true(effort_plan(&options, EFFORT_NORMAL).once_max > 0);
}

static void low_is_two_percent_in_short_stalls(void **state)
{
	struct effort_options options = none();
	struct effort_plan plan = effort_plan(&options, EFFORT_LOW);

	(void)state;
	assert_true(plan.params.share == 0.02);
	assert_int_equal(plan.params.rate, 50);
	assert_int_equal(plan.params.stall_max_ns, 200 * CLOCK_NS_PER_US);
	assert_int_equal(plan.params.arm_rate, 500);
	assert_int_equal(plan.nice, 10);
	assert_int_equal(plan.params.stall_long_ns, 0);
}

static void only_the_preset_low_has_a_rate_for_busy_programs(void **state)
{
	struct effort_options options = none();

	(void)state;
	assert_int_equal(effort_plan(&options, EFFORT_LOW).params.busy_rate,
			 25);
	assert_int_equal(effort_plan(&options, EFFORT_NORMAL).params.busy_rate,
			 0);
	/* what was asked for stands */
	options.rate = 50;
	assert_int_equal(effort_plan(&options, EFFORT_LOW).params.busy_rate, 0);
	options = none();
	options.overhead_pct = 2;
	assert_int_equal(effort_plan(&options, EFFORT_LOW).params.busy_rate, 0);
}

static void a_stall_that_was_given_is_the_longest_one(void **state)
{
	struct effort_options options = none();

	(void)state;
	assert_int_equal(
		effort_plan(&options, EFFORT_NORMAL).params.stall_long_ns,
		200 * CLOCK_NS_PER_MS);
	options.stall_ns = CLOCK_NS_PER_MS;
	assert_int_equal(
		effort_plan(&options, EFFORT_NORMAL).params.stall_long_ns, 0);
	options.overhead_pct = 40;
	assert_int_equal(
		effort_plan(&options, EFFORT_NORMAL).params.stall_long_ns, 0);
	/* nor are there any without a budget to pay them with */
	options = none();
	options.rate = 1000;
	assert_int_equal(
		effort_plan(&options, EFFORT_NORMAL).params.stall_long_ns, 0);
	options.overhead_pct = 40;
	assert_int_equal(
		effort_plan(&options, EFFORT_NORMAL).params.stall_long_ns,
		200 * CLOCK_NS_PER_MS);
}

static void what_was_asked_for_goes_before_the_command_s_own(void **state)
{
	struct effort_options options = none();

	(void)state;
	options.effort = EFFORT_HIGH;
	assert_int_equal(effort_plan(&options, EFFORT_LOW).params.rate,
			 effort_plan(&options, EFFORT_HIGH).params.rate);
	assert_int_equal(effort_plan(&options, EFFORT_LOW).params.arm_rate, 0);
	assert_int_equal(effort_plan(&options, EFFORT_LOW).nice, 0);
}

static void a_rate_or_a_stall_stands_without_the_preset_s_share(void **state)
{
	struct effort_options options = none();
	struct effort_plan plan;

	(void)state;
	options.rate = 1000;
	plan = effort_plan(&options, EFFORT_LOW);
	assert_int_equal(plan.params.rate, 1000);
	assert_true(plan.params.share == 0);
	assert_int_equal(plan.nice, 0);
	assert_int_equal(plan.params.stall_max_ns, 200 * CLOCK_NS_PER_US);
	options = none();
	options.stall_ns = CLOCK_NS_PER_S;
	plan = effort_plan(&options, EFFORT_NORMAL);
	assert_int_equal(plan.params.rate, 1000);
	assert_int_equal(plan.params.stall_max_ns, CLOCK_NS_PER_S);
	assert_true(plan.params.share == 0);
}

static void a_share_stands_without_the_preset_s_rate(void **state)
{
	struct effort_options options = none();
	struct effort_plan plan;

	(void)state;
	options.overhead_pct = 5;
	plan = effort_plan(&options, EFFORT_LOW);
	assert_true(plan.params.share == 0.05);
	assert_true(plan.params.rate > 10000);
	assert_int_equal(plan.params.arm_rate, 2000);
	assert_int_equal(plan.nice, 10);
}

static void both_budgets_hold_where_both_are_given(void **state)
{
	struct effort_options options = none();
	struct effort_plan plan;

	(void)state;
	options.overhead_pct = 5;
	options.rate = 70;
	plan = effort_plan(&options, EFFORT_NORMAL);
	assert_true(plan.params.share == 0.05);
	assert_int_equal(plan.params.rate, 70);
}

static void no_share_or_no_rate_is_no_sample(void **state)
{
	struct effort_options options = none();

	(void)state;
	options.overhead_pct = 0;
	assert_int_equal(effort_plan(&options, EFFORT_NORMAL).params.rate, 0);
	options = none();
	options.rate = 0;
	assert_int_equal(effort_plan(&options, EFFORT_NORMAL).params.rate, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_preset_spends_more_than_the_one_before),
		cmocka_unit_test(a_budget_bounds_what_is_armed_once),
		cmocka_unit_test(low_is_two_percent_in_short_stalls),
		cmocka_unit_test(
			only_the_preset_low_has_a_rate_for_busy_programs),
		cmocka_unit_test(a_stall_that_was_given_is_the_longest_one),
		cmocka_unit_test(
			what_was_asked_for_goes_before_the_command_s_own),
		cmocka_unit_test(
			a_rate_or_a_stall_stands_without_the_preset_s_share),
		cmocka_unit_test(a_share_stands_without_the_preset_s_rate),
		cmocka_unit_test(both_budgets_hold_where_both_are_given),
		cmocka_unit_test(no_share_or_no_rate_is_no_sample),
	};

	return cmocka_run_group_tests_name("effort", tests, NULL, NULL);
}
