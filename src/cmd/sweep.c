/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * racewatch sweep: many runs of a program, one report, a gate
 * (racewatch-sweep(1)).
 */
#include "cmd/cmd.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/log.h"
#include "base/strbuf.h"
#include "cmd/sweep-options.h"
#include "cmd/watch.h"
#include "doctor/program.h"
#include "judge/judge.h"
#include "output/sweep-end.h"
#include "output/terminal.h"
#include "report/render.h"
#include "report/status.h"
#include "sampling/at.h"
#include "sweep/summary.h"
#include "sweep/sweep.h"

/* Runs, when nothing says how many are enough. */
enum { SWEEP_RUNS = 100 };

/* What is printed while it goes on. */
struct sweep_status {
	const struct sweep_options *options;
	struct status status;
	uint64_t told; /* of troubled runs */
	uint64_t next_ns; /* of the next line where there is no terminal */
};

/* Troubled runs that are reported at once; the summary has all. */
enum { SWEEP_TOLD = 20 };

static const uint64_t SWEEP_LINE_NS = 60 * CLOCK_NS_PER_S;

static void note_race(const struct results_race *race)
{
	log_note("new race in run %llu: %s",
		 (unsigned long long)race->first_run,
		 race->what ? race->what : "?");
}

static void run_finished(void *context, const struct results *results,
			 const struct results_run *run)
{
	struct sweep_status *watching = context;
	const struct sweep_options *options = watching->options;
	bool plain = outcome_is_plain(&run->outcome);
	struct strbuf text = { 0 };

	if (options->common.showing.quiet)
		return;
	for (size_t i = 0; run->races_new && i < results->races.count; i++) {
		const struct results_race *race = vec_at(&results->races, i);

		status_erase(&watching->status);
		if (!race->minor && race->first_run == run->number)
			note_race(race);
	}
	if (!options->verbose && (plain || watching->told++ >= SWEEP_TOLD))
		return;
	summary_add_run(&text, run);
	status_erase(&watching->status);
	log_note("%s", strbuf_text(&text));
	strbuf_deinit(&text);
}

static void show_progress(void *context, const struct sweep_progress *progress)
{
	struct sweep_status *watching = context;
	struct strbuf text = { 0 };
	uint64_t now = clock_now_ns();

	summary_add_progress(&text, progress);
	status_show_text(&watching->status, strbuf_text(&text));
	if (!watching->status.enabled &&
	    !watching->options->common.showing.quiet &&
	    now >= watching->next_ns) {
		if (watching->next_ns)
			log_note("%s", strbuf_text(&text));
		watching->next_ns = now + SWEEP_LINE_NS;
	}
	strbuf_deinit(&text);
}

/* A new folder, by the time; of two at once the second gets a number. */
static struct error *make_new_directory(char **ret)
{
	time_t now = time(NULL);
	char base[64];
	struct tm local;

	localtime_r(&now, &local);
	strftime(base, sizeof(base), "racewatch-sweep-%Y%m%d-%H%M%S", &local);
	for (int i = 1; i < 1000; i++) {
		struct strbuf path = { 0 };

		strbuf_add(&path, base);
		if (i > 1)
			strbuf_addf(&path, "-%d", i);
		if (mkdir(strbuf_text(&path), 0777) == 0) {
			*ret = strbuf_steal(&path);
			return *ret ? NULL : error_nomem;
		}
		strbuf_deinit(&path);
		if (errno != EEXIST)
			break;
	}
	return error_os(errno, "make the directory %s", base);
}

static struct error *make_directory(const char *given, char **ret)
{
	if (!given)
		return make_new_directory(ret);
	if (mkdir(given, 0777) < 0 && errno != EEXIST)
		return error_os(errno, "make the directory %s", given);
	*ret = strdup(given);
	return *ret ? NULL : error_nomem;
}

static struct error *do_sweep(const struct sweep_options *options,
			      const struct sweep_config *config,
			      struct judge *judge, int *ret_status)
{
	const struct plan_fixed fixed = sweep_options_fixed(options);
	struct sweep_status watching = { .options = options };
	const struct sweep_sink sink = { .context = &watching,
					 .finished = run_finished,
					 .progress = show_progress };
	struct sweep_result result = { .end = SWEEP_DONE };
	struct plan plan;
	struct results results;
	struct sweep_end_config end = {
		.results = &results,
		.result = &result,
		.command = config->command,
		.directory = config->directory,
		.output = options->common.reporting.output,
		.format =
			options->common.reporting.format
				? render_find(options->common.reporting.format)
				: NULL,
		.judge = judge,
		.error_exitcode = options->common.reporting.error_exitcode,
		.min_samples = options->min_samples,
		.quiet = options->common.showing.quiet,
		.verbose = options->verbose,
		.show_all = options->common.showing.show == SHOW_ALL,
		.style = showing_style(&options->common.showing,
				       options->verbose, STDERR_FILENO),
	};
	struct error *err, *ended = NULL;

