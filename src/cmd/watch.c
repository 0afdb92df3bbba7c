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
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/log.h"
#include "cmd/cmd.h"
#include "doctor/refusal.h"
#include "judge/judge.h"
#include "output/onrace.h"
#include "output/output.h"
#include "output/silence.h"
#include "output/terminal.h"
#include "report/run.h"
#include "report/source.h"
#include "report/state.h"
#include "sampling/at.h"
#include "sampling/rules.h"
#include "session/session.h"

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

static const struct option_group watch_group = OPTION_GROUP(watch_defs);
static const struct option_group watch_start_group =
	OPTION_GROUP(watch_start_defs);

#define WATCH_PARTS                                                       \
	{ &effort_group, AT(effort) }, { &watching_group, AT(watching) }, \
		{ &watch_group, 0 }, { &tracing_group, AT(tracing) },     \
		{ &selecting_group, AT(selecting) },                      \
		{ &reporting_group, AT(reporting) },                      \
		{ &judging_group, AT(judging) },                          \
		{ &judging_watch_group, AT(judging) },                    \
		{ &showing_group, AT(showing) },                          \
	{                                                                 \
		&standard_group, AT(standard)                             \
	}

const struct option_part watch_run_parts[] = {
	WATCH_PARTS,
	{ &watch_start_group, 0 },
	{ &tracing_start_group, AT(tracing) },
	{ NULL, 0 },
};

