/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What the commands that watch a program have in common; see watch.h.
 */
#include "cmd/watch.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/log.h"
#include "cmd/cmd.h"
#include "doctor/refusal.h"
#include "judge/judge.h"
#include "output/onrace.h"
#include "output/output.h"
#include "output/terminal.h"
#include "output/watching.h"
#include "report/source.h"
#include "report/state.h"
#include "sampling/at.h"
#include "sampling/rules.h"
#include "sys/sandbox.h"

/* how arguments of --on-race and --debug may begin */
static const char *const on_race_words[] = { "report", "stop", "core",
					     "exec:", NULL };
static const char *const debug_words[] = { "image", "sys",    "target",
					   "watch", "detect", "report",
					   "all",   NULL };
/*
 * Unless it was asked for that they are watched to their end, children that the
 * command leaves behind are watched for so long: a server that a test has
 * started may never end.
 */
static const uint64_t WATCH_REST_NS = 2 * CLOCK_NS_PER_S;

#define AT(member) offsetof(struct watch_options, member)

static const struct option_def watch_defs[] = {
	{ .name = "--seed",
	  .arg = "NUMBER",
	  .help = "seed of the random choices that racewatch makes",
	  .type = OPTION_UINT64,
	  .offset = AT(seed),
	  .preset = OPTION_NONE,
	  .max = UINT64_MAX - 1 },
	{ .name = "--state",
	  .arg = "FILE",
	  .help = "start with what earlier runs learned about the program, and "
		  "add what this run learns",
	  .type = OPTION_STRING,
	  .offset = AT(state) },
	{ .name = "--halt-on-race",
	  .help = "stop watching at the first race, and end a program that "
		  "racewatch started",
	  .type = OPTION_FLAG,
	  .offset = AT(halt_on_race) },
	{ .name = "--on-race",
	  .arg = "ACTION",
	  .help = "report; stop: leave the program stopped at the race; core: "
		  "write a core file of it; exec:COMMAND: run the command with "
		  "the race as JSON on its standard input (default report)",
	  .type = OPTION_STRING,
	  .offset = AT(on_race),
	  .check = onrace_check,
	  .choices = on_race_words },
	{ .name = "--min-samples",
	  .arg = "NUMBER",
	  .help = "exit with 65 if fewer samples of the program's own modules "
		  "had a stall (default 0)",
	  .type = OPTION_UINT64,
	  .offset = AT(min_samples) },
	{ .name = "--verbose",
	  .letter = 'v',
	  .help = "print more about what racewatch does",
	  .type = OPTION_FLAG,
	  .offset = AT(verbose) },
	{ .name = "--debug",
	  .arg = "DOMAINS",
	  .help = "print debug messages of these domains, separated by commas: "
		  "image, sys, target, watch, detect, report or all",
	  .type = OPTION_STRING,
	  .offset = AT(debug),
	  .choices = debug_words },
};

/* What needs a program that racewatch starts. */
static const struct option_def watch_start_defs[] = {
	{ .name = "--timeout",
	  .arg = "TIME",
	  .help = "end the program after this time, and exit with 124 "
		  "(default 0: never)",
	  .type = OPTION_DURATION,
	  .offset = AT(timeout_ns) },
};

/* What needs processes that run already. */
static const struct option_def watch_choice_defs[] = {
	{ .name = "--name",
	  .arg = "GLOB",
	  .help = "watch the processes whose name, or that of the executable's "
		  "file, matches",
	  .type = OPTION_STRING,
	  .offset = AT(choice.name),
	  .check = choice_check },
	{ .name = "--unit",
	  .arg = "SERVICE",
	  .help = "watch the processes of this unit of systemd",
	  .type = OPTION_STRING,
	  .offset = AT(choice.unit),
	  .check = choice_check },
	{ .name = "--cgroup",
	  .arg = "GROUP",
	  .help = "watch the processes of this control group and of those "
		  "below it",
	  .type = OPTION_STRING,
	  .offset = AT(choice.cgroup),
	  .check = choice_check },
};

