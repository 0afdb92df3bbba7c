/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * src/sweep/species.c against examples computed by hand; what each number is
 * made of stands beside it.
 */
#include "sweep/species.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/rng.h"

static void near(double got, double wanted, double margin)
{
	if (fabs(got - wanted) > margin)
		fail_msg("%.6f instead of %.6f", got, wanted);
}

/* 10 runs; races in 1, 1, 1, 2, 2, 5 and 10 of them. */
static struct species_counts seven_races(void)
{
	static const uint64_t times[] = { 1, 2, 1, 5, 0, 10, 2, 1 };

	return species_count(times, sizeof(times) / sizeof(times[0]), 10);
}

static void counts_species_by_how_often_they_were_found(void **state)
{
	struct species_counts counts = seven_races();

	(void)state;
	assert_int_equal(counts.samples, 10);
	assert_int_equal(counts.seen, 7);
	assert_int_equal(counts.once, 3);
	assert_int_equal(counts.twice, 2);
	assert_int_equal(counts.incidences, 22);
}

static void next_run_by_good_turing(void **state)
{
	struct species_counts counts = seven_races();
	struct species_estimate estimate = species_estimate_incidence(&counts);

	(void)state;
	near(estimate.next, 0.3, 1e-12); /* 3 / 10 */
	/* the Poisson limit of 3 events is 7.7537 */
	near(estimate.next_limit, 0.77537, 1e-4);
}

static void total_by_chao2(void **state)
{
	struct species_counts counts = seven_races();
	struct species_estimate estimate = species_estimate_incidence(&counts);

	(void)state;
	/* 7 + 0.9 * 3^2 / (2 * 2) */
	near(estimate.total, 9.025, 1e-12);
	/*
	 * r = 1.5, k = 0.9; variance 2 * (0.45 * 2.25 + 0.81 * 3.375 + 0.2025 *
	 * 5.0625) = 9.5428; K = exp(1.96 * sqrt(ln(1 + 9.5428 / 2.025^2))) =
	 * exp(1.96 * sqrt(1.20221)) = 8.5750
	 */
	near(estimate.total_low, 7 + 2.025 / 8.5750, 1e-3);
	near(estimate.total_high, 7 + 2.025 * 8.5750, 5e-3);
}

static void coverage_by_chao_and_jost(void **state)
{
	struct species_counts counts = seven_races();
	struct species_estimate estimate = species_estimate_incidence(&counts);

	(void)state;
	/* 1 - 3 / 22 * (9 * 3) / (9 * 3 + 2 * 2) */
	near(estimate.coverage, 1 - 3.0 / 22 * 27 / 31, 1e-12);
}

static void no_doubletons(void **state)
{
	static const uint64_t times[] = { 1, 1, 1, 1, 6 };
	struct species_counts counts = species_count(times, 5, 20);
	struct species_estimate estimate = species_estimate_incidence(&counts);

	(void)state;
	/* 5 + 19/20 * 4 * 3 / 2 */
	near(estimate.total, 10.7, 1e-12);
	/* 1 - 4 / 10 * (19 * 3) / (19 * 3 + 2) */
	near(estimate.coverage, 1 - 0.4 * 57 / 59, 1e-12);
	assert_true(estimate.total_low > 5 && estimate.total_low < 10.7);
	assert_true(estimate.total_high > 10.7);
}

static void nothing_seen_only_once(void **state)
{
	static const uint64_t times[] = { 2, 30, 100 };
	struct species_counts counts = species_count(times, 3, 100);
	struct species_estimate estimate = species_estimate_incidence(&counts);

	(void)state;
	near(estimate.next, 0, 0);
	/* the rule of three: -ln(0.05) / 100 */
	near(estimate.next_limit, 0.0299573, 1e-6);
	near(estimate.total, 3, 0);
	near(estimate.total_low, 3, 0);
	near(estimate.total_high, 3, 0);
	near(estimate.coverage, 1, 0);
}

