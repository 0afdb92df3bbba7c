/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The options of racewatch sweep; see sweep-options.h.
 */
#include "cmd/sweep-options.h"

#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>

#include "base/clock.h"
#include "base/error.h"
#include "cmd/at.h"
#include "cmd/cmd.h"
#include "cmd/gate.h"
#include "cmd/onrace.h"
#include "cmd/patterns.h"
#include "cmd/terminal.h"
#include "cmd/watch.h"
#include "report/render.h"
#include "schedule/effort.h"

/* how arguments of --on-race may begin; a program that is stopped never ends */
static const char *const sweep_on_race_words[] = { "report", "core",
						   "exec:", NULL };
static const char *const plan_words[] = { "adaptive", "even", NULL };

#define AT(member) offsetof(struct sweep_options, member)

static const struct option_def sweep_defs[] = {
	{ .name = "runs",
	  .arg = "NUMBER",
	  .help = "number of runs (default 100, unless another option ends the "
		  "sweep)",
	  .type = OPTION_UINT64,
	  .offset = AT(runs),
	  .min = 1,
	  .max = 100000000 },
	{ .name = "budget",
	  .arg = "TIME",
	  .help = "end after this time",
	  .type = OPTION_DURATION,
	  .offset = AT(budget_ns),
	  .min = CLOCK_NS_PER_MS },
	{ .name = "stop-after-quiet",
	  .arg = "NUMBER",
	  .help = "end when this number of runs in a row showed no new race",
	  .type = OPTION_UINT64,
	  .offset = AT(stop_after_quiet),
	  .min = 1 },
	{ .name = "jobs",
	  .letter = 'j',
	  .arg = "NUMBER",
	  .help = "number of runs at a time (default 1)",
	  .type = OPTION_UINT64,
	  .offset = AT(jobs),
	  .min = 1,
	  .max = 1024 },
	{ .name = "timeout",
	  .arg = "TIME",
	  .help = "end a run after this time (default 10m; 0: never)",
	  .type = OPTION_DURATION,
	  .offset = AT(timeout_ns) },
	{ .name = "seed",
	  .arg = "NUMBER",
	  .help = "run n has the seed NUMBER + n (default 0)",
	  .type = OPTION_UINT64,
	  .offset = AT(seed),
	  .max = INT64_MAX },
	{ .name = "first-run",
	  .arg = "NUMBER",
	  .help = "number the runs from here (default 1)",
	  .type = OPTION_UINT64,
	  .offset = AT(first_run),
	  .min = 1,
	  .max = 1000000000 },
	{ .name = "plan",
	  .arg = "NAME",
	  .help = "adaptive: choose the way of each run by what earlier runs "
		  "found; even: take each way in turn (default adaptive)",
	  .type = OPTION_CHOICE,
	  .offset = AT(plan),
	  .choices = plan_words },
	{ .name = "directory",
	  .letter = 'd',
	  .arg = "DIRECTORY",
	  .help = "keep all files here, and go on from what is here (default: "
		  "a new one)",
	  .type = OPTION_STRING,
	  .offset = AT(directory) },
	{ .name = "state",
	  .arg = "FILE",
	  .help = "keep the state of the sweep here (default state.db in "
		  "the directory)",
	  .type = OPTION_STRING,
	  .offset = AT(state) },
	{ .name = "learned",
	  .arg = "FILE",
	  .help = "keep what the runs learn about the program's locations here "
		  "(default learned.db in the directory)",
	  .type = OPTION_STRING,
	  .offset = AT(learned) },
	{ .name = "output-limit",
	  .arg = "BYTES",
	  .help = "keep at most this much of each output of a run (default "
		  "1048576)",
	  .type = OPTION_UINT64,
	  .offset = AT(output_limit),
	  .max = 1 << 30 },
	{ .name = "effort",
	  .arg = "WHAT",
	  .help = "low, normal or high: how much time the watching may cost in "
		  "every run (default: what the plan says)",
	  .type = OPTION_CHOICE,
	  .offset = AT(effort),
	  .choices = effort_words },
	{ .name = "rate",
	  .arg = "HITS",
	  .help = "sample about this often per second in every run",
	  .type = OPTION_UINT64,
	  .offset = AT(rate),
	  .max = 1000000 },
	{ .name = "stall",
	  .arg = "TIME",
	  .help = "hold a thread at its access at most this long in every run",
	  .type = OPTION_DURATION,
	  .offset = AT(stall_ns),
	  .min = CLOCK_NS_PER_US,
	  .max = 10 * CLOCK_NS_PER_S },
	{ .name = "policy",
	  .arg = "WHICH",
	  .help = "guided: up to half of the stalls are where races are "
		  "likely; uniform: anywhere; in every run",
	  .type = OPTION_CHOICE,
	  .offset = AT(policy),
	  .choices = watch_policy_words },
	{ .name = "overhead",
	  .arg = "PERCENT",
	  .help = "slow every run down by at most this share of its time "
		  "(default: any)",
	  .type = OPTION_PERCENT,
	  .offset = AT(overhead_pct) },
	{ .name = "duration",
	  .arg = "TIME",
	  .help = "stop watching a run after this time",
	  .type = OPTION_DURATION,
	  .offset = AT(duration_ns),
	  .min = CLOCK_NS_PER_US },
	{ .name = "on-race",
	  .arg = "ACTION",
	  .help = "report; core: write a core file at the race; exec:COMMAND: "
		  "run this with the race's JSON as its input (default report)",
	  .type = OPTION_STRING,
	  .offset = AT(on_race),
	  .choices = sweep_on_race_words },
	WATCH_SOURCE_ROWS(struct sweep_options),
	WATCH_TARGET_ROWS(struct sweep_options),
	WATCH_NO_ASLR_ROW(struct sweep_options),
	GATE_SPECIAL_ROW(struct sweep_options),
	GATE_SUPPRESSIONS_ROW(struct sweep_options),
	GATE_NO_DEFAULTS_ROW(struct sweep_options),
	GATE_IGNORE_UNLIKELY_ROW(struct sweep_options),
	GATE_GENERATE_ROW(struct sweep_options),
	{ .name = "baseline",
	  .arg = "FILE",
	  .help = "the races of this saved report are known",
	  .type = OPTION_LIST,
	  .offset = AT(baselines) },
	GATE_UPDATE_ROW(struct sweep_options),
	{ .name = "error-exitcode",
	  .arg = "STATUS",
	  .help = "exit with this status when a race was reported (default 66; "
		  "0: never)",
	  .type = OPTION_UINT64,
	  .offset = AT(error_exitcode),
	  .max = 255 },
	{ .name = "min-samples",
	  .arg = "NUMBER",
	  .help = "exit with 65 when fewer samples of the program's own "
		  "modules had a stall in all runs (default 1)",
	  .type = OPTION_UINT64,
	  .offset = AT(min_samples) },
	{ .name = "output",
	  .letter = 'o',
	  .arg = "FILE",
	  .help = "write the merged report to this file too, as JSON lines "
		  "unless --format says otherwise (-: standard output)",
	  .type = OPTION_STRING,
	  .offset = AT(output) },
	{ .name = "format",
	  .arg = "FORMAT",
	  .help = "write the report as text, json (lines), sarif, junit or "
		  "html, to standard output without -o",
	  .type = OPTION_CHOICE,
	  .offset = AT(format),
	  .choices = render_names },
	{ .name = "show",
	  .arg = "WHICH",
	  .help = "default, or all: every race in full (default default)",
	  .type = OPTION_CHOICE,
	  .offset = AT(show),
	  .choices = show_words },
	TERMINAL_ROWS(struct sweep_options),
	{ .name = "verbose",
	  .letter = 'v',
	  .help = "report every run",
	  .type = OPTION_FLAG,
	  .offset = AT(verbose) },
	COMMAND_OPTIONS(struct sweep_options),
};

