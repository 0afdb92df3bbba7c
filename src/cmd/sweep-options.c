/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The options of racewatch sweep; see sweep-options.h.
 */
#include "cmd/sweep-options.h"

#include <stddef.h>
#include <string.h>

#include "base/clock.h"
#include "base/error.h"
#include "output/onrace.h"

/* how arguments of --on-race may begin; a program that is stopped never ends */
static const char *const sweep_on_race_words[] = { "report", "core",
						   "exec:", NULL };
static const char *const plan_words[] = { "adaptive", "even", NULL };

#define AT(member) offsetof(struct sweep_options, member)

/* A run that is left stopped never ends. */
static struct error *sweep_check_on_race(const char *action)
{
	if (strcmp(action, "stop") == 0)
		return error_create(ERROR_USAGE, "not for a sweep: a run that "
						 "is left stopped never ends");
	return onrace_check(action);
}

static const struct option_def sweep_defs[] = {
	{ .name = "--runs",
	  .arg = "NUMBER",
	  .help = "number of runs (default 100 unless another option ends the "
		  "sweep)",
	  .type = OPTION_UINT64,
	  .offset = AT(runs),
	  .min = 1,
	  .max = 100000000 },
	{ .name = "--budget",
	  .arg = "TIME",
	  .help = "end the sweep after this time",
	  .type = OPTION_DURATION,
	  .offset = AT(budget_ns),
	  .min = CLOCK_NS_PER_MS },
	{ .name = "--stop-after-quiet",
	  .arg = "NUMBER",
	  .help = "end the sweep when this many runs in a row showed no new "
		  "race",
	  .type = OPTION_UINT64,
	  .offset = AT(stop_after_quiet),
	  .min = 1 },
	{ .name = "--jobs",
	  .letter = 'j',
	  .arg = "NUMBER",
	  .help = "runs at the same time (default 1)",
	  .type = OPTION_UINT64,
	  .offset = AT(jobs),
	  .preset = 1,
	  .min = 1,
	  .max = 1024 },
	{ .name = "--timeout",
	  .arg = "TIME",
	  .help = "end each run after this time (default 10m; 0: never)",
	  .type = OPTION_DURATION,
	  .offset = AT(timeout_ns),
	  .preset = 600 * CLOCK_NS_PER_S },
	{ .name = "--seed",
	  .arg = "NUMBER",
	  .help = "give run n the seed NUMBER + n (default 0)",
	  .type = OPTION_UINT64,
	  .offset = AT(seed),
	  .max = INT64_MAX },
	{ .name = "--first-run",
	  .arg = "NUMBER",
	  .help = "number of the first run (default 1)",
	  .type = OPTION_UINT64,
	  .offset = AT(first_run),
	  .preset = 1,
	  .min = 1,
	  .max = 1000000000 },
	{ .name = "--plan",
	  .arg = "NAME",
	  .help = "how the rate, the stall and the policy of the runs vary: "
		  "adaptive: by what earlier runs found; even: in turn (default "
		  "adaptive)",
	  .type = OPTION_CHOICE,
	  .offset = AT(plan),
	  .choices = plan_words },
	{ .name = "--directory",
	  .letter = 'd',
	  .arg = "DIRECTORY",
	  .help = "keep all files in this directory, and continue the sweep "
		  "that is in it (default: a new directory)",
	  .type = OPTION_STRING,
	  .offset = AT(directory) },
	{ .name = "--state",
	  .arg = "FILE",
	  .help = "keep the state of the sweep in this file (default state.db "
		  "in the directory)",
	  .type = OPTION_STRING,
	  .offset = AT(state) },
	{ .name = "--learned",
	  .arg = "FILE",
	  .help = "keep what the runs learn about the program in this file "
		  "(default learned.db in the directory)",
	  .type = OPTION_STRING,
	  .offset = AT(learned) },
	{ .name = "--output-limit",
	  .arg = "BYTES",
	  .help = "keep at most this many bytes of each output of a run "
		  "(default 1048576)",
	  .type = OPTION_UINT64,
	  .offset = AT(output_limit),
	  .preset = 1 << 20,
	  .max = 1 << 30 },
	{ .name = "--on-race",
	  .arg = "ACTION",
	  .help = "report; core: write a core file of the program; "
		  "exec:COMMAND: run the command with the race as JSON on its "
		  "standard input (default report)",
	  .type = OPTION_STRING,
	  .offset = AT(on_race),
	  .check = sweep_check_on_race,
	  .choices = sweep_on_race_words,
	  .of_runs = true },
	{ .name = "--min-samples",
	  .arg = "NUMBER",
	  .help = "exit with 65 if fewer samples of the program's own modules "
		  "had a stall in all runs together (default 1)",
	  .type = OPTION_UINT64,
	  .offset = AT(min_samples),
	  .preset = 1 },
	{ .name = "--verbose",
	  .letter = 'v',
	  .help = "print a line for each run",
	  .type = OPTION_FLAG,
	  .offset = AT(verbose) },
};

static const struct option_group sweep_group = OPTION_GROUP(sweep_defs);

const struct option_table sweep_table = {
	.command = "sweep",
	.synopsis = "[options] [--] COMMAND [ARGUMENT...]",
	.summary = "Run a program many times and report the data races of all "
		   "runs.",
	.parts =
		(const struct option_part[]){
			{ &sweep_group, 0 },
			{ &effort_group, AT(common.effort) },
			{ &watching_group, AT(common.watching) },
			{ &replaying_group, AT(common.replaying) },
			{ &tracing_group, AT(common.tracing) },
			{ &tracing_start_group, AT(common.tracing) },
			{ &selecting_group, AT(common.selecting) },
			{ &reporting_group, AT(common.reporting) },
			{ &judging_group, AT(common.judging) },
			{ &judging_watch_group, AT(common.judging) },
			{ &showing_group, AT(common.showing) },
			{ &standard_group, AT(common.standard) },
			{ NULL, 0 },
		},
	.leading = true,
};

struct plan_fixed sweep_options_fixed(const struct sweep_options *options)
{
	struct plan_fixed fixed = {
		.rate = options->common.effort.rate,
		.stall_ns = options->common.effort.stall_ns,
		.policy = options->common.watching.policy,
	};
	struct effort_plan plan;

	if (options->common.effort.effort == EFFORT_NONE)
		return fixed;
	plan = effort_plan(&options->common.effort, EFFORT_NORMAL);
	fixed.rate = plan.params.rate;
	fixed.stall_ns = plan.params.stall_max_ns;
	return fixed;
}

static bool add_words(struct vec *out, const char *option, const char *value)
{
	return vec_push(out, &option) && (!value || vec_push(out, &value));
}

bool sweep_options_fill(const struct sweep_options *options,
			const char *learned, struct vec *out)
{
	bool good = true;

	for (size_t i = 0; good && i < options->of_runs.count; i++) {
		const struct option_word *word = vec_at(&options->of_runs, i);

		/* a baseline that is to be updated may not be there yet */
		if (!options->common.judging.update_baseline ||
		    strcmp(word->def->name, "--baseline") != 0)
			good = add_words(out, word->def->name, word->value);
	}
	return good && (!learned || add_words(out, "--state", learned));
}
