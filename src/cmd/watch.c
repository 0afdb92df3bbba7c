/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What the commands that watch a program have in common; see watch.h.
 */
#include "cmd/watch.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/log.h"
#include "cmd/at.h"
#include "cmd/cmd.h"
#include "cmd/gate.h"
#include "cmd/onrace.h"
#include "cmd/output.h"
#include "cmd/patterns.h"
#include "cmd/refusal.h"
#include "cmd/silence.h"
#include "cmd/state.h"
#include "cmd/terminal.h"
#include "detect/rules.h"
#include "detect/session.h"
#include "judge/judge.h"
#include "report/run.h"
#include "report/source.h"

/* how arguments of --on-race and --debug may begin */
static const char *const on_race_words[] = { "report", "stop", "core",
					     "exec:", NULL };
static const char *const debug_words[] = { "image", "sys",    "target",
					   "watch", "detect", "report",
					   "all",   NULL };
/* in the order of enum wire_follow */
const char *const watch_follow_words[] = { "none", "fork", "all", NULL };
/*
 * Unless it was asked for that they are watched to their end, children that the
 * command leaves behind are watched for so long: a server that a test has
 * started may never end.
 */
static const uint64_t WATCH_REST_NS = 2 * CLOCK_NS_PER_S;

enum policy { POLICY_GUIDED, POLICY_UNIFORM };

const char *const watch_policy_words[] = { "guided", "uniform", NULL };
enum backend_word { BACKEND_AUTO, BACKEND_PERF, BACKEND_PERF_CPU };

const char *const watch_backend_words[] = { "auto",   "perf",  "perf-cpu",
					    "ptrace", "value", NULL };

#define AT(member) offsetof(struct watch_options, member)

