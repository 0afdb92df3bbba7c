/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * racewatch hunt: record a run, and provoke every conflict that it shows
 * (racewatch-hunt(1)).
 */
#include "cmd/cmd.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/log.h"
#include "base/strbuf.h"
#include "cmd/watch.h"
#include "doctor/program.h"
#include "hunt/candidates.h"
#include "hunt/record.h"
#include "hunt/sources.h"
#include "hunt/tempfolder.h"
#include "hunt/variants.h"
#include "hunt/worker.h"
#include "judge/judge.h"
#include "output/hunting.h"
#include "output/terminal.h"
#include "report/source.h"
#include "report/text.h"
#include "sampling/rules.h"
#include "sys/procfs.h"
#include "tracee/selftest.h"
#include "x86/dregs.h"

struct hunt_options {
	struct standard standard;
	struct replaying replaying;
	struct reporting reporting;
	struct judge_config judging;
	struct showing showing;
	const char *recorder, *trace, *keep_trace, *targets, *program;
	const char *store, *since, *backend, *transfer, *candidates;
	const char *until_exit_of;
	struct vec include; /* of const char * */
	uint64_t trace_memory, transfer_window, transfer_registers, executions,
		sides, min_tried, budget_ns, jobs, hold_ns, timeout_ns;
	bool verbose, record_code, show_ordered;
	struct candidates *wanted; /* of --candidates; NULL: without it */
	/* the options as given */
	char **words;
	size_t word_count;
};

#define AT(member) offsetof(struct hunt_options, member)

static const char *const recorder_words[] = { "auto", "valgrind", "qemu",
					      "breakpoints", NULL };
/* those that stop a thread before an instruction */
static const char *const hunt_backend_words[] = { "auto", "perf", "ptrace",
						  NULL };

static const char *const hunt_transfer_words[] = { "auto", "off", "on", NULL };

