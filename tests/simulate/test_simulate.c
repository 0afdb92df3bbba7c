/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The scheduling as a whole, by simulation; see simulate.h.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "../helpers/turn.h"
#include "base/rng.h"
#include "simulate.h"

enum { SEEDS = 2000, TURNS = 5 };

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

/* The mean over a number of seeds, without some rules. */
static struct simulate_result mean_without(const struct simulate_plan *plan,
					   enum simulate_policy policy,
					   uint32_t without, int seeds)
{
	enum { NUMBERS = sizeof(struct simulate_result) / sizeof(double) };
	double sums[NUMBERS] = { 0 };
	struct simulate_result mean;

	for (int seed = 1; seed <= seeds; seed++) {
		simulate_without(plan, policy, without, (uint64_t)seed, &mean);
		for (int i = 0; i < NUMBERS; i++)
			sums[i] += ((double *)&mean)[i] / seeds;
	}
	memcpy(&mean, sums, sizeof(mean));
	return mean;
}

static struct simulate_result mean_of(const struct simulate_plan *plan,
				      enum simulate_policy policy, int seeds)
{
	return mean_without(plan, policy, 0, seeds);
}

/* It was 175 samples a second while what had run once waited for 100 ms. */
static void a_short_test_is_sampled_to_its_end(void **state)
{
	struct simulate_result mean =
		mean_of(plan_of("short test"), SIMULATE_GUIDED, 100);

	(void)state;
	assert_true(mean.samples > 400);
	assert_true(mean.covered[SIMULATE_1_S] > 0.35);
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
			      names[i], guided.raced_stalls[SIMULATE_1000],
			      uniform.raced_stalls[SIMULATE_1000], guided.races,
			      uniform.races);
		assert_true(strcmp(names[i], "seldom") == 0 ||
			    guided.raced_stalls[SIMULATE_1000] >=
				    0.95 * uniform.raced_stalls[SIMULATE_1000]);
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
	assert_true(mean.covered[SIMULATE_10_S] > 0.35);
	assert_true(mean.covered[SIMULATE_60_S] > 0.85);
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
	print_message("%.2f, a second later %.2f\n",
		      before.covered[SIMULATE_10_S],
		      after.covered[SIMULATE_10_S]);
	/* a quarter of all runs in the second phase only */
	assert_true(before.covered[SIMULATE_10_S] < 0.8);
	assert_true(after.covered[SIMULATE_10_S] -
			    before.covered[SIMULATE_10_S] >
		    0.1);
}

enum {
	/* how it is found out what runs */
	WAY_CLOCKS = 1 << SIMULATE_CLOCKS,
	WAY_STACKS = 1 << SIMULATE_STACKS,
	WAY_ENTRIES = 1 << SIMULATE_ENTRIES,
	WAYS = WAY_CLOCKS | WAY_STACKS | WAY_ENTRIES,
};

/* Each of the ways does it, where the others do not. */
static void what_runs_is_found_in_each_way(void **state)
{
	static const uint32_t ways[] = { WAY_CLOCKS, WAY_STACKS, WAY_ENTRIES };
	struct simulate_plan plan = *plan_of("idle server");
	double none, one;

	(void)state;
	plan.seconds = 5;
	none = mean_without(&plan, SIMULATE_UNIFORM, WAYS, 4).found;
	for (int i = 0; i < 3; i++) {
		one = mean_without(&plan, SIMULATE_UNIFORM, WAYS & ~ways[i], 4)
			      .found;
		print_message("%.2f, by hits alone %.2f\n", one, none);
		assert_true(one > none + 0.03);
	}
}

/* Where perf is refused, stopped threads, stacks and entries tell. */
static void where_perf_is_refused_what_runs_is_found(void **state)
{
	struct simulate_plan plan = *plan_of("database");
	struct simulate_result refused;

	(void)state;
	plan.seconds = 2;
	plan.refuses_perf = true;
	refused = mean_of(&plan, SIMULATE_UNIFORM, 4);
	print_message("%.2f of the functions, %.2f of the locations\n",
		      refused.found, refused.covered[SIMULATE_10_S]);
	assert_true(refused.found > 0.8);
	assert_true(refused.covered[SIMULATE_10_S] > 0.5);
}