static void nothing_seen_at_all(void **state)
{
	struct species_counts none = species_count(NULL, 0, 50);
	struct species_counts nothing = species_count(NULL, 0, 0);
	struct species_estimate estimate = species_estimate_incidence(&none);

	(void)state;
	near(estimate.next, 0, 0);
	near(estimate.next_limit, 0.0599146, 1e-6);
	near(estimate.total, 0, 0);
	near(estimate.coverage, 0, 0);
	estimate = species_estimate_incidence(&nothing);
	near(estimate.next, 1, 0);
	near(estimate.next_limit, 1, 0);
}

static void one_run_tells_little(void **state)
{
	static const uint64_t times[] = { 1, 1 };
	struct species_counts counts = species_count(times, 2, 1);
	struct species_estimate estimate = species_estimate_incidence(&counts);

	(void)state;
	near(estimate.next, 1, 0);
	near(estimate.coverage, 0, 0);
	/* (T - 1) / T is 0 */
	near(estimate.total, 2, 0);
}

/* Tables of the Poisson distribution have these, one-sided at 95 %. */
static void poisson_limits_are_those_of_the_tables(void **state)
{
	static const double limits[] = { 2.9957, 4.7439, 6.2958,
					 7.7537, 9.1535, 10.5130 };

	(void)state;
	for (uint64_t i = 0; i < 6; i++)
		near(species_poisson_limit(i, 0.95), limits[i], 1e-4);
	near(species_poisson_limit(0, 0.99), 4.60517, 1e-4);
	near(species_poisson_limit(100, 0.95), 118.079, 1e-2);
	/* beyond what exp() has: still a limit, and finite */
	assert_true(species_poisson_limit(2000, 0.95) >= 2000);
	assert_true(isfinite(species_poisson_limit(2000, 0.95)));
}

enum { KINDS = 12, SAMPLES = 60, TRIALS = 400 };

/*
 * Against the truth: twelve races of known probabilities, sixty runs. What
 * Good and Turing say of the next run is right on the average, and the limit
 * holds in 95 of 100 cases at least; the seed is fixed.
 */
static void estimates_agree_with_the_truth(void **state)
{
	static const double chances[KINDS] = {
		1, 1, 0.9, 0.8, 0.6, 0.5, 0.3, 0.2, 0.05, 0.03, 0.02, 0.01
	};
	double truth = 0, estimated = 0, totals = 0;
	unsigned int beyond = 0;
	struct rng rng;

	(void)state;
	rng_init(&rng, 1);
	for (int t = 0; t < TRIALS; t++) {
		uint64_t times[KINDS] = { 0 };
		struct species_counts counts;
		struct species_estimate estimate;
		double none = 1;

		for (int s = 0; s < SAMPLES * KINDS; s++) {
			double p = (double)rng_below(&rng, 1 << 20) / (1 << 20);

			times[s % KINDS] += p < chances[s % KINDS];
		}
		counts = species_count(times, KINDS, SAMPLES);
		estimate = species_estimate_incidence(&counts);
		for (int i = 0; i < KINDS; i++)
			none *= times[i] ? 1 : 1 - chances[i];
		truth += 1 - none;
		estimated += estimate.next;
		totals += estimate.total;
		beyond += 1 - none > estimate.next_limit;
	}
	/* 0.0139 is the mean of the truth; the standard error below 0.001 */
	near(estimated / TRIALS, truth / TRIALS, 0.003);
	assert_true(beyond <= TRIALS / 20);
	assert_true(totals / TRIALS > 11 && totals / TRIALS < 13.5);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(counts_species_by_how_often_they_were_found),
		cmocka_unit_test(next_run_by_good_turing),
		cmocka_unit_test(total_by_chao2),
		cmocka_unit_test(coverage_by_chao_and_jost),
		cmocka_unit_test(no_doubletons),
		cmocka_unit_test(nothing_seen_only_once),
		cmocka_unit_test(nothing_seen_at_all),
		cmocka_unit_test(one_run_tells_little),
		cmocka_unit_test(poisson_limits_are_those_of_the_tables),
		cmocka_unit_test(estimates_agree_with_the_truth),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