static const struct option_def hunt_defs[] = {
	{ .name = "--budget",
	  .arg = "TIME",
	  .help = "end the hunt after this time",
	  .type = OPTION_DURATION,
	  .offset = AT(budget_ns),
	  .min = CLOCK_NS_PER_MS },
	{ .name = "--jobs",
	  .letter = 'j',
	  .arg = "NUMBER",
	  .help = "runs at the same time, at most (default: one for each "
		  "processor; with --until-exit-of one)",
	  .type = OPTION_UINT64,
	  .offset = AT(jobs),
	  .min = 1,
	  .max = 1024 },
	{ .name = "--hold",
	  .arg = "TIME",
	  .help = "hold a thread at its access for so long (default: as the "
		  "recording says)",
	  .type = OPTION_DURATION,
	  .offset = AT(hold_ns),
	  .min = CLOCK_NS_PER_MS },
	{ .name = "--timeout",
	  .arg = "TIME",
	  .help = "end each run after this time (default 10m; 0: never)",
	  .type = OPTION_DURATION,
	  .offset = AT(timeout_ns),
	  .preset = 600 * CLOCK_NS_PER_S },
	{ .name = "--until-exit-of",
	  .arg = "CLIENT",
	  .help = "start this shell command in each run, and end the run when "
		  "it has ended: of servers",
	  .type = OPTION_STRING,
	  .offset = AT(until_exit_of) },
	{ .name = "--store",
	  .arg = "FILE",
	  .help = "keep the sides and what comes of them in this file, and "
		  "continue the hunt that is in it",
	  .type = OPTION_STRING,
	  .offset = AT(store) },
	{ .name = "--since",
	  .arg = "FILE",
	  .help = "leave out sides whose function is as in the hunt that is "
		  "in this store",
	  .type = OPTION_STRING,
	  .offset = AT(since) },
	{ .name = "--recorder",
	  .arg = "NAME",
	  .help = "how the run is recorded: auto, valgrind, qemu or "
		  "breakpoints (default auto)",
	  .type = OPTION_NAME,
	  .offset = AT(recorder),
	  .choices = recorder_words },
	{ .name = "--executions",
	  .arg = "NUMBER",
	  .help = "by breakpoints: executions of each instruction that are "
		  "recorded, for each thread (default 10)",
	  .type = OPTION_UINT64,
	  .offset = AT(executions),
	  .preset = RECORD_EXECUTIONS,
	  .min = 1,
	  .max = 1000000 },
	{ .name = "--include",
	  .arg = "GLOB",
	  .help = "by breakpoints: record the modules, functions or source "
		  "files that match, besides the program's own",
	  .type = OPTION_LIST,
	  .offset = AT(include) },
	{ .name = "--trace-memory",
	  .arg = "MB",
	  .help = "memory that the recorder may take for what it knows of the "
		  "program's memory (default: its own)",
	  .type = OPTION_UINT64,
	  .offset = AT(trace_memory),
	  .max = 1 << 20 },
	{ .name = "--transfer",
	  .arg = "WHEN",
	  .help = "on: do not try what a handed-over address puts in order, "
		  "which takes a recording by valgrind; auto: with "
		  "--candidates, where it can be known (default auto)",
	  .type = OPTION_NAME,
	  .offset = AT(transfer),
	  .choices = hunt_transfer_words },
	{ .name = "--record-code",
	  .help = "by valgrind: record what each thread executes, too",
	  .type = OPTION_FLAG,
	  .offset = AT(record_code) },
	{ .name = "--transfer-window",
	  .arg = "KB",
	  .help = "of what each thread executes, keep at least the last KB "
		  "kilobytes; with --trace, look back no further from an "
		  "access (default 0: all)",
	  .type = OPTION_UINT64,
	  .offset = AT(transfer_window),
	  .max = 1 << 30 },
	{ .name = "--transfer-registers",
	  .arg = "KB",
	  .help = "with --transfer, track an address in registers through the "
		  "last KB kilobytes of what each thread executed until its "
		  "use (default 0: all)",
	  .type = OPTION_UINT64,
	  .offset = AT(transfer_registers),
	  .max = 1 << 30 },
	{ .name = "--keep-trace",
	  .arg = "DIRECTORY",
	  .help = "keep the recording in this directory",
	  .type = OPTION_STRING,
	  .offset = AT(keep_trace) },
	{ .name = "--trace",
	  .arg = "DIRECTORY",
	  .help = "take the recording in this directory instead of a new one",
	  .type = OPTION_STRING,
	  .offset = AT(trace) },
	{ .name = "--targets",
	  .arg = "FILE",
	  .help = "provoke the targets of this report; nothing is recorded",
	  .type = OPTION_STRING,
	  .offset = AT(targets) },
	{ .name = "--candidates",
	  .arg = "FILE",
	  .help = "provoke only the races in this report, of racewatch, "
		  "ThreadSanitizer, Helgrind or DRD, and say what came of each",
	  .type = OPTION_STRING,
	  .offset = AT(candidates) },
	{ .name = "--program",
	  .arg = "GLOB",
	  .help = "hunt only in processes whose program has this path or name",
	  .type = OPTION_STRING,
	  .offset = AT(program) },
	{ .name = "--sides",
	  .arg = "NUMBER",
	  .help = "try only the first of the sides, by their rank (default 0: "
		  "all)",
	  .type = OPTION_UINT64,
	  .offset = AT(sides) },
	{ .name = "--min-tried",
	  .arg = "PERCENT",
	  .help = "exit with 65 if fewer of the sides were tried to the end "
		  "and no race was met (default 0: if none was)",
	  .type = OPTION_UINT64,
	  .offset = AT(min_tried),
	  .max = 100 },
	{ .name = "--backend",
	  .arg = "NAME",
	  .help = "how threads are watched: auto, perf or ptrace (default "
		  "auto)",
	  .type = OPTION_NAME,
	  .offset = AT(backend),
	  .choices = hunt_backend_words },
	{ .name = "--show-ordered",
	  .help = "print the stacks of what hand-overs put in order",
	  .type = OPTION_FLAG,
	  .offset = AT(show_ordered) },
	{ .name = "--verbose",
	  .letter = 'v',
	  .help = "print what came of every side, and more about what "
		  "racewatch does",
	  .type = OPTION_FLAG,
	  .offset = AT(verbose) },
};

