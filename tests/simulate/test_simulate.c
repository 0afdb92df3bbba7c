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

/* The mean of so many seeds. */
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(equal_seeds_give_equal_runs),
		cmocka_unit_test(a_short_test_is_sampled_to_its_end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