const struct option_part watch_attach_parts[] = {
	WATCH_PARTS,
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

static int program_status(int status)
{
	return WIFSIGNALED(status) ? 128 + WTERMSIG(status)
				   : WEXITSTATUS(status);
}

static int watch_status(const struct watch_options *options,
			const struct session_result *result,
			const struct session_counts *counts)
{
	if (counts->sum.races > counts->sum.known &&
	    options->reporting.error_exitcode != 0)
		return (int)options->reporting.error_exitcode;
	if (result->timed_out)
		return EXIT_TIMED_OUT;
	if (counts->sum.sampling.own < options->min_samples)
		return EXIT_NO_PROOF;
	/* a program that was attached to goes on, or its end is not ours */
	return options->pid ? 0 : program_status(result->status);
}

/* A program is run by scripts, make and test drivers; servers have children. */
static struct tracing watch_tracing(const struct watch_options *options)
{
	struct tracing tracing = options->tracing;

	if (tracing.follow < 0)
		tracing.follow = options->argv ? WIRE_FOLLOW_ALL
					       : WIRE_FOLLOW_NONE;
	return tracing;
}

static void watch_warn(struct strbuf *text)
{
	if (text->length > 0)
		log_warn("%s", strbuf_text(text));
	strbuf_clear(text);
}

static struct silence_asked watch_asked(const struct watch_options *options,
					const struct effort_plan *plan,
					const struct globs *globs, bool ended)
{
	const struct effort_options *effort = &options->effort;

	return (struct silence_asked){
		.attached = options->pid != 0,
		.ended = ended,
		.follows_fork = options->tracing.follow == WIRE_FOLLOW_FORK,
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

/* Why nothing was sampled, and which patterns have no effect. */
static void watch_silence(const struct silence_asked *asked,
			  const struct session_counts *counts,
			  const struct vec *patterns)
{
	struct strbuf text = { 0 };

	silence_explain(&text, asked, counts);
	watch_warn(&text);
	silence_generated(&text, counts);
	watch_warn(&text);
	for (size_t i = 0; i < patterns->count; i++) {
		silence_pattern(&text, vec_at(patterns, i));
		watch_warn(&text);
	}
	silence_floor(&text, asked, counts);
	watch_warn(&text);
	strbuf_deinit(&text);
}

/* The warnings, and the summary. False as output_finish(). */
static bool watch_end(const struct watch_options *options,
		      const struct effort_plan *plan, const struct globs *globs,
		      const struct session_result *result,
		      struct output *output, int status)
{
	const struct silence_asked asked = watch_asked(
		options, plan, globs, result->end == SESSION_EXITED);
	struct strbuf text = { 0 };
	struct output_end end = {
		.exit_status = status,
		.unsampled.reason =
			silence_reason(&text, &asked, &output->counts),
		.patterns = VEC_INIT(struct run_pattern),
	};
	bool good = true;

	if (end.unsampled.reason)
		end.unsampled.text = strbuf_text(&text);
	if (output->counts.modules_read)
		good = silence_patterns(globs, &end.patterns);
	if (!options->showing.quiet)
		watch_silence(&asked, &output->counts, &end.patterns);
	good = output_finish(output, &end) && good;
	vec_deinit(&end.patterns);
	strbuf_deinit(&text);
	return good;
}

static struct error *watch_session(const struct watch_options *options,
				   const struct rules *rules,
				   struct learned *learned,
				   struct output *output, int *ret_status)
{
	const struct effort_plan plan =
		effort_plan(&options->effort, options->preset);
	struct session_config config = {
		.argv = options->argv,
		.pids = options->pids.items,
		.pid_count = options->pids.count,
		.held = options->held,
		.tracing = watch_tracing(options),
		.rest_ns = options->tracing.follow < 0 ? WATCH_REST_NS : 0,
		.debuginfod = options->watching.debuginfod,
		.seed = options->seed,
		.effort = plan,
		.duration_ns = options->watching.duration_ns,
		.timeout_ns = options->timeout_ns,
		.halt_on_race = options->halt_on_race,
		.stop_at_race = onrace_stops(output->config->onrace),
		.ignore_unlikely = options->judging.ignore_unlikely,
		.shows_all = options->showing.show == SHOW_ALL,
		.rules = rules,
		.judge = output->config->judge,
		.sources = output->config->sources,
		.learned = options->state ? learned : NULL,
		.guided = options->watching.policy &&
			  strcmp(options->watching.policy, "guided") == 0,
		.at = &options->places,
	};
	struct session_sink sink = output_sink(output);
	struct session_result result = { .status = 0 };
	struct error *err;
	int status = EXIT_FAILED;

	/* a race must be told soon where its threads wait for that */
	if (config.stop_at_race)
		config.effort.nice = 0;
	err = session_run(&config, &sink, &result);

	onrace_finish(output->config->onrace);

	if (!err)
		status = watch_status(options, &result, &output->counts);
	else
		result.end = SESSION_LEFT;
	/* a tracer that died in the middle has left results too */
	if (err && output->counts.sum.elapsed_ns == 0)
		return refusal_explain(err, options->pid);
	if (!watch_end(options, &plan, &rules->globs, &result, output, status))
		status = EXIT_FAILED;
	if (!err)
		*ret_status = status;
	return err;
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
		.path = options->reporting.output,
		.onrace = onrace,
		.format = options->reporting.format
				  ? render_find(options->reporting.format)
				  : NULL,
		.seed = options->seed,
		.quiet = options->showing.quiet,
		.verbose = options->verbose,
		.show_all = options->showing.show == SHOW_ALL,
		.fold_unlikely = options->pid != 0,
		.color = terminal_color(options->showing.color, STDERR_FILENO),
		.judge = judge,
		.sources =
			options->reporting.source ||
					options->reporting.source_dirs.count > 0
				? &sources
				: NULL,
	};
	struct output output;
	struct error *err = output_init(&output, &config);

	sources_init(&sources, &options->reporting.source_dirs);
	watch_check_directories(&options->reporting.source_dirs);

	if (!err)
		err = watch_learning(options, rules, &output, ret_status);
	sources_deinit(&sources);
	/* what was wrong with the file has been said */
	if (!output_deinit(&output) && !err)
		*ret_status = EXIT_FAILED;
	if (!err && !seeded && !options->showing.quiet)
		log_note("seed %llu (--seed %llu makes the same choices)",
			 (unsigned long long)options->seed,
			 (unsigned long long)options->seed);
	return err;
}

static struct error *watch_judged(const struct watch_options *options,
				  bool seeded, const struct rules *rules,
				  struct onrace *onrace, int *ret_status)
{
	struct judge_config config = options->judging;
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
	if (strcmp(options->tracing.backend, "perf-cpu") == 0)
		return error_create(ERROR_USAGE,
				    "--backend=perf-cpu and --on-race=%s "
				    "cannot be used together",
				    options->on_race);
	return NULL;
}

/* What the rows cannot tell of an option alone. */
static struct error *watch_check(const struct watch_options *options)
{
	const char *backend = options->tracing.backend;

	if (options->debug && !log_enable(options->debug))
		return error_create(ERROR_USAGE,
				    "--debug: '%s' has an unknown domain",
				    options->debug);
	if (options->tracing.text_untouched && strcmp(backend, "auto") != 0 &&
	    strcmp(backend, "perf") != 0)
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
	struct rules rules = { .include_stack =
				       options->selecting.include_stack };
	struct error *err = at_parse(&options->watching.at, &options->places);

	globs_init(&rules.globs);
	if (!err)
		err = selecting_globs(&options->selecting, &rules.globs);
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