/* What is called by what runs is looked at before the rest. */
static void called_functions_are_found_sooner(void **state)
{
	const uint32_t others = WAY_CLOCKS | WAY_STACKS;
	struct simulate_plan plan = *plan_of("database at low");
	double with, without;

	(void)state;
	plan.seconds = 5;
	with = mean_without(&plan, SIMULATE_UNIFORM, others, 4).found;
	without = mean_without(&plan, SIMULATE_UNIFORM,
			       others | 1 << SIMULATE_CALLEES, 4)
			  .found;
	print_message("%.3f, without callees %.3f\n", with, without);
	assert_true(with > 1.2 * without);
}

static double between(struct rng *rng, double low, double high)
{
	return low + (high - low) * (double)rng_below(rng, 1 << 20) / (1 << 20);
}

/* A short run of any kind of program, at any effort. */
static struct simulate_plan plan_at_random(uint64_t seed)
{
	struct simulate_plan plan = { .name = "random", .processes = 1 };
	struct rng rng;

	rng_init(&rng, seed);
	plan.seconds = between(&rng, 0.02, 0.2);
	if (rng_below(&rng, 4) == 0)
		plan.processes += (uint32_t)rng_below(&rng, 4);
	plan.threads = 2 + (uint32_t)rng_below(&rng, 6);
	plan.own_run = 20 + (uint32_t)rng_below(&rng, 400);
	plan.own =
		10 * (4 + (uint32_t)rng_below(&rng, 2000)) + 2 * plan.own_run;
	plan.own -= plan.own % 10;
	plan.others = 10 * (uint32_t)rng_below(&rng, 2000);
	plan.others_run = plan.others / 8;
	plan.executions = pow(10, between(&rng, 2, 7));
	plan.slope = between(&rng, 0.3, 1.3);
	plan.busy = between(&rng, 0.05, 1);
	plan.switches = between(&rng, 10, 2000);
	plan.races = 1 + (uint32_t)rng_below(&rng, 5);
	plan.locked = (uint32_t)rng_below(&rng, 5);
	plan.spread = 1 + (uint32_t)rng_below(&rng, 64);
	plan.coupling = rng_below(&rng, 3) == 0 ? between(&rng, 0, 0.9) : 0;
	plan.refuses_perf = rng_below(&rng, 4) == 0;
	plan.effort = (int)rng_below(&rng, 3);
	plan.begins = rng_below(&rng, 2) == 0;
	return plan;
}

/*
 * Whatever the program: no breakpoint stays when all is lifted, no race is told
 * that is none, and what is lost is within what a credit and a debt allow.
 */
static void programs_of_any_kind_are_left_whole(void **state)
{
	double samples = 0, races = 0;
	size_t taken = 0;

	(void)state;
	for (uint64_t seed = 1; seed <= SEEDS; seed++) {
		const struct simulate_plan plan = plan_at_random(seed);
		double share = simulate_effort(&plan).params.share;
		struct simulate_result result;

		if (!turn_has(seed, TURNS))
			continue;
		taken++;
		simulate(&plan,
			 seed % 2 == 0 ? SIMULATE_UNIFORM : SIMULATE_GUIDED,
			 seed, &result);
		if (result.left_armed != 0 || result.races > plan.races ||
		    result.told * plan.seconds > share * (plan.seconds + 2))
			fail_msg("seed %d: %g armed, %g races, %g told",
				 (int)seed, result.left_armed, result.races,
				 result.told);
		samples += result.samples * plan.seconds;
		races += result.races;
	}
	print_message("%.0f samples, %.0f races\n", samples, races);
	turn_tell(SEEDS - taken, SEEDS);
	assert_true(taken >= SEEDS / TURNS);
	assert_true(samples > 10. * taken && races > 0.1 * taken);
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
		cmocka_unit_test(what_runs_is_found_in_each_way),
		cmocka_unit_test(where_perf_is_refused_what_runs_is_found),
		cmocka_unit_test(called_functions_are_found_sooner),
		cmocka_unit_test(programs_of_any_kind_are_left_whole),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