static const struct option_group hunt_group = OPTION_GROUP(hunt_defs);

static const struct option_table hunt_table = {
	.command = "hunt",
	.synopsis = "[options] [--] COMMAND [ARGUMENT...]",
	.summary =
		"Record a run of a program and provoke, in further runs, each "
		"conflict of accesses that it shows.",
	.parts =
		(const struct option_part[]){
			{ &hunt_group, 0 },
			{ &replaying_group, AT(replaying) },
			{ &reporting_group, AT(reporting) },
			{ &judging_group, AT(judging) },
			{ &judging_watch_group, AT(judging) },
			{ &showing_group, AT(showing) },
			{ &standard_group, AT(standard) },
			{ NULL, 0 },
		},
	.leading = true,
};

static const char *hunt_replay_off(const struct hunt_options *options)
{
	return options->replaying.when == REPLAYING_OFF ? "--replay off" : NULL;
}

/* Is the recorder named, and not Valgrind, which alone records code? */
static bool hunt_has_other_recorder(const struct hunt_options *options)
{
	return options->recorder && strcmp(options->recorder, "auto") != 0 &&
	       strcmp(options->recorder, "valgrind") != 0;
}

/* As asked for. */
static bool hunt_must_transfer(const struct hunt_options *options)
{
	return options->transfer && strcmp(options->transfer, "on") == 0;
}

/* A report that is false is one of a hand-over more often than not. */
static bool hunt_transfers(const struct hunt_options *options)
{
	bool may = !options->transfer || strcmp(options->transfer, "auto") == 0;

	return hunt_must_transfer(options) ||
	       (may && options->candidates && !options->targets &&
		!hunt_has_other_recorder(options));
}

/* A recording that is made now has what is executed, too. */
static bool hunt_records_code(const struct hunt_options *options)
{
	return options->record_code ||
	       (hunt_transfers(options) && !options->trace);
}

/* Code is recorded by Valgrind, or not at all. */
static const char *hunt_recorder(const struct hunt_options *options)
{
	bool named = options->recorder &&
		     strcmp(options->recorder, "auto") != 0;

	if (named)
		return options->recorder;
	return options->record_code ||
			       (hunt_must_transfer(options) && !options->trace)
		       ? "valgrind"
		       : "auto";
}

/* In less than this, no side can be tried: the recording is all that is wanted. */
static const uint64_t HUNT_BUDGET_LEAST_NS = CLOCK_NS_PER_S;

static uint64_t hunt_deadline_ns(const struct hunt_config *config)
{
	return config->budget_ns < HUNT_BUDGET_LEAST_NS
		       ? 0
		       : config->asked_ns + config->budget_ns;
}

static struct hunt_sources hunt_sources(const struct hunt_options *options,
					const struct hunt_config *config)
{
	return (struct hunt_sources){
		.argv = config->run.argv,
		.targets = options->targets,
		.trace = options->trace,
		.keep_trace = options->keep_trace,
		.recorder = hunt_recorder(options),
		.trace_memory = options->trace_memory << 20,
		.code = hunt_records_code(options),
		.transfer = hunt_transfers(options),
		.window = options->transfer_window << 10,
		.registers = options->transfer_registers << 10,
		.executions = (uint32_t)options->executions,
		.include = options->include.items,
		.include_count = options->include.count,
		.timeout_ns = options->timeout_ns,
		.deadline_ns = hunt_deadline_ns(config),
		.until_exit_of = options->until_exit_of,
		.program = options->program,
		.candidates = options->wanted,
		.most = options->sides,
		.since = options->since,
	};
}

/*
 * Of bytes that many instructions access, the recorder keeps some of these, whatever
 * memory it has. Where only one thread accesses them, nothing is lost.
 */
