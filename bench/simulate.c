/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * bench/simulated [--seeds N] [--program NAME] [--bounds | --without]
 * [--curves FILE]: the tables of make bench-simulate, means over seeds: each
 * simulated program (tests/simulate) watched by each policy; with --bounds only
 * what is left to be had; with --without the product, with one rule left out at
 * a time.
 */
#include <getopt.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "simulate.h"

enum {
	BENCH_SEEDS = 20,
	BENCH_NUMBERS = sizeof(struct simulate_result) / sizeof(double),
	BENCH_PLANS = 32,
};

static const char *const policies[SIMULATE_POLICIES] = {
	[SIMULATE_BEFORE] = "before",	[SIMULATE_EVERYTHING] = "everything",
	[SIMULATE_UNIFORM] = "uniform", [SIMULATE_GUIDED] = "guided",
	[SIMULATE_IDEAL] = "ideal",	[SIMULATE_SHARED] = "shared",
	[SIMULATE_ORACLE] = "oracle",
};

static const char *const rules[SIMULATE_RULES] = {
	[SIMULATE_CLOCKS] = "clocks",	    [SIMULATE_STACKS] = "stacks",
	[SIMULATE_ENTRIES] = "entries",	    [SIMULATE_CALLEES] = "callees",
	[SIMULATE_NEWS] = "news",	    [SIMULATE_ONCE] = "once",
	[SIMULATE_PROBES] = "probes",	    [SIMULATE_LONG] = "long",
	[SIMULATE_LENGTHS] = "lengths",	    [SIMULATE_STRETCH] = "stretch",
	[SIMULATE_PRIVATE] = "private",	    [SIMULATE_MISSED] = "missed",
	[SIMULATE_REPEATS] = "repeats",	    [SIMULATE_ROTATION] = "rotation",
	[SIMULATE_GIVE_BACK] = "give back",
};

/* What is simulated. */
struct bench {
	const struct simulate_plan *plans[BENCH_PLANS];
	size_t count;
	int seeds;
	uint64_t runs;
	struct simulate_result *means[BENCH_PLANS]; /* of each policy */
};

static double share_of(const struct simulate_plan *plan, double lost)
{
	return 100 * lost / simulate_effort(plan).params.share;
}

static void bench_mean(struct bench *bench, const struct simulate_plan *plan,
		       enum simulate_policy policy, struct simulate_result *ret)
{
	double *sums = (double *)ret;

	memset(ret, 0, sizeof(*ret));
	for (int seed = 1; seed <= bench->seeds; seed++) {
		struct simulate_result one;

		simulate(plan, policy, (uint64_t)seed, &one);
		for (size_t i = 0; i < BENCH_NUMBERS; i++)
			sums[i] += ((const double *)&one)[i] / bench->seeds;
		bench->runs++;
	}
}

/* --- policies --- */

static void print_row(const struct simulate_plan *plan, const char *name,
		      const struct simulate_result *mean)
{
	printf("  %-10s %7.0f %5.0f %4.0f %4.0f %4.0f %4.0f  %4.0f %4.0f %4.0f  "
	       "%5.1f %5.1f %5.1f %5.1f %8.1f %7.3f\n",
	       name, mean->samples, share_of(plan, mean->told),
	       share_of(plan, mean->early_told),
	       share_of(plan, mean->true_lost), 100 * mean->own,
	       100 * mean->likely, 100 * mean->covered[SIMULATE_1_S],
	       100 * mean->covered[SIMULATE_10_S],
	       100 * mean->covered[SIMULATE_60_S], mean->raced[SIMULATE_1_S],
	       mean->raced[SIMULATE_10_S], mean->raced[SIMULATE_60_S],
	       mean->raced_stalls[SIMULATE_1000],
	       mean->told > 0 ? mean->races / (mean->told * plan->seconds) : 0,
	       mean->first_s);
	fflush(stdout);
}