	plan_init(&plan, &fixed, options->plan == PLAN_EVEN);
	results_init(&results, &plan);
	status_init(&watching.status,
		    options->common.showing.quiet ? -1 : STDERR_FILENO);
	err = sweep_run(config, &sink, &results, &result);
	status_erase(&watching.status);
	/* after an error too: what was found until then */
	if (!err || results.finished > 0)
		ended = sweep_conclude(&end, ret_status);
	results_deinit(&results);
	if (err)
		error_free(ended);
	return err ? err : ended;
}

/*
 * The file of the state, into `out'. A sweep that an earlier version began has
 * another one, which is not read.
 */
static struct error *find_state(const struct sweep_options *options,
				const char *directory, struct strbuf *out)
{
	struct strbuf old = { 0 };
	struct error *err = NULL;

	if (options->state) {
		strbuf_add(out, options->state);
		return out->failed ? error_nomem : NULL;
	}
	strbuf_addf(out, "%s/state.db", directory);
	strbuf_addf(&old, "%s/state.jsonl", directory);
	if (out->failed || old.failed)
		err = error_nomem;
	else if (access(strbuf_text(out), F_OK) < 0 &&
		 access(strbuf_text(&old), F_OK) == 0)
		err = error_create(ERROR_USAGE,
				   "%s: an earlier version started this sweep; "
				   "use another directory",
				   strbuf_text(&old));
	strbuf_deinit(&old);
	return err;
}

/*
 * The file that the runs learn in, into `out'. An even plan makes run n the same
 * everywhere: it learns from none.
 */
static void find_learned(const struct sweep_options *options,
			 const char *directory, struct strbuf *out)
{
	if (options->learned)
		strbuf_add(out, options->learned);
	else if (options->plan != PLAN_EVEN)
		strbuf_addf(out, "%s/learned.db", directory);
}

static struct error *sweep_in(const struct sweep_options *options, char **argv,
			      struct judge *judge, const char *directory,
			      int *ret_status)
{
	struct sweep_config config = {
		.command = argv,
		.program = "/proc/self/exe",
		.directory = directory,
		.options = VEC_INIT(char *),
		.seed = options->seed,
		.first_run = options->first_run,
		.runs = options->runs,
		.budget_ns = options->budget_ns,
		.quiet = options->stop_after_quiet,
		.jobs = options->jobs,
		.timeout_ns = options->timeout_ns,
		.output_limit = options->output_limit,
		.ignore_unlikely = options->common.judging.ignore_unlikely,
	};
	struct strbuf state = { 0 }, learned = { 0 };
	struct error *err = find_state(options, directory, &state);

	config.state_path = strbuf_text(&state);
	if (!config.runs && !config.budget_ns && !config.quiet)
		config.runs = SWEEP_RUNS;
	find_learned(options, directory, &learned);
	if (!err &&
	    (learned.failed ||
	     !sweep_options_fill(
		     options, learned.length > 0 ? strbuf_text(&learned) : NULL,
		     &config.options)))
		err = error_nomem;
	if (!err)
		err = do_sweep(options, &config, judge, ret_status);
	vec_deinit(&config.options);
	strbuf_deinit(&learned);
	strbuf_deinit(&state);
	return err;
}

static struct error *sweep_judged(const struct sweep_options *options,
				  char **argv, int *ret_status)
{
	struct judge_config config = options->common.judging;
	cleanup_free char *directory = NULL;
	struct judge judge;
	struct error *err;

	config.verbose = options->verbose;
	err = judge_init(&judge, &config);
	if (!err)
		err = make_directory(options->directory, &directory);
	if (!err)
		err = sweep_in(options, argv, &judge, directory, ret_status);
	judge_deinit(&judge);
	return err;
}

/* What cannot be started at all is told before anything is made. */
static struct error *sweep_parsed(const struct sweep_options *options,
				  char **argv, int *ret_status)
{
	struct program program;
	struct error *err = at_check_count(&options->common.watching.at);

	if (err)
		return err;
	if (!argv[0])
		return error_create(ERROR_USAGE, "no program to run is given");
	if (!strchr(argv[0], '{')) {
		err = program_inspect(argv[0], &program);
		if (!err)
			program_deinit(&program);
	}
	if (err)
		return err;
	watch_check_directories(&options->common.reporting.source_dirs);
	return sweep_judged(options, argv, ret_status);
}

static struct error *sweep_main(int argc, char **argv, int *ret_status)
{
	struct sweep_options options = {
		.of_runs = VEC_INIT(struct option_word),
	};
	struct error *err;
	int first;

	err = options_parse(&sweep_table, argc, argv, &options,
			    &options.of_runs, &first);
	if (!err) {
		*ret_status = 0;
		if (!command_answer(&command_sweep, &options.common.standard))
			err = sweep_parsed(&options, argv + first, ret_status);
	}
	vec_deinit(&options.of_runs);
	options_release(&sweep_table, &options);
	return err;
}

const struct command command_sweep = {
	.name = "sweep",
	.summary = "run a program many times, with one report and a gate",
	.options = &sweep_table,
	.watches = true,
	.run = sweep_main,
};