static void hunt_note_dropped(const struct hunt_totals *totals)
{
	struct strbuf count = { 0 };

	if (totals->starved > 0) {
		text_add_count(&count, totals->starved);
		log_warn("the recorder had no memory left for %s accesses: a "
			 "larger --trace-memory keeps more",
			 strbuf_text(&count));
		strbuf_truncate(&count, 0);
	}
	if (totals->crowded > 0) {
		text_add_plural(&count, totals->crowded, "place");
		log_note("not recorded: some of the accesses to %s of 8 bytes, "
			 "which many instructions of several threads access; "
			 "conflicts of these may be missing, whatever the "
			 "memory",
			 strbuf_text(&count));
	}
	if (totals->left_out > 0)
		log_note(
			"not compared: some of the accesses to bytes that very "
			"many instructions and threads access; conflicts of "
			"these may be missing");
	strbuf_deinit(&count);
}

/* What was found, in a line. */
static void hunt_note_found(const struct hunt_options *options,
			    const struct hunt_found *found)
{
	struct strbuf line = { 0 };

	if (options->showing.quiet)
		return;
	if (found->kept) {
		log_note("%s has the sides of an earlier hunt, which goes on",
			 options->store);
		return;
	}
	if (found->recorded) {
		strbuf_addf(&line, "recorded by %s", found->recorder);
		if (found->slow_down > 0)
			strbuf_addf(&line, " at %.1f times the CPU time",
				    found->slow_down);
		strbuf_add(&line, ": ");
	}
	if (found->paired) {
		text_add_count(&line, found->totals.accesses);
		strbuf_add(&line, " accesses, ");
		text_add_plural(&line, found->totals.pairs, "pair");
		strbuf_add(&line, " that conflict, ");
	}
	if (found->transferred > 0) {
		text_add_count(&line, found->totals.transferred);
		strbuf_add(&line, " of them ordered by hand-overs, ");
	}
	text_add_plural(&line, found->sides - found->transferred, "side");
	strbuf_add(&line, " to be tried");
	if (found->totals.sides_left_out > 0) {
		strbuf_add(&line, ", without ");
		text_add_count(&line, found->totals.sides_left_out);
		strbuf_add(&line, " that --sides leaves out");
	}
	log_note("%s", strbuf_text(&line));
	if (found->recorded_status != found->bare_status)
		log_warn("the command ended with exit status %d under the "
			 "recorder, and with %d by itself: the recording may "
			 "lack what it does otherwise; another --recorder may "
			 "not",
			 found->recorded_status, found->bare_status);
	strbuf_deinit(&line);
	hunt_note_dropped(&found->totals);
}

/* A hunt goes on with fewer, as each of its runs finds them (tracer.c). */
static void hunt_note_registers(void)
{
	int count;
	struct error *err = selftest_free_registers(&count);

	if (!err && count < DREGS_SLOTS)
		log_warn("others have %d of the four debug registers (perf, a "
			 "debugger): fewer sides are tried in a run, and some "
			 "may not be tried",
			 DREGS_SLOTS - count);
	error_free(err);
}

/*
 * One for each processor that we may use. Servers that run at a time listen at one
 * address, unless the user takes care.
 */
static uint64_t hunt_jobs(const struct hunt_options *options)
{
	int processors = 1;
	uint64_t busy, idle;

	if (options->jobs > 0)
		return options->jobs;
	if (options->until_exit_of)
		return 1;
	procfs_processors(&processors, &busy, &idle);
	return processors > 0 ? (uint64_t)processors : 1;
}

static struct error *hunt_in_outcomes(const struct hunt_options *options,
				      const struct hunt_config *config,
				      struct outcomes *outcomes,
				      struct hunting_output *output,
				      int *ret_status)
{
	const struct hunt_sources sources = hunt_sources(options, config);
	const struct hunt_sink sink = hunting_output_sink(output);
	struct hunt_result result;
	struct hunt_found found;
	struct error *err, *ended;

	hunt_note_registers();
	worker_number(1); /* of the recorded run */
	err = hunt_find_sides(&sources, outcomes, &found);
	if (err)
		return err;
	hunt_note_found(options, &found);
	output->hunt = (struct run_hunt){
		.known = true,
		.recorder = found.recorded ? found.recorder : NULL,
		.recorded_exit = (uint32_t)found.recorded_status,
		.bare_exit = (uint32_t)found.bare_status,
	};
	output->recorded_status = found.status;
	output->recording_cut = found.cut;
	err = hunting_output_earlier(output, outcomes);
	if (err)
		return err;
	err = hunt_run(config, outcomes, &sink, &result);
	/* after an error too: what was found until then */
	ended = hunting_output_finish(output, outcomes, &result, ret_status);
	if (!err)
		return ended;
	error_free(ended);
	return err;
}