static void print_head(int seeds)
{
	printf("%d seeds each. Samples a second; what is lost, as told, as told "
	       "of the first 2 s, and truly, in %% of what\nis allowed; %% of "
	       "samples in own modules, and at likely locations; %% of "
	       "locations that can race sampled\n"
	       "in 1, 10, 60 s; races found in "
	       "1, 10, 60 s (of a shorter run: in all of it), in 1000 stalls, "
	       "per second\nlost; time of the first race in s.\n\n"
	       "before: as it was before what runs was looked for; everything: "
	       "uniform over all text; uniform, guided:\nthe product; no real "
	       "code: ideal: uniform over what can race, known beforehand; "
	       "shared: over what touches\nbytes that two threads touch; "
	       "oracle: over what races.\n\n",
	       seeds);
	printf("  %-10s %7s %5s %4s %4s %4s %4s  %4s %4s %4s  %5s %5s %5s %5s "
	       "%8s %7s\n",
	       "", "samples", "told", "2 s", "true", "own", "like", "1 s",
	       "10 s", "60 s", "1 s", "10 s", "60 s", "/1000", "/lost",
	       "first");
}

static void bench_plan(struct bench *bench, size_t number, bool prints)
{
	const struct simulate_plan *plan = bench->plans[number];
	struct simulate_result *means =
		calloc(SIMULATE_POLICIES, sizeof(*means));

	if (prints)
		printf("%s: %g s, %u x %u threads, %u of %u own locations run, "
		       "%u of %u of libraries, %u races\n",
		       plan->name, plan->seconds, plan->processes,
		       plan->threads, plan->own_run, plan->own,
		       plan->others_run, plan->others, plan->races);
	for (int policy = 0; policy < SIMULATE_POLICIES; policy++) {
		bench_mean(bench, plan, (enum simulate_policy)policy,
			   &means[policy]);
		if (prints)
			print_row(plan, policies[policy], &means[policy]);
	}
	bench->means[number] = means;
}

/* What is left to be had by knowing where to hold threads. */
static void print_bounds(const struct bench *bench)
{
	printf("\nRaces found in 1000 stalls, and as a multiple of uniform's; "
	       "all is the number of races there are: no policy\ncan be "
	       "better\n\n  %-20s %7s %7s %7s %7s %4s  %6s %6s %6s %6s %6s\n",
	       "", "uniform", "guided", "shared", "oracle", "all", "before",
	       "guided", "shared", "oracle", "all");
	for (size_t i = 0; i < bench->count; i++) {
		const struct simulate_plan *plan = bench->plans[i];
		double found[SIMULATE_POLICIES], uniform;

		for (int policy = 0; policy < SIMULATE_POLICIES; policy++)
			found[policy] = bench->means[i][policy]
						.raced_stalls[SIMULATE_1000];
		uniform = found[SIMULATE_UNIFORM];
		printf("  %-20s %7.2f %7.2f %7.2f %7.2f %4u ", plan->name,
		       uniform, found[SIMULATE_GUIDED], found[SIMULATE_SHARED],
		       found[SIMULATE_ORACLE], plan->races);
		if (uniform > 0)
			printf(" %6.2f %6.2f %6.2f %6.2f %6.2f",
			       found[SIMULATE_BEFORE] / uniform,
			       found[SIMULATE_GUIDED] / uniform,
			       found[SIMULATE_SHARED] / uniform,
			       found[SIMULATE_ORACLE] / uniform,
			       plan->races / uniform);
		printf("\n");
	}
}

/* Lines for plot.awk: % of a program's races, the mean over the programs. */
static void write_curve(const struct bench *bench, FILE *file, int policy,
			bool stalls)
{
	int count = stalls ? SIMULATE_STALLS : SIMULATE_TIMES;

	for (int x = 0; x < count; x++) {
		double sum = 0;

		for (size_t i = 0; i < bench->count; i++) {
			const struct simulate_result *mean =
				&bench->means[i][policy];

			sum += 100 / (double)bench->count *
			       (stalls ? mean->raced_stalls[x]
				       : mean->raced[x]) /
			       bench->plans[i]->races;
		}
		fprintf(file, "%s %s %g %.2f\n", stalls ? "stalls" : "times",
			policies[policy],
			stalls ? simulate_stalls[x] : simulate_times[x], sum);
	}
}