const struct option_def watch_defs[WATCH_DEFS] = {
	{ .name = "effort",
	  .arg = "WHAT",
	  .help = "low, normal or high: how much time the watching may cost "
		  "(default normal, attach low)",
	  .type = OPTION_CHOICE,
	  .offset = AT(effort.effort),
	  .choices = effort_words },
	{ .name = "overhead",
	  .arg = "PERCENT",
	  .help = "slow the program down by at most this share of its time, "
		  "and sample as often as that allows (default 40, attach 2)",
	  .type = OPTION_PERCENT,
	  .offset = AT(effort.overhead_pct) },
	{ .name = "rate",
	  .arg = "HITS",
	  .help = "sample about this often per second (default 1000, attach "
		  "50; 0: never)",
	  .type = OPTION_UINT64,
	  .offset = AT(effort.rate),
	  .max = 1000000 },
	{ .name = "stall",
	  .arg = "TIME",
	  .help = "hold a thread at its access at most this long (default 1ms, "
		  "attach 200us)",
	  .type = OPTION_DURATION,
	  .offset = AT(effort.stall_ns),
	  .min = CLOCK_NS_PER_US,
	  .max = 10 * CLOCK_NS_PER_S },
	{ .name = "duration",
	  .arg = "TIME",
	  .help = "stop watching after this time",
	  .type = OPTION_DURATION,
	  .offset = AT(duration_ns),
	  .min = CLOCK_NS_PER_US },
	{ .name = "seed",
	  .arg = "NUMBER",
	  .help = "make racewatch's own choices from this number",
	  .type = OPTION_UINT64,
	  .offset = AT(seed),
	  .max = UINT64_MAX - 1 },
	{ .name = "policy",
	  .arg = "WHICH",
	  .help = "uniform: all locations that run are equally likely; guided: "
		  "up to half of the stalls are where races are likely "
		  "(default uniform)",
	  .type = OPTION_CHOICE,
	  .offset = AT(policy),
	  .choices = watch_policy_words },
	{ .name = "state",
	  .arg = "FILE",
	  .help = "begin with what earlier runs learned about the program, and "
		  "add to it",
	  .type = OPTION_STRING,
	  .offset = AT(state) },
	WATCH_TARGET_ROWS(struct watch_options),
	{ .name = "output",
	  .letter = 'o',
	  .arg = "FILE",
	  .help = "write the report to this file too, as JSON lines unless "
		  "--format says otherwise (-: standard output)",
	  .type = OPTION_STRING,
	  .offset = AT(output) },
	{ .name = "format",
	  .arg = "FORMAT",
	  .help = "write the report as text, json (lines), sarif, junit or "
		  "html, to standard output without -o",
	  .type = OPTION_CHOICE,
	  .offset = AT(format),
	  .choices = render_names },
	WATCH_SOURCE_ROWS(struct watch_options),
	{ .name = "show",
	  .arg = "WHICH",
	  .help = "default, or all: also what is suppressed, known or "
		  "synchronization (default default)",
	  .type = OPTION_CHOICE,
	  .offset = AT(show),
	  .choices = show_words },
	GATE_SUPPRESSIONS_ROW(struct watch_options),
	GATE_NO_DEFAULTS_ROW(struct watch_options),
	GATE_SPECIAL_ROW(struct watch_options),
	GATE_IGNORE_UNLIKELY_ROW(struct watch_options),
	GATE_GENERATE_ROW(struct watch_options),
	{ .name = "baseline",
	  .arg = "FILE",
	  .help = "races of this saved report are known: fail for others only",
	  .type = OPTION_LIST,
	  .offset = AT(baselines) },
	GATE_UPDATE_ROW(struct watch_options),
	{ .name = "error-exitcode",
	  .arg = "NUMBER",
	  .help = "exit with this when a race was reported (default 66; 0: as "
		  "if none had been)",
	  .type = OPTION_UINT64,
	  .offset = AT(error_exitcode),
	  .max = 255 },
	{ .name = "halt-on-race",
	  .help = "stop at the first race; a program that was started is ended",
	  .type = OPTION_FLAG,
	  .offset = AT(halt_on_race) },
	{ .name = "on-race",
	  .arg = "ACTION",
	  .help = "report; stop: leave the program stopped at the race; core: "
		  "write a core file of it; exec:COMMAND: run this with the "
		  "race's JSON as its input (default report)",
	  .type = OPTION_STRING,
	  .offset = AT(on_race),
	  .choices = on_race_words },
	{ .name = "min-samples",
	  .arg = "NUMBER",
	  .help = "exit with 65 when fewer samples of the program's own "
		  "modules had a stall (default 0)",
	  .type = OPTION_UINT64,
	  .offset = AT(min_samples) },
	TERMINAL_ROWS(struct watch_options),
	{ .name = "verbose",
	  .letter = 'v',
	  .help = "say more about what is done",
	  .type = OPTION_FLAG,
	  .offset = AT(verbose) },
	{ .name = "debug",
	  .arg = "DOMAINS",
	  .help = "print what racewatch does inside: image, sys, target, "
		  "watch, detect, report or all, between commas",
	  .type = OPTION_STRING,
	  .offset = AT(debug),
	  .choices = debug_words },
	COMMAND_OPTIONS(struct watch_options),
	/* what follows needs a program that is ours: WATCH_DEFS_ATTACH */
	{ .name = "timeout",
	  .arg = "TIME",
	  .help = "end the program after this time, and exit with 124 "
		  "(0: never)",
	  .type = OPTION_DURATION,
	  .offset = AT(timeout_ns) },
	WATCH_NO_ASLR_ROW(struct watch_options),
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
	if (counts->races > counts->races_known && options->error_exitcode != 0)
		return (int)options->error_exitcode;
	if (result->timed_out)
		return EXIT_TIMED_OUT;
	if (counts->stalled_own < options->min_samples)
		return EXIT_NO_PROOF;
	/* a program that was attached to goes on, or its end is not ours */
	return options->pid ? 0 : program_status(result->status);
}

/* A program is run by scripts, make and test drivers; servers have children. */
static enum wire_follow watch_follow(const struct watch_options *options)
{
	if (options->follow >= 0)
		return (enum wire_follow)options->follow;
	return options->argv ? WIRE_FOLLOW_ALL : WIRE_FOLLOW_NONE;
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
		.follows_fork = options->follow == WIRE_FOLLOW_FORK,
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
	if (!options->quiet)
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
		.tracing = {
			.backend = watch_backend_words[options->backend],
			.follow = watch_follow(options),
			.text_untouched = options->text_untouched,
			.no_aslr = options->no_aslr,
		},
		.rest_ns = options->follow < 0 ? WATCH_REST_NS : 0,
		.debuginfod = options->debuginfod,
		.seed = options->seed,
		.effort = plan,
		.duration_ns = options->duration_ns,
		.timeout_ns = options->timeout_ns,
		.halt_on_race = options->halt_on_race,
		.stop_at_race = onrace_stops(output->config->onrace),
		.ignore_unlikely = options->ignore_unlikely,
		.shows_all = options->show == SHOW_ALL,
		.rules = rules,
		.judge = output->config->judge,
		.sources = output->config->sources,
		.learned = options->state ? learned : NULL,
		.guided = options->policy == POLICY_GUIDED,
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
	if (err && output->counts.elapsed_ns == 0)
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
		.path = options->output,
		.onrace = onrace,
		.format = options->format < 0
				  ? NULL
				  : render_find(render_names[options->format]),
		.seed = options->seed,
		.quiet = options->quiet,
		.verbose = options->verbose,
		.show_all = options->show == SHOW_ALL,
		.fold_unlikely = options->pid != 0,
		.color = terminal_color(options->color, STDERR_FILENO),
		.judge = judge,
		.sources = options->source || options->source_dirs.count > 0
				   ? &sources
				   : NULL,
	};
	struct output output;
	struct error *err = output_init(&output, &config);

	sources_init(&sources, &options->source_dirs);
	watch_check_directories(&options->source_dirs);

	if (!err)
		err = watch_learning(options, rules, &output, ret_status);
	sources_deinit(&sources);
	/* what was wrong with the file has been said */
	if (!output_deinit(&output) && !err)
		*ret_status = EXIT_FAILED;
	if (!err && !seeded && !options->quiet)
		log_note("seed %llu (--seed %llu makes the same choices)",
			 (unsigned long long)options->seed,
			 (unsigned long long)options->seed);
	return err;
}