/* The store that is asked for, or one that is for this hunt only. */
static struct error *hunt_in_store(const struct hunt_options *options,
				   const struct hunt_config *config,
				   struct hunting_output *output,
				   int *ret_status)
{
	struct strbuf path = { 0 };
	struct outcomes *outcomes = NULL;
	struct tempfolder folder = { 0 };
	struct error *err = NULL;

	if (!options->store)
		err = tempfolder_make("hunt", &folder);
	if (err)
		return err;
	if (options->store)
		strbuf_add(&path, options->store);
	else
		strbuf_addf(&path, "%s/store.db", folder.path);
	if (path.failed)
		err = error_nomem;
	if (!err)
		err = outcomes_open(strbuf_text(&path), config->run.argv,
				    &outcomes);
	if (!err)
		err = hunt_in_outcomes(options, config, outcomes, output,
				       ret_status);
	outcomes_close(outcomes);
	tempfolder_remove(&folder);
	strbuf_deinit(&path);
	return err;
}

static struct error *hunt_judged(const struct hunt_options *options,
				 char **argv, struct judge *judge,
				 struct sources *sources,
				 const struct rules *rules, int *ret_status)
{
	const struct reporting *reporting = &options->reporting;
	const struct hunting_config output_config = {
		.command = argv,
		.until_exit_of = options->until_exit_of,
		.options = options->words,
		.option_count = options->word_count,
		.path = reporting->output,
		.format = reporting->format ? render_find(reporting->format)
					    : NULL,
		.replay_off = hunt_replay_off(options),
		.quiet = options->showing.quiet,
		.verbose = options->verbose,
		.show_all = options->showing.show == SHOW_ALL,
		.show_ordered = options->show_ordered,
		.style = showing_style(&options->showing, options->verbose,
				       STDERR_FILENO),
		.candidates = options->wanted,
		.judge = judge,
		.error_exitcode = reporting->error_exitcode,
		.min_tried = options->min_tried,
	};
	const struct hunt_config config = {
		.run = { .argv = argv,
			 .timeout_ns = options->timeout_ns,
			 .replay_instances =
				 hunt_replay_off(options)
					 ? 0
					 : (uint32_t)
						   options->replaying.instances,
			 .silent = true,
			 .until_all = options->wanted != NULL,
			 .until_exit_of = options->until_exit_of,
			 .backend = options->backend ? options->backend
						     : "auto",
			 .judge = judge,
			 .sources = sources,
			 .rules = rules },
		.budget_ns = options->budget_ns,
		.asked_ns = clock_now_ns(),
		.jobs = hunt_jobs(options),
		.shared = options->store != NULL,
		.hold_ns = options->hold_ns,
		.keeps_races = options->store != NULL,
	};
	struct hunting_output output;
	struct error *err = hunting_output_init(&output, &output_config);

	if (!err)
		err = hunt_in_store(options, &config, &output, ret_status);
	if (!hunting_output_deinit(&output) && !err)
		*ret_status = EXIT_FAILED;
	return err;
}

static struct error *hunt_with_judge(const struct hunt_options *options,
				     char **argv, int *ret_status)
{
	const struct vec *dirs = &options->reporting.source_dirs;
	bool shown = options->reporting.source || dirs->count > 0;
	struct judge_config judging = options->judging;
	struct rules rules = { .include_stack = true };
	struct sources sources;
	struct judge judge;
	struct error *err;

	judging.verbose = options->verbose;
	globs_init(&rules.globs);
	sources_init(&sources, dirs);
	watch_check_directories(dirs);
	err = judge_init(&judge, &judging);
	if (!err)
		err = hunt_judged(options, argv, &judge,
				  shown ? &sources : NULL, &rules, ret_status);
	judge_deinit(&judge);
	sources_deinit(&sources);
	globs_deinit(&rules.globs);
	return err;
}