static void write_curves(const struct bench *bench, const char *path)
{
	static const int shown[] = { SIMULATE_BEFORE, SIMULATE_EVERYTHING,
				     SIMULATE_UNIFORM, SIMULATE_GUIDED,
				     SIMULATE_ORACLE };
	FILE *file = fopen(path, "w");

	if (!file) {
		perror(path);
		exit(2);
	}
	for (size_t i = 0; i < sizeof(shown) / sizeof(shown[0]); i++) {
		write_curve(bench, file, shown[i], false);
		write_curve(bench, file, shown[i], true);
	}
	fclose(file);
}

static void bench_policies(struct bench *bench, bool prints, const char *curves)
{
	if (prints)
		print_head(bench->seeds);
	for (size_t i = 0; i < bench->count; i++)
		bench_plan(bench, i, prints);
	print_bounds(bench);
	if (curves)
		write_curves(bench, curves);
}

/* --- rules --- */

/* What is compared, of each run. */
enum bench_measure {
	BENCH_STALLS, /* races in 1000 stalls */
	BENCH_SECOND, /* in a second */
	BENCH_ALL, /* in all */
	BENCH_COVERED, /* locations sampled in a second */
	BENCH_FIRST, /* when the first race was found: the smaller the better */
	BENCH_MEASURES
};

static double measure_of(const struct simulate_result *result,
			 enum bench_measure measure)
{
	switch (measure) {
	case BENCH_STALLS:
		return result->raced_stalls[SIMULATE_1000];
	case BENCH_SECOND:
		return result->raced[SIMULATE_1_S];
	case BENCH_ALL:
		return result->races;
	case BENCH_COVERED:
		return result->covered[SIMULATE_1_S];
	case BENCH_FIRST:
		return result->first_s;
	case BENCH_MEASURES:
		break;
	}
	return 0;
}

/* Of pairs of runs of the same seed, one without the rule. */
struct bench_pairs {
	double with, without, difference, squares;
};

static void pairs_add(struct bench_pairs *pairs, double with, double without)
{
	pairs->with += with;
	pairs->without += without;
	pairs->difference += without - with;
	pairs->squares += (without - with) * (without - with);
}

/* By more than three standard errors? */
static bool pairs_differ(const struct bench_pairs *pairs, int count)
{
	double mean = pairs->difference / count;
	double variance = pairs->squares / count - mean * mean;

	return count > 1 && mean * mean > 9 * variance / (count - 1);
}

static void print_pairs(const struct bench_pairs *pairs, int count)
{
	if (pairs->with <= 0)
		printf("%7s ", "-");
	else
		printf("%7.0f%s", 100 * pairs->without / pairs->with,
		       pairs_differ(pairs, count) ? "*" : " ");
}

static struct simulate_result *bench_runs(struct bench *bench,
					  const struct simulate_plan *plan,
					  uint32_t without)
{
	struct simulate_result *runs =
		calloc((size_t)bench->seeds, sizeof(*runs));

	for (int i = 0; i < bench->seeds; i++)
		simulate_without(plan, SIMULATE_GUIDED, without,
				 (uint64_t)i + 1, &runs[i]);
	bench->runs += (uint64_t)bench->seeds;
	return runs;
}

/* Of a rule, what the programs say. */
struct bench_worth {
	uint64_t better, worse; /* programs, a bit each, without it */
};

static void print_rule(const struct bench *bench,
		       const struct simulate_result *with,
		       const struct simulate_result *without,
		       struct bench_worth *worth, size_t number)
{
	for (int i = 0; i < BENCH_MEASURES; i++) {
		enum bench_measure measure = (enum bench_measure)i;
		struct bench_pairs pairs = { .with = 0 };

		for (int run = 0; run < bench->seeds; run++)
			pairs_add(&pairs, measure_of(&with[run], measure),
				  measure_of(&without[run], measure));
		print_pairs(&pairs, bench->seeds);
		if (!pairs_differ(&pairs, bench->seeds))
			continue;
		/* of the time of the first race, less is better */
		if ((pairs.difference > 0) == (measure != BENCH_FIRST))
			worth->better |= UINT64_C(1) << number;
		else
			worth->worse |= UINT64_C(1) << number;
	}
}

