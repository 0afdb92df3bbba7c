/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The scheduling as a whole, by simulation; see simulate.h.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "simulate.h"

static void equal_seeds_give_equal_runs(void **state)
{
	struct simulate_plan plan = simulate_plans[0];
	struct simulate_result first, second;

	(void)state;
	plan.seconds = 0.2;
	simulate(&plan, SIMULATE_GUIDED, 1, &first);
	simulate(&plan, SIMULATE_GUIDED, 1, &second);
	assert_memory_equal(&first, &second, sizeof(first));
	simulate(&plan, SIMULATE_GUIDED, 2, &second);
	assert_memory_not_equal(&first, &second, sizeof(first));
}

static const struct simulate_plan *plan_of(const char *name)
{
	for (size_t i = 0; i < simulate_plan_count; i++) {
		if (strcmp(simulate_plans[i].name, name) == 0)
			return &simulate_plans[i];
	}
	fail_msg("there is no %s", name);
	return NULL;
}

/* The mean over a number of seeds. */
static struct simulate_result mean_of(const struct simulate_plan *plan,
				      enum simulate_policy policy, int seeds)
{
	enum { NUMBERS = sizeof(struct simulate_result) / sizeof(double) };
	double sums[NUMBERS] = { 0 };
	struct simulate_result mean;

	for (int seed = 1; seed <= seeds; seed++) {
		simulate(plan, policy, (uint64_t)seed, &mean);
		for (int i = 0; i < NUMBERS; i++)
			sums[i] += ((double *)&mean)[i] / seeds;
	}
	memcpy(&mean, sums, sizeof(mean));
	return mean;
}

/* It was 175 samples a second while what had run once waited for 100 ms. */
static void a_short_test_is_sampled_to_its_end(void **state)
{
	struct simulate_result mean =
		mean_of(plan_of("short test"), SIMULATE_GUIDED, 100);

	(void)state;
	assert_true(mean.samples > 400);
	assert_true(mean.covered[0] > 0.35);
}

/*
 * They were 96 of 100 while fresh ones that wait for room filled the queue; of
 * those that were stalled in vain few are worth more than the rest.
 */
static void likely_locations_have_half_of_the_stalls_at_most(void **state)
{
	struct simulate_plan plan = *plan_of("libraries");
	struct simulate_result mean;

	(void)state;
	plan.seconds = 4;
	mean = mean_of(&plan, SIMULATE_GUIDED, 2);
	assert_true(mean.likely > 0.05 && mean.likely < 0.65);
}

/* Where all is seldom, a thousand stalls are over before they say much. */
static void what_is_learned_finds_no_less(void **state)
{
	static const char *const names[] = { "libraries", "phases", "seldom",
					     "lock-bound" };

	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		const struct simulate_plan *plan = plan_of(names[i]);
		struct simulate_result uniform =
			mean_of(plan, SIMULATE_UNIFORM, 8);
		struct simulate_result guided =
			mean_of(plan, SIMULATE_GUIDED, 8);

		print_message("%s: %.1f races in 1000 stalls, %.1f by uniform; "
			      "%.1f and %.1f in all\n",
			      names[i], guided.races_1000, uniform.races_1000,
			      guided.races, uniform.races);
		assert_true(strcmp(names[i], "seldom") == 0 ||
			    guided.races_1000 >= 0.95 * uniform.races_1000);
		assert_true(guided.races >= 0.9 * uniform.races);
	}
}

/* It was all of the 40 % that may be lost, for eight hits to each stall. */
static void hits_without_a_stall_cost_less_than_stalls(void **state)
{
	struct simulate_plan plan = *plan_of("small program");
	struct simulate_result mean;

	(void)state;
	plan.seconds = 2;
	mean = mean_of(&plan, SIMULATE_GUIDED, 4);
	assert_true(mean.told < 0.3);
	assert_true(mean.samples > 900);
}

/* Functions that run were found at three times of what may be lost. */
static void finding_what_runs_stays_within_the_budget(void **state)
{
	struct simulate_plan plan = *plan_of("database at 2 %");
	struct simulate_result mean;

	(void)state;
	plan.seconds = 2;
	mean = mean_of(&plan, SIMULATE_GUIDED, 4);
	assert_true(mean.early_told < 0.02 * 1.4);
}

/* A quarter was found in ten seconds, and half in a minute. */
static void at_little_cost_what_seldom_runs_is_found(void **state)
{
	struct simulate_result mean =
		mean_of(plan_of("idle server"), SIMULATE_UNIFORM, 2);

	(void)state;
	assert_true(mean.covered[1] > 0.35);
	assert_true(mean.covered[2] > 0.85);
	assert_true(mean.told < 0.02);
}

/* There were 5 samples a second: hits of what others cannot reach took all. */
static void hits_of_private_memory_leave_the_rate_to_others(void **state)
{
	struct simulate_plan plan = *plan_of("database at low");
	struct simulate_result mean;

	(void)state;
	plan.seconds = 10;
	mean = mean_of(&plan, SIMULATE_UNIFORM, 2);
	assert_true(mean.samples > 10);
	assert_true(mean.told < 0.02);
}

/* A second after it began, of a program that had run other code for five. */
static void what_begins_to_run_later_is_noticed_within_a_second(void **state)
{
	struct simulate_plan plan = *plan_of("phases");
	struct simulate_result before, after;

	(void)state;
	plan.own = 40000;
	plan.phases = 2;
	plan.phase_s = 5;
	plan.seconds = 5;
	before = mean_of(&plan, SIMULATE_UNIFORM, 4);
	plan.seconds = 6;
	after = mean_of(&plan, SIMULATE_UNIFORM, 4);
	print_message("%.2f, a second later %.2f\n", before.covered[1],
		      after.covered[1]);
	/* a quarter of all runs in the second phase only */
	assert_true(before.covered[1] < 0.8);
	assert_true(after.covered[1] - before.covered[1] > 0.1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(equal_seeds_give_equal_runs),
		cmocka_unit_test(a_short_test_is_sampled_to_its_end),
		cmocka_unit_test(finding_what_runs_stays_within_the_budget),
		cmocka_unit_test(
			likely_locations_have_half_of_the_stalls_at_most),
		cmocka_unit_test(what_is_learned_finds_no_less),
		cmocka_unit_test(hits_without_a_stall_cost_less_than_stalls),
		cmocka_unit_test(
			what_begins_to_run_later_is_noticed_within_a_second),
		cmocka_unit_test(at_little_cost_what_seldom_runs_is_found),
		cmocka_unit_test(
			hits_of_private_memory_leave_the_rate_to_others),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