static const struct option_group watch_group = OPTION_GROUP(watch_defs);
static const struct option_group watch_start_group =
	OPTION_GROUP(watch_start_defs);
static const struct option_group watch_choice_group =
	OPTION_GROUP(watch_choice_defs);

#define WATCH_PARTS                                                            \
	{ &effort_group, AT(common.effort) },                                  \
		{ &watching_group, AT(common.watching) }, { &watch_group, 0 }, \
		{ &replaying_group, AT(common.replaying) },                    \
		{ &tracing_group, AT(common.tracing) },                        \
		{ &selecting_group, AT(common.selecting) },                    \
		{ &reporting_group, AT(common.reporting) },                    \
		{ &judging_group, AT(common.judging) },                        \
		{ &judging_watch_group, AT(common.judging) },                  \
		{ &showing_group, AT(common.showing) },                        \
	{                                                                      \
		&standard_group, AT(common.standard)                           \
	}

const struct option_part watch_run_parts[] = {
	WATCH_PARTS,
	{ &watch_start_group, 0 },
	{ &tracing_start_group, AT(common.tracing) },
	{ NULL, 0 },
};

const struct option_part watch_attach_parts[] = {
	WATCH_PARTS,
	{ &watch_choice_group, 0 },
	{ NULL, 0 },
};

static uint64_t watch_random_seed(void)
{
	uint32_t seed = 0;

	if (getrandom(&seed, sizeof(seed), 0) != sizeof(seed))
		seed = (uint32_t)clock_wall_ns();
	/* short enough to be typed again */
	return seed % 1000000000;
}

/* A program is run by scripts, make and test drivers; servers have children. */
static struct tracing watch_tracing(const struct watch_options *options)
{
	struct tracing tracing = options->common.tracing;

	if (tracing.follow < 0)
		tracing.follow = options->argv ? WIRE_FOLLOW_ALL
					       : WIRE_FOLLOW_NONE;
	return tracing;
}

/*
 * Why races are not replayed; NULL: they are. So it is of a server too: the
 * budget counts what replays cost it (bench/replay-cost).
 */
static const char *watch_replay_off(const struct watch_options *options)
{
	return options->common.replaying.when == REPLAYING_OFF ? "--replay off"
							       : NULL;
}

/* What it takes to run commands at a race is known to them alone. */
static const char *watch_sandbox_off(const struct watch_options *options,
				     const struct onrace *onrace)
{
	if (options->common.watching.no_sandbox)
		return "--no-sandbox";
	if (onrace->action == ONRACE_EXEC)
		return "--on-race=exec";
	return onrace->action == ONRACE_CORE ? "--on-race=core" : NULL;
}

/* Whose program could take the front end over gains nothing if it is ours. */
static struct sandbox watch_sandbox(const struct watch_options *options)
{
	bool connects = options->common.watching.debuginfod;

	return (struct sandbox){
		.writes = !options->foreign || options->state || connects,
		.connects = connects,
	};
}

static struct silence_asked watch_asked(const struct watch_options *options,
					const struct effort_plan *plan,
					const struct globs *globs)
{
	const struct effort_options *effort = &options->common.effort;

	return (struct silence_asked){
		.attached = options->pid != 0,
		.follows_fork = options->common.tracing.follow ==
				WIRE_FOLLOW_FORK,
		.swept = getenv("RACEWATCH_RUN"),
		.rate = plan->params.rate,
		.rate_given = effort->rate != EFFORT_RATE_NONE,
		.overhead_given = effort->overhead_pct >= 0,
		.overhead_pct = 100 * plan->params.share,
		.effort = effort_words[effort->effort == EFFORT_NONE
					       ? (int)options->preset
					       : effort->effort],
		.min_samples = options->min_samples,
		.globs = globs,
	};
}