static void bench_without(struct bench *bench, struct bench_worth *worths,
			  size_t number)
{
	const struct simulate_plan *plan = bench->plans[number];
	struct simulate_result *with = bench_runs(bench, plan, 0);

	printf("%zu %s\n", number + 1, plan->name);
	for (int rule = 0; rule < SIMULATE_RULES; rule++) {
		struct simulate_result *without =
			bench_runs(bench, plan, 1u << rule);

		printf("  %-12s", rules[rule]);
		print_rule(bench, with, without, &worths[rule], number);
		printf("\n");
		fflush(stdout);
		free(without);
	}
	free(with);
}

static void print_programs(const char *what, uint64_t programs)
{
	if (programs == 0)
		return;
	printf(" %s:", what);
	for (int i = 0; i < BENCH_PLANS; i++) {
		if (programs >> i & 1)
			printf(" %d", i + 1);
	}
	printf(";");
}

static void bench_rules(struct bench *bench)
{
	struct bench_worth worths[SIMULATE_RULES] = { 0 };

	printf("%d seeds each, guided. Without each rule, in %% of what it is "
	       "with all of them: races found in 1000 stalls,\n"
	       "in 1 s, in all; "
	       "locations that can race sampled in 1 s; time of the first race. "
	       "*: the difference of runs\nof the same seed is more than three "
	       "standard errors.\n\n  %-12s%7s %7s %7s %7s %7s\n",
	       bench->seeds, "without", "/1000", "1 s", "all", "sampled",
	       "first");
	for (size_t i = 0; i < bench->count; i++)
		bench_without(bench, worths, i);
	printf("\nPrograms with a * that says so, without the rule\n");
	for (int rule = 0; rule < SIMULATE_RULES; rule++) {
		printf("  %-12s", rules[rule]);
		print_programs("worse", worths[rule].worse);
		print_programs("better", worths[rule].better);
		printf("\n");
	}
}

/* --- */

static void bench_take(struct bench *bench, const char *name)
{
	for (size_t i = 0; i < simulate_plan_count; i++) {
		if ((!name || strcmp(name, simulate_plans[i].name) == 0) &&
		    bench->count < BENCH_PLANS)
			bench->plans[bench->count++] = &simulate_plans[i];
	}
}

static void usage(void)
{
	fprintf(stderr, "simulated [--seeds N] [--program NAME] "
			"[--bounds | --without] [--curves FILE]\n");
	exit(2);
}

int main(int argc, char **argv)
{
	static const struct option options[] = {
		{ "seeds", required_argument, NULL, 's' },
		{ "program", required_argument, NULL, 'p' },
		{ "bounds", no_argument, NULL, 'b' },
		{ "without", no_argument, NULL, 'w' },
		{ "curves", required_argument, NULL, 'c' },
		{ NULL, 0, NULL, 0 },
	};
	struct bench bench = { .seeds = BENCH_SEEDS };
	const char *name = NULL, *curves = NULL;
	bool without = false, bounds = false;
	int option;

	while ((option = getopt_long(argc, argv, "", options, NULL)) >= 0) {
		if (option == 's')
			bench.seeds = atoi(optarg);
		else if (option == 'p')
			name = optarg;
		else if (option == 'w')
			without = true;
		else if (option == 'b')
			bounds = true;
		else if (option == 'c')
			curves = optarg;
		else
			usage();
	}
	bench_take(&bench, name);
	if (bench.seeds < 1 || bench.count == 0 || optind < argc)
		usage();
	if (without)
		bench_rules(&bench);
	else
		bench_policies(&bench, !bounds, curves);
	printf("\n%llu runs, %.0f for each second of processor time\n",
	       (unsigned long long)bench.runs,
	       (double)bench.runs / ((double)clock() / CLOCKS_PER_SEC));
	for (size_t i = 0; i < bench.count; i++)
		free(bench.means[i]);
	return 0;
}
