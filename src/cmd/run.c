/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * racewatch run: start a program and watch it to its end (racewatch-run(1)).
 */
#include "cmd/cmd.h"

#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/log.h"
#include "base/options.h"
#include "cmd/output.h"
#include "cmd/patterns.h"
#include "cmd/program.h"
#include "detect/rules.h"
#include "detect/session.h"

enum color { COLOR_AUTO, COLOR_ALWAYS, COLOR_NEVER };
enum show { SHOW_DEFAULT, SHOW_ALL };

static const char *const color_words[] = { "auto", "always", "never", NULL };
static const char *const show_words[] = { "default", "all", NULL };
static const char *const backend_words[] = { "auto",   "perf",	"perf-cpu",
					     "ptrace", "value", NULL };

struct run_options {
	bool help, version, quiet, verbose;
	bool include_stack, no_aslr, halt_on_race;
	int backend, color, show;
	uint64_t seed, rate, stall_ns, duration_ns, timeout_ns;
	uint64_t error_exitcode, min_samples;
	const char *output, *debug;
	struct vec include, exclude;
};

#define AT(member) offsetof(struct run_options, member)

static const struct option_def run_defs[] = {
	{ .name = "rate",
	  .arg = "HITS",
	  .help = "sample about this often per second (default 1000; 0: never)",
	  .type = OPTION_UINT64,
	  .offset = AT(rate),
	  .max = 1000000 },
	{ .name = "stall",
	  .arg = "TIME",
	  .help = "hold a thread at its access at most this long (default 1ms)",
	  .type = OPTION_DURATION,
	  .offset = AT(stall_ns),
	  .min = CLOCK_NS_PER_US,
	  .max = 10 * CLOCK_NS_PER_S },
	{ .name = "duration",
	  .arg = "TIME",
	  .help = "stop watching after this time, and wait for the program",
	  .type = OPTION_DURATION,
	  .offset = AT(duration_ns) },
	{ .name = "timeout",
	  .arg = "TIME",
	  .help = "end the program after this time, and exit with 124",
	  .type = OPTION_DURATION,
	  .offset = AT(timeout_ns) },
	{ .name = "seed",
	  .arg = "NUMBER",
	  .help = "make racewatch's own choices from this number",
	  .type = OPTION_UINT64,
	  .offset = AT(seed),
	  .max = UINT64_MAX - 1 },
	{ .name = "backend",
	  .arg = "NAME",
	  .help = "auto, perf, perf-cpu, ptrace or value (default auto)",
	  .type = OPTION_CHOICE,
	  .offset = AT(backend),
	  .choices = backend_words },
	{ .name = "include",
	  .arg = "GLOB",
	  .help = "sample these modules, functions or source files too",
	  .type = OPTION_LIST,
	  .offset = AT(include) },
	{ .name = "exclude",
	  .arg = "GLOB",
	  .help = "do not sample these modules, functions or source files",
	  .type = OPTION_LIST,
	  .offset = AT(exclude) },
	{ .name = "include-stack",
	  .help = "sample accesses through the stack and frame pointers too",
	  .type = OPTION_FLAG,
	  .offset = AT(include_stack) },
	{ .name = "no-aslr",
	  .help = "start the program without address-space randomization",
	  .type = OPTION_FLAG,
	  .offset = AT(no_aslr) },
	{ .name = "output",
	  .letter = 'o',
	  .arg = "FILE",
	  .help = "write the report as JSON lines to this file too",
	  .type = OPTION_STRING,
	  .offset = AT(output) },
	{ .name = "show",
	  .arg = "WHICH",
	  .help = "default, or all: synchronization too (default default)",
	  .type = OPTION_CHOICE,
	  .offset = AT(show),
	  .choices = show_words },
	{ .name = "error-exitcode",
	  .arg = "NUMBER",
	  .help = "exit with this when a race was reported (default 66; 0: as "
		  "if none had been)",
	  .type = OPTION_UINT64,
	  .offset = AT(error_exitcode),
	  .max = 255 },
	{ .name = "halt-on-race",
	  .help = "end the program at the first race",
	  .type = OPTION_FLAG,
	  .offset = AT(halt_on_race) },
	{ .name = "min-samples",
	  .arg = "NUMBER",
	  .help = "exit with 65 when fewer samples were taken (default 0)",
	  .type = OPTION_UINT64,
	  .offset = AT(min_samples) },
	{ .name = "color",
	  .arg = "WHEN",
	  .help = "auto, always or never (default auto)",
	  .type = OPTION_CHOICE,
	  .offset = AT(color),
	  .choices = color_words },
	{ .name = "quiet",
	  .letter = 'q',
	  .help = "print races only",
	  .type = OPTION_FLAG,
	  .offset = AT(quiet) },
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
	  .offset = AT(debug) },
	{ .name = "help",
	  .letter = 'h',
	  .help = "print the options and exit",
	  .type = OPTION_FLAG,
	  .offset = AT(help) },
	{ .name = "version",
	  .letter = 'V',
	  .help = "print the version and exit",
	  .type = OPTION_FLAG,
	  .offset = AT(version) },
};

static const struct option_table run_table = {
	.command = "run",
	.synopsis = "[options] [--] COMMAND [ARGUMENT...]",
	.summary = "Start a program and report its data races.",
	.defs = run_defs,
	.count = sizeof(run_defs) / sizeof(run_defs[0]),
	.leading = true,
};