const struct option_table sweep_table = {
	.command = "sweep",
	.synopsis = "[options] [--] COMMAND [ARGUMENT...]",
	.summary = "Run a program many times and report the data races of all "
		   "runs.",
	.defs = sweep_defs,
	.count = sizeof(sweep_defs) / sizeof(sweep_defs[0]),
	.leading = true,
};

void sweep_options_init(struct sweep_options *options)
{
	*options = (struct sweep_options){
		.first_run = 1,
		.jobs = 1,
		.timeout_ns = 600 * CLOCK_NS_PER_S,
		.output_limit = 1 << 20,
		.rate = UINT64_MAX,
		.stall_ns = UINT64_MAX,
		.overhead_pct = -1,
		.effort = EFFORT_NONE,
		.policy = -1,
		.backend = -1,
		.follow = -1,
		.format = -1,
		.error_exitcode = EXIT_RACES,
		.min_samples = 1,
	};
}

static bool add_words(struct vec *out, const char *option, const char *value)
{
	return vec_push(out, &option) && (!value || vec_push(out, &value));
}

static bool add_list(struct vec *out, const char *option,
		     const struct vec *values)
{
	for (size_t i = 0; i < values->count; i++) {
		if (!add_words(out, option, *(const char **)vec_at(values, i)))
			return false;
	}
	return true;
}