static struct error *watch_session(const struct watch_options *options,
				   const struct rules *rules,
				   struct learned *learned,
				   struct output *output, int *ret_status)
{
	const struct common *common = &options->common;
	const struct effort_plan plan =
		effort_plan(&common->effort, options->preset);
	const struct sandbox sandbox = watch_sandbox(options);
	const struct watching_plan watching = {
		.session = {
			.argv = options->argv,
			.pids = options->pids.items,
			.pid_count = options->pids.count,
			.held = options->held,
			.tracing = watch_tracing(options),
			.replay_instances =
				watch_replay_off(options)
					? 0
					: (uint32_t)common->replaying.instances,
			.rest_ns = common->tracing.follow < 0 ? WATCH_REST_NS
							      : 0,
			.debuginfod = common->watching.debuginfod,
			.seed = options->seed,
			.effort = plan,
			.duration_ns = common->watching.duration_ns,
			.timeout_ns = options->timeout_ns,
			.halt_on_race = options->halt_on_race,
			.stop_at_race = onrace_stops(output->config->onrace),
			.ignore_unlikely = common->judging.ignore_unlikely,
			.shows_all = common->showing.show == SHOW_ALL,
			.rules = rules,
			.judge = output->config->judge,
			.sources = output->config->sources,
			.learned = options->state ? learned : NULL,
			.guided = common->watching.policy &&
				  strcmp(common->watching.policy, "guided") ==
					  0,
			.at = &options->places,
			.sandbox = output->config->sandbox_off ? NULL
							       : &sandbox,
		},
		.asked = watch_asked(options, &plan, &rules->globs),
		.output = output,
		.error_exitcode = common->reporting.error_exitcode,
	};
	struct error *err = watching_run(&watching, ret_status);

	/* what explains it takes hold of processes, which the sandbox refuses */
	return err && output->counts.sum.elapsed_ns == 0 &&
			       !output->counts.sandboxed
		       ? refusal_explain(err, options->pid)
		       : err;
}

/* What was learned counts even if the session failed in its midst. */
static struct error *watch_learning(const struct watch_options *options,
				    const struct rules *rules,
				    struct output *output, int *ret_status)
{
	struct state state;
	struct error *err = state_load(&state, options->state);

	if (!err) {
		err = watch_session(options, rules, &state.learned, output,
				    ret_status);
		if (!state_save(&state) && !err)
			*ret_status = EXIT_FAILED;
	}
	state_deinit(&state);
	return err;
}

void watch_check_directories(const struct vec *directories)
{
	for (size_t i = 0; i < directories->count; i++) {
		const char *path = *(char *const *)vec_at(directories, i);
		struct stat st;

		if (stat(path, &st) != 0)
			log_warn("--source-dir %s: %s", path, strerror(errno));
		else if (!S_ISDIR(st.st_mode))
			log_warn("--source-dir %s: %s", path,
				 strerror(ENOTDIR));
	}
}

static struct error *watch_output(const struct watch_options *options,
				  bool seeded, const struct rules *rules,
				  struct judge *judge, struct onrace *onrace,
				  int *ret_status)
{
	struct sources sources;
	struct output_config config = {
		.command = options->argv,
		.options = options->words,
		.option_count = options->word_count,
		.path = options->common.reporting.output,
		.onrace = onrace,
		.format =
			options->common.reporting.format
				? render_find(options->common.reporting.format)
				: NULL,
		.seed = options->seed,
		.replay_off = watch_replay_off(options),
		.sandbox_off = watch_sandbox_off(options, onrace),
		.sandbox_strict = !watch_sandbox(options).writes,
		.quiet = options->common.showing.quiet,
		.verbose = options->verbose,
		.show_all = options->common.showing.show == SHOW_ALL,
		.fold_unlikely = options->pid != 0,
		.style = showing_style(&options->common.showing,
				       options->verbose, STDERR_FILENO),
		.judge = judge,
		.sources = options->common.reporting.source ||
					   options->common.reporting.source_dirs
							   .count > 0
				   ? &sources
				   : NULL,
	};
	struct output output;
	struct error *err = output_init(&output, &config);

	/* nothing changes the mode of a file once the sandbox is entered */
	if (!err && options->of_others)
		saved_make_private(&output.saved);
	sources_init(&sources, &options->common.reporting.source_dirs);
	watch_check_directories(&options->common.reporting.source_dirs);

	if (!err)
		err = watch_learning(options, rules, &output, ret_status);
	sources_deinit(&sources);
	/* what was wrong with the file has been said */
	if (!output_deinit(&output) && !err)
		*ret_status = EXIT_FAILED;
	if (!err && !seeded && !options->common.showing.quiet)
		log_note("seed %llu (--seed %llu makes the same choices)",
			 (unsigned long long)options->seed,
			 (unsigned long long)options->seed);
	return err;
}