static uint64_t run_random_seed(void)
{
	uint32_t seed = 0;

	if (getrandom(&seed, sizeof(seed), 0) != sizeof(seed))
		seed = (uint32_t)clock_wall_ns();
	/* short enough to be typed again */
	return seed % 1000000000;
}

static bool run_color(int color)
{
	const char *no_color = getenv("NO_COLOR");
	const char *term = getenv("TERM");

	if (color != COLOR_AUTO)
		return color == COLOR_ALWAYS;
	return isatty(STDERR_FILENO) && !(no_color && *no_color) && term &&
	       strcmp(term, "dumb") != 0;
}

/* What the user should know of the program before it starts. */
static void run_remarks(const struct run_options *options,
			const struct program *program)
{
	if (options->quiet)
		return;
	if (program->interpreter)
		log_note("%s is a script: its interpreter %s is watched",
			 program->path, program->interpreter);
	if (program->is_static)
		log_note("%s is statically linked: the C library's inside is "
			 "left out by the names of its functions, if it has "
			 "symbols",
			 program->path);
	if (program->privileged && geteuid() != 0)
		log_warn("%s has privileges of its own (set-user-ID or "
			 "capabilities): it runs without them while it is "
			 "watched",
			 program->path);
}

static int run_program_status(int status)
{
	return WIFSIGNALED(status) ? 128 + WTERMSIG(status) :
				     WEXITSTATUS(status);
}

static int run_status(const struct run_options *options,
		      const struct session_result *result,
		      const struct session_counts *counts)
{
	if (counts->races > 0 && options->error_exitcode != 0)
		return (int)options->error_exitcode;
	if (result->timed_out)
		return EXIT_TIMED_OUT;
	if (counts->stats.samples < options->min_samples)
		return EXIT_NO_PROOF;
	return run_program_status(result->status);
}

static struct error *run_session(const struct run_options *options,
				 const struct rules *rules, char **argv,
				 struct output *output, int *ret_status)
{
	struct session_config config = {
		.argv = argv,
		.no_aslr = options->no_aslr,
		.backend = backend_words[options->backend],
		.seed = options->seed,
		.rate = (uint32_t)options->rate,
		.stall_max_ns = options->stall_ns,
		.duration_ns = options->duration_ns,
		.timeout_ns = options->timeout_ns,
		.halt_on_race = options->halt_on_race,
		.rules = rules,
	};
	struct session_sink sink = output_sink(output);
	struct session_result result = { .status = 0 };
	struct error *err = session_run(&config, &sink, &result);
	struct error *written;
	int status = EXIT_FAILED;

	if (!err)
		status = run_status(options, &result, &output->counts);
	/* a tracer that died in the middle has left results too */
	if (err && output->counts.elapsed_ns == 0)
		return err;
	written = output_finish(output, status);
	if (err) {
		error_free(written);
		return err;
	}
	*ret_status = status;
	return written;
}

static struct error *run_watch(const struct run_options *options, bool seeded,
			       const struct rules *rules, char **argv,
			       int *ret_status)
{
	struct output_config config = {
		.command = argv,
		.path = options->output,
		.seed = options->seed,
		.quiet = options->quiet,
		.verbose = options->verbose,
		.show_all = options->show == SHOW_ALL,
		.color = run_color(options->color),
	};
	struct program program;
	struct output output;
	struct error *err = program_inspect(argv[0], &program);

	if (err)
		return err;
	run_remarks(options, &program);
	program_deinit(&program);
	err = output_init(&output, &config);
	if (!err)
		err = run_session(options, rules, argv, &output, ret_status);
	output_deinit(&output);
	if (!err && !seeded && !options->quiet)
		log_note("seed %llu (--seed %llu makes the same choices)",
			 (unsigned long long)options->seed,
			 (unsigned long long)options->seed);
	return err;
}

static struct error *run_parsed(struct run_options *options, char **argv,
				char *const *given, int *ret_status)
{
	struct rules rules = { .include_stack = options->include_stack };
	bool seeded = options->seed != UINT64_MAX;
	struct error *err;

	if (!argv[0])
		return error_create(ERROR_USAGE, "no program to run is given");
	if (options->debug && !log_enable(options->debug))
		return error_create(ERROR_USAGE,
				    "option '--debug': '%s' has an unknown "
				    "domain",
				    options->debug);
	if (!seeded)
		options->seed = run_random_seed();
	globs_init(&rules.globs);
	err = patterns_merge(given, &options->include, &options->exclude,
			     &rules.globs);
	if (!err)
		err = run_watch(options, seeded, &rules, argv, ret_status);
	globs_deinit(&rules.globs);
	return err;
}

static struct error *run_main(int argc, char **argv, int *ret_status)
{
	struct run_options options = {
		.seed = UINT64_MAX, /* none given */
		.rate = 1000,
		.stall_ns = CLOCK_NS_PER_MS,
		.error_exitcode = EXIT_RACES,
	};
	/* parsing may change the order of argv */
	cleanup_free char **given = calloc((size_t)argc + 1, sizeof(*given));
	struct error *err;
	int first;

	if (!given)
		return error_nomem;
	memcpy(given, argv, (size_t)argc * sizeof(*given));
	err = options_parse(&run_table, argc, argv, &options, &first);
	if (!err) {
		*ret_status = 0;
		if (!command_answer(&command_run, options.help,
				    options.version))
			err = run_parsed(&options, argv + first, given,
					 ret_status);
	}
	options_release(&run_table, &options);
	return err;
}

const struct command command_run = {
	.name = "run",
	.summary = "start a program and report its data races",
	.options = &run_table,
	.run = run_main,
};