static bool add_pattern(void *context, const char *pattern, bool include)
{
	return add_words(context, include ? "--include" : "--exclude", pattern);
}

/* An even plan makes run n the same everywhere: it learns from none. */
static bool add_learned(const struct sweep_options *options,
			const char *directory, struct sweep_words *words,
			struct vec *out)
{
	if (options->plan == PLAN_EVEN && !options->learned)
		return true;
	if (options->learned)
		strbuf_add(&words->learned, options->learned);
	else
		strbuf_addf(&words->learned, "%s/learned.db", directory);
	return !words->learned.failed &&
	       add_words(out, "--state", strbuf_text(&words->learned));
}

void sweep_options_settle(struct sweep_options *options)
{
	const struct effort_options given = {
		.effort = options->effort,
		.rate = options->rate,
		.stall_ns = options->stall_ns,
		.overhead_pct = options->overhead_pct,
	};
	struct effort_plan plan;

	if (options->effort == EFFORT_NONE)
		return;
	plan = effort_plan(&given, EFFORT_NORMAL);
	options->rate = plan.params.rate;
	options->stall_ns = plan.params.stall_max_ns;
	if (plan.params.share > 0)
		options->overhead_pct = 100 * plan.params.share;
}

struct error *sweep_options_check(const struct sweep_options *options)
{
	struct vec places;
	struct onrace onrace;
	struct error *err = at_parse(&options->at, &places);

	at_free(&places);
	if (!err)
		err = patterns_check(&options->include, &options->exclude);
	if (err)
		return err;
	err = onrace_init(&onrace, options->on_race);
	if (err)
		return err;
	if (onrace.action == ONRACE_STOP)
		err = error_create(ERROR_USAGE,
				   "option '--on-race': 'stop' is not for a "
				   "sweep: a run that is left stopped never "
				   "ends");
	onrace_deinit(&onrace);
	return err;
}

bool sweep_options_fill(const struct sweep_options *options,
			const char *directory, struct sweep_words *words,
			struct vec *out)
{
	bool good = patterns_walk(options->given, &options->include,
				  &options->exclude, add_pattern, out) &&
		    add_list(out, "--at", &options->at) &&
		    add_list(out, "--special-variable", &options->special) &&
		    add_list(out, "--suppressions", &options->suppressions);

	/* one that is to be updated may not be there yet */
	if (!options->update_baseline)
		good = good && add_list(out, "--baseline", &options->baselines);
	if (options->backend >= 0)
		good = good && add_words(out, "--backend",
					 watch_backend_words[options->backend]);
	if (options->follow >= 0)
		good = good && add_words(out, "--follow",
					 watch_follow_words[options->follow]);
	if (options->effort != EFFORT_NONE)
		good = good && add_words(out, "--effort",
					 effort_words[options->effort]);
	if (options->on_race)
		good = good && add_words(out, "--on-race", options->on_race);
	if (options->source)
		good = good && add_words(out, "--source", NULL);
	good = good && add_list(out, "--source-dir", &options->source_dirs);
	if (options->text_untouched)
		good = good && add_words(out, "--text-untouched", NULL);
	if (options->debuginfod)
		good = good && add_words(out, "--debuginfod", NULL);
	if (options->include_stack)
		good = good && add_words(out, "--include-stack", NULL);
	if (options->no_aslr)
		good = good && add_words(out, "--no-aslr", NULL);
	if (options->no_default_suppressions)
		good = good &&
		       add_words(out, "--no-default-suppressions", NULL);
	if (options->ignore_unlikely)
		good = good && add_words(out, "--ignore-unlikely", NULL);
	if (options->duration_ns) {
		snprintf(words->duration, sizeof(words->duration),
			 "%" PRIu64 "ns", options->duration_ns);
		good = good && add_words(out, "--duration", words->duration);
	}
	if (options->overhead_pct >= 0) {
		snprintf(words->overhead, sizeof(words->overhead), "%.6f",
			 options->overhead_pct);
		good = good && add_words(out, "--overhead", words->overhead);
	}
	return good && add_learned(options, directory, words, out);
}