static struct error *watch_judged(const struct watch_options *options,
				  bool seeded, const struct rules *rules,
				  struct onrace *onrace, int *ret_status)
{
	struct judge_config config = options->common.judging;
	struct judge judge;
	struct error *err;

	config.verbose = options->verbose;
	err = judge_init(&judge, &config);
	if (!err)
		err = watch_output(options, seeded, rules, &judge, onrace,
				   ret_status);
	judge_deinit(&judge);
	return err;
}

/* Stopping takes a back-end that stops the racing thread. */
static struct error *watch_check_stop(const struct watch_options *options)
{
	if (options->halt_on_race)
		return error_create(ERROR_USAGE,
				    "--halt-on-race and --on-race=%s cannot be "
				    "used together",
				    options->on_race);
	if (strcmp(options->common.tracing.backend, "perf-cpu") == 0)
		return error_create(ERROR_USAGE,
				    "--backend=perf-cpu and --on-race=%s "
				    "cannot be used together",
				    options->on_race);
	return NULL;
}

/* What the rows cannot tell of an option alone. */
static struct error *watch_check(const struct watch_options *options)
{
	const char *backend = options->common.tracing.backend;

	if (options->debug && !log_enable(options->debug))
		return error_create(ERROR_USAGE,
				    "--debug: '%s' has an unknown domain",
				    options->debug);
	if (options->common.tracing.text_untouched &&
	    strcmp(backend, "auto") != 0 && strcmp(backend, "perf") != 0)
		return error_create(ERROR_USAGE,
				    "--text-untouched and --backend=%s cannot "
				    "be used together: it needs the back-end "
				    "perf",
				    backend);
	return NULL;
}

static struct error *watch_selected(struct watch_options *options, bool seeded,
				    struct onrace *onrace, int *ret_status)
{
	struct rules rules = {
		.include_stack = options->common.selecting.include_stack
	};
	struct error *err =
		at_parse(&options->common.watching.at, &options->places);

	globs_init(&rules.globs);
	if (!err)
		err = selecting_globs(&options->common.selecting, &rules.globs);
	if (!err)
		err = watch_judged(options, seeded, &rules, onrace, ret_status);
	globs_deinit(&rules.globs);
	at_free(&options->places);
	return err;
}

struct error *watch_program(struct watch_options *options, int *ret_status)
{
	bool seeded = options->seed != OPTION_NONE;
	struct onrace onrace;
	struct error *err = watch_check(options);

	if (err)
		return err;
	err = onrace_init(&onrace, options->on_race);
	if (!err && onrace_stops(&onrace))
		err = watch_check_stop(options);
	if (!seeded)
		options->seed = watch_random_seed();
	if (!err)
		err = watch_selected(options, seeded, &onrace, ret_status);
	onrace_deinit(&onrace);
	return err;
}

struct error *watch_parse(const struct option_table *table, int argc,
			  char **argv, struct watch_options *ret,
			  int *ret_first)
{
	struct error *err;

	*ret = (struct watch_options){
		.pids = VEC_INIT(int),
		.preset = ret->preset,
	};
	err = options_parse(table, argc, argv, ret, NULL, ret_first);
	if (err)
		return err;
	/* operands are behind the options now */
	ret->words = argv + 1;
	ret->word_count = (size_t)*ret_first - 1;
	if (ret->word_count > 0 &&
	    strcmp(ret->words[ret->word_count - 1], "--") == 0)
		ret->word_count--;
	return NULL;
}