static struct error *hunt_check_code(const struct hunt_options *options)
{
	const char *word = options->record_code ? "--record-code"
						: "--transfer on";

	if (options->transfer_registers > 0 && !hunt_transfers(options))
		return error_create(ERROR_USAGE,
				    "--transfer-registers is of --transfer on");
	if (!hunt_records_code(options))
		return options->transfer_window == 0 ||
				       (hunt_transfers(options) &&
					options->trace)
			       ? NULL
			       : error_create(ERROR_USAGE,
					      "--transfer-window is of a "
					      "recording by --record-code or "
					      "--transfer on");
	if (options->record_code && !options->keep_trace)
		return error_create(ERROR_USAGE,
				    "--record-code is for the recording: "
				    "--keep-trace says where that is kept");
	if (options->targets)
		return error_create(ERROR_USAGE,
				    "%s is of a recording, and --targets "
				    "makes none",
				    word);
	if (hunt_has_other_recorder(options))
		return error_create(ERROR_USAGE,
				    "%s is Valgrind's, and --recorder is %s",
				    word, options->recorder);
	return NULL;
}

static struct error *hunt_check_candidates(const struct hunt_options *options)
{
	if (!options->candidates)
		return NULL;
	if (options->targets)
		return error_create(ERROR_USAGE,
				    "--candidates takes its sides from a "
				    "recording, and --targets from a report: "
				    "they cannot be used together");
	if (options->since)
		return error_create(ERROR_USAGE,
				    "--candidates says what comes of each, and "
				    "--since leaves sides out: they cannot be "
				    "used together");
	return NULL;
}

static struct error *hunt_check(const struct hunt_options *options,
				char *const *argv)
{
	const bool sources[] = { options->trace, options->targets };
	struct program program;
	struct error *err;

	if (!argv[0])
		return error_create(ERROR_USAGE, "no program to run is given");
	if (sources[0] && sources[1])
		return error_create(ERROR_USAGE, "--trace and --targets cannot "
						 "be used together");
	if (options->keep_trace && (sources[0] || sources[1]))
		return error_create(ERROR_USAGE,
				    "--keep-trace takes a recording, and %s "
				    "makes none",
				    sources[0] ? "--trace" : "--targets");
	err = hunt_check_code(options);
	if (!err)
		err = hunt_check_candidates(options);
	if (err)
		return err;
	err = program_inspect(argv[0], &program);
	if (!err)
		program_deinit(&program);
	return err;
}

/* The candidates are read before anything is run. */
static struct error *hunt_with_candidates(struct hunt_options *options,
					  char **argv, int *ret_status)
{
	struct candidates candidates = { VEC_INIT(struct candidate) };
	struct error *err = NULL;

	options->wanted = options->candidates ? &candidates : NULL;
	if (options->candidates)
		err = candidates_read(options->candidates, &candidates);
	if (!err)
		err = hunt_with_judge(options, argv, ret_status);
	options->wanted = NULL;
	candidates_deinit(&candidates);
	return err;
}

static struct error *hunt_main(int argc, char **argv, int *ret_status)
{
	struct hunt_options options;
	struct error *err;
	int first;

	err = options_parse(&hunt_table, argc, argv, &options, NULL, &first);
	if (!err) {
		*ret_status = 0;
		options.words = argv + 1;
		options.word_count = (size_t)first - 1;
		if (options.word_count > 0 &&
		    strcmp(options.words[options.word_count - 1], "--") == 0)
			options.word_count--;
		if (!command_answer(&command_hunt, &options.standard)) {
			err = hunt_check(&options, argv + first);
			if (!err)
				err = variants_choose();
			if (!err)
				err = hunt_with_candidates(
					&options, argv + first, ret_status);
		}
	}
	options_release(&hunt_table, &options);
	return err;
}

const struct command command_hunt = {
	.name = "hunt",
	.summary = "record a run, and provoke each conflict that it shows",
	.options = &hunt_table,
	.run = hunt_main,
};