static struct error *watch_judged(const struct watch_options *options,
				  bool seeded, const struct rules *rules,
				  struct onrace *onrace, int *ret_status)
{
	struct judge_config config = {
		.suppressions = options->suppressions,
		.baselines = options->baselines,
		.special = options->special,
		.no_default_suppressions = options->no_default_suppressions,
		.update_baseline = options->update_baseline,
		.generate = options->gen_suppressions,
		.ignore_unlikely = options->ignore_unlikely,
		.verbose = options->verbose,
	};
	struct judge judge;
	struct error *err = judge_init(&judge, &config);

	if (!err)
		err = watch_output(options, seeded, rules, &judge, onrace,
				   ret_status);
	judge_deinit(&judge);
	return err;
}

/* Stopping takes a back-end that stops the racing thread. */
static struct error *watch_on_race(const struct watch_options *options,
				   struct onrace *ret)
{
	struct error *err = onrace_init(ret, options->on_race);

	if (err || !onrace_stops(ret))
		return err;
	if (options->halt_on_race)
		return error_create(
			ERROR_USAGE,
			"options '--halt-on-race' and '--on-race=%s' "
			"cannot be used together",
			options->on_race);
	if (options->backend == BACKEND_PERF_CPU)
		return error_create(ERROR_USAGE,
				    "option '--on-race=%s' does not work with "
				    "the back-end perf-cpu",
				    options->on_race);
	return NULL;
}

struct error *watch_program(struct watch_options *options, char *const *given,
			    int *ret_status)
{
	struct rules rules = { .include_stack = options->include_stack };
	bool seeded = options->seed != UINT64_MAX;
	struct onrace onrace;
	struct error *err;

	if (options->debug && !log_enable(options->debug))
		return error_create(ERROR_USAGE,
				    "option '--debug': '%s' has an unknown "
				    "domain",
				    options->debug);
	if (options->text_untouched && options->backend != BACKEND_AUTO &&
	    options->backend != BACKEND_PERF)
		return error_create(ERROR_USAGE,
				    "option '--text-untouched' needs the "
				    "back-end perf");
	err = watch_on_race(options, &onrace);
	if (err)
		return err;
	err = at_parse(&options->at, &options->places);
	if (err)
		goto out;
	if (!seeded)
		options->seed = watch_random_seed();
	globs_init(&rules.globs);
	err = patterns_merge(given, &options->include, &options->exclude,
			     &rules.globs);
	if (!err)
		err = watch_judged(options, seeded, &rules, &onrace,
				   ret_status);
	globs_deinit(&rules.globs);
out:
	at_free(&options->places);
	onrace_deinit(&onrace);
	return err;
}

struct error *watch_parse(const struct option_table *table, int argc,
			  char **argv, struct watch_options *ret,
			  char ***ret_given, int *ret_first)
{
	/* parsing may change the order of argv */
	char **given = calloc((size_t)argc + 1, sizeof(*given));
	struct error *err;

	*ret = (struct watch_options){
		.pids = VEC_INIT(int),
		.seed = UINT64_MAX, /* none given */
		.format = -1,
		.policy = POLICY_UNIFORM,
		.follow = -1,
		.preset = ret->preset,
		.error_exitcode = EXIT_RACES,
	};
	effort_init(&ret->effort);
	if (!given)
		return error_nomem;
	memcpy(given, argv, (size_t)argc * sizeof(*given));
	err = options_parse(table, argc, argv, ret, ret_first);
	if (err) {
		free(given);
		return err;
	}
	*ret_given = given;
	/* operands are behind the options now */
	ret->words = argv + 1;
	ret->word_count = (size_t)*ret_first - 1;
	if (ret->word_count > 0 &&
	    strcmp(ret->words[ret->word_count - 1], "--") == 0)
		ret->word_count--;
	return NULL;
}
