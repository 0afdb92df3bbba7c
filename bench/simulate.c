/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * bench/simulated [SEEDS [PLAN]]: the table of make bench-simulate: each
 * simulated program (tests/simulate) watched by each policy, means over seeds.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "simulate.h"

enum { SIMULATE_SEEDS = 5 };

static const char *const names[] = { "before", "everything", "uniform",
				     "guided", "ideal",	     "shared",
				     "oracle" };

static double share_of(const struct simulate_plan *plan, double lost)
{
	return 100 * lost / simulate_effort(plan).share;
}

static void print_row(const struct simulate_plan *plan, const char *name,
		      const double *sums, double seeds)
{
	struct simulate_result mean;

	for (size_t i = 0; i < sizeof(mean) / sizeof(double); i++)
		((double *)&mean)[i] = sums[i] / seeds;
	printf("  %-10s %8.0f %5.0f %5.0f %5.0f %5.0f %5.0f  %4.0f %4.0f %4.0f  "
	       "%5.1f %5.1f %6.1f  %7.3f\n",
	       name, mean.samples, share_of(plan, mean.told),
	       share_of(plan, mean.early_told), share_of(plan, mean.true_lost),
	       100 * mean.own, 100 * mean.likely,
	       100 * mean.covered[SIMULATE_1_S],
	       100 * mean.covered[SIMULATE_10_S],
	       100 * mean.covered[SIMULATE_60_S], mean.races,
	       mean.raced_stalls[SIMULATE_1000],
	       mean.told > 0 ? mean.races / (mean.told * plan->seconds) : 0,
	       mean.first_s);
	fflush(stdout);
}

static void run_plan(const struct simulate_plan *plan, int seeds)
{
	printf("%s: %g s, %u x %u threads, %u of %u own locations run, "
	       "%u of %u of libraries, %u races\n",
	       plan->name, plan->seconds, plan->processes, plan->threads,
	       plan->own_run, plan->own, plan->others_run, plan->others,
	       plan->races);
	for (int policy = 0; policy <= SIMULATE_ORACLE; policy++) {
		double sums[sizeof(struct simulate_result) / sizeof(double)] = {
			0
		};

		for (int seed = 1; seed <= seeds; seed++) {
			struct simulate_result one;

			simulate(plan, (enum simulate_policy)policy,
				 (uint64_t)seed, &one);
			for (size_t i = 0; i < sizeof(one) / sizeof(double);
			     i++)
				sums[i] += ((const double *)&one)[i];
		}
		print_row(plan, names[policy], sums, seeds);
	}
}

int main(int argc, char **argv)
{
	int seeds = argc > 1 ? atoi(argv[1]) : SIMULATE_SEEDS;

	printf("%d seeds each. Samples a second; lost by what is told, in the "
	       "first 2 s, and truly, in %% of what is\nallowed; %% of samples in "
	       "own modules, and at likely locations; %% of those that can race sampled within 1, 10, 60 s "
	       "(or all);\nraces found: all, in 1000 stalls, per second lost; "
	       "the first, in s\n\n",
	       seeds);
	printf("  %-10s %8s %5s %5s %5s %5s %6s %4s %4s %4s  %5s %5s %6s  %7s\n",
	       "", "samples", "told", "2 s", "true", "own", "likely", "1 s",
	       "10 s", "60 s", "races", "/1000", "/lost", "first");
	for (size_t i = 0; i < simulate_plan_count; i++) {
		if (argc <= 2 || strcmp(argv[2], simulate_plans[i].name) == 0)
			run_plan(&simulate_plans[i], seeds);
	}
	return 0;
}
