/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The rows of the groups; see groups.h.
 */
#include "cmd/groups.h"

#include <stddef.h>
#include <string.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/exitstatus.h"
#include "judge/judge.h"
#include "output/terminal.h"
#include "sampling/at.h"
#include "sampling/glob.h"
#include "schedule/effort.h"
#include "wire/tracing.h"

static const char *const backend_words[] = { "auto",   "perf",	"perf-cpu",
					     "ptrace", "value", NULL };
/* in the order of enum wire_follow */
static const char *const follow_words[] = { "none", "fork", "all", NULL };
static const char *const policy_words[] = { "guided", "uniform", NULL };

/* in the order of enum replaying_when */
static const char *const replay_words[] = { "on", "off", "auto", NULL };

#define AT(group, member) offsetof(struct group, member)

static const struct option_def standard_defs[] = {
	{ .name = "--help",
	  .letter = 'h',
	  .help = "print the options and exit",
	  .type = OPTION_FLAG,
	  .offset = AT(standard, help) },
	{ .name = "--version",
	  .letter = 'V',
	  .help = "print the version and exit",
	  .type = OPTION_FLAG,
	  .offset = AT(standard, version) },
};

static const struct option_def showing_defs[] = {
	{ .name = "--show",
	  .arg = "WHICH",
	  .help = "races to print in full: default, or all: also those that "
		  "are suppressed, known or synchronization (default default)",
	  .type = OPTION_CHOICE,
	  .offset = AT(showing, show),
	  .choices = show_words },
	{ .name = "--color",
	  .arg = "WHEN",
	  .help = "print in color: auto, always or never (default auto)",
	  .type = OPTION_CHOICE,
	  .offset = AT(showing, color),
	  .choices = color_words },
	{ .name = "--full-stacks",
	  .help = "print every frame: do not fold those of libraries and "
		  "runtimes",
	  .type = OPTION_FLAG,
	  .offset = AT(showing, full_stacks) },
	{ .name = "--quiet",
	  .letter = 'q',
	  .help = "print only races",
	  .type = OPTION_FLAG,
	  .offset = AT(showing, quiet) },
};

struct render_style showing_style(const struct showing *showing, bool verbose,
				  int fd)
{
	return (struct render_style){
		.color = terminal_color(showing->color, fd),
		.width = terminal_width(fd),
		.paths = true,
		.identities = verbose,
		.full_stacks = showing->full_stacks,
	};
}

static struct error *check_pattern(const char *pattern)
{
	return pattern[0] ? NULL
			  : error_create(ERROR_USAGE,
					 "an empty pattern matches nothing");
}

struct error *selecting_globs(const struct selecting *selecting,
			      struct globs *globs)
{
	for (size_t i = 0; i < selecting->patterns.count; i++) {
		const struct option_word *word =
			vec_at(&selecting->patterns, i);

		if (!globs_add(globs, word->value,
			       strcmp(word->def->name, "--include") == 0))
			return error_nomem;
	}
	return NULL;
}

static const struct option_def selecting_defs[] = {
	{ .name = "--include",
	  .arg = "GLOB",
	  .help = "also sample the modules, functions or source files that "
		  "match",
	  .type = OPTION_WORDS,
	  .offset = AT(selecting, patterns),
	  .check = check_pattern,
	  .of_runs = true },
	{ .name = "--exclude",
	  .arg = "GLOB",
	  .help = "do not sample the modules, functions or source files that "
		  "match",
	  .type = OPTION_WORDS,
	  .offset = AT(selecting, patterns),
	  .check = check_pattern,
	  .of_runs = true },
	{ .name = "--include-stack",
	  .help = "also sample accesses through the stack and frame pointers",
	  .type = OPTION_FLAG,
	  .offset = AT(selecting, include_stack),
	  .of_runs = true },
};

static const struct option_def watching_defs[] = {
	{ .name = "--duration",
	  .arg = "TIME",
	  .help = "stop watching after this time",
	  .type = OPTION_DURATION,
	  .offset = AT(watching, duration_ns),
	  .min = CLOCK_NS_PER_US,
	  .of_runs = true },
	{ .name = "--policy",
	  .arg = "WHICH",
	  .help = "where to stall threads: uniform: each location that runs is "
		  "equally likely; guided: up to half of the stalls are where "
		  "races are likely (default uniform; sweep: set by the plan)",
	  .type = OPTION_NAME,
	  .offset = AT(watching, policy),
	  .preset = OPTION_NONE,
	  .choices = policy_words,
	  .of_runs = true },
	{ .name = "--at",
	  .arg = "WHERE",
	  .help = "sample this place first: FILE:LINE, FUNCTION or "
		  "MODULE+0xOFFSET; :read, :write or :rmw may follow",
	  .type = OPTION_LIST,
	  .offset = AT(watching, at),
	  .check = at_check,
	  .of_runs = true },
	{ .name = "--debuginfod",
	  .help = "download debug information from the servers in "
		  "DEBUGINFOD_URLS",
	  .type = OPTION_FLAG,
	  .offset = AT(watching, debuginfod),
	  .of_runs = true },
	{ .name = "--no-sandbox",
	  .help = "keep all privileges and system calls while watching",
	  .type = OPTION_FLAG,
	  .offset = AT(watching, no_sandbox),
	  .of_runs = true },
};

static const struct option_def replaying_defs[] = {
	{ .name = "--replay",
	  .arg = "WHEN",
	  .help = "run the accesses of a race again in other orders, in a copy "
		  "of the program's memory: on, off or auto (default auto: on)",
	  .type = OPTION_CHOICE,
	  .offset = AT(replaying, when),
	  .preset = REPLAYING_AUTO,
	  .choices = replay_words,
	  .of_runs = true },
	{ .name = "--replay-instances",
	  .arg = "NUMBER",
	  .help = "replay each race at most this many times (default 20)",
	  .type = OPTION_UINT64,
	  .offset = AT(replaying, instances),
	  .preset = 20,
	  .min = 1,
	  .max = 100000,
	  .of_runs = true },
};

static const struct option_def reporting_defs[] = {
	{ .name = "--output",
	  .letter = 'o',
	  .arg = "FILE",
	  .help = "also write the report to this file, as JSON lines unless "
		  "--format is given (-: standard output)",
	  .type = OPTION_STRING,
	  .offset = AT(reporting, output) },
	{ .name = "--format",
	  .arg = "FORMAT",
	  .help = "write the report as text, line (one for each race), json "
		  "(lines), sarif, junit or html, to standard output unless "
		  "-o is given",
	  .type = OPTION_NAME,
	  .offset = AT(reporting, format),
	  .preset = OPTION_NONE,
	  .choices = render_names },
	{ .name = "--source",
	  .help = "show the source lines of races if the files are available",
	  .type = OPTION_FLAG,
	  .offset = AT(reporting, source),
	  .of_runs = true },
	{ .name = "--source-dir",
	  .arg = "DIRECTORY",
	  .help = "show source lines, and search this directory for them first",
	  .type = OPTION_LIST,
	  .offset = AT(reporting, source_dirs),
	  .of_runs = true },
	{ .name = "--error-exitcode",
	  .arg = "STATUS",
	  .help = "exit with this status if a race was reported (default 66; "
		  "0: as if there were none)",
	  .type = OPTION_UINT64,
	  .offset = AT(reporting, error_exitcode),
	  .preset = EXIT_RACES,
	  .max = 255 },
};

static const struct option_def effort_defs[] = {
	{ .name = "--effort",
	  .arg = "WHAT",
	  .help = "how much time the watching may cost: low, normal or high "
		  "(default normal; attach low; sweep: set by the plan)",
	  .type = OPTION_CHOICE,
	  .offset = AT(effort_options, effort),
	  .preset = EFFORT_NONE,
	  .choices = effort_words,
	  .of_runs = true },
	{ .name = "--overhead",
	  .arg = "PERCENT",
	  .help = "slow the program down by at most this share of its time, "
		  "and sample as often as that allows (default 40; attach 2; "
		  "sweep: no limit)",
	  .type = OPTION_PERCENT,
	  .offset = AT(effort_options, overhead_pct),
	  .preset = OPTION_NONE,
	  .of_runs = true },
	{ .name = "--rate",
	  .arg = "HITS",
	  .help = "sample about this many times per second (default 1000; "
		  "attach 50; sweep: set by the plan; 0: never)",
	  .type = OPTION_UINT64,
	  .offset = AT(effort_options, rate),
	  .preset = EFFORT_RATE_NONE,
	  .max = 1000000,
	  .of_runs = true },
	{ .name = "--stall",
	  .arg = "TIME",
	  .help = "stall a thread before its access for at most this time "
		  "(default 1ms; attach 200us; sweep: set by the plan)",
	  .type = OPTION_DURATION,
	  .offset = AT(effort_options, stall_ns),
	  .preset = EFFORT_STALL_NONE,
	  .min = CLOCK_NS_PER_US,
	  .max = 10 * CLOCK_NS_PER_S,
	  .of_runs = true },
};

static const struct option_def tracing_defs[] = {
	{ .name = "--backend",
	  .arg = "NAME",
	  .help = "how accesses are detected: auto, perf, perf-cpu, ptrace or "
		  "value (default auto)",
	  .type = OPTION_NAME,
	  .offset = AT(tracing, backend),
	  .choices = backend_words,
	  .of_runs = true },
	{ .name = "--text-untouched",
	  .help = "set breakpoints only in debug registers, never in the "
		  "program's text; needs the back-end perf",
	  .type = OPTION_FLAG,
	  .offset = AT(tracing, text_untouched),
	  .of_runs = true },
	{ .name = "--follow",
	  .arg = "WHICH",
	  .help = "child processes to watch: none, fork (those that run the "
		  "same program) or all (default all; attach none)",
	  .type = OPTION_CHOICE,
	  .offset = AT(tracing, follow),
	  .preset = OPTION_NONE,
	  .choices = follow_words,
	  .of_runs = true },
};

static const struct option_def tracing_start_defs[] = {
	{ .name = "--no-aslr",
	  .help = "start the program without address-space layout "
		  "randomization",
	  .type = OPTION_FLAG,
	  .offset = AT(tracing, no_aslr),
	  .of_runs = true },
};

static const struct option_def judging_defs[] = {
	{ .name = "--suppressions",
	  .arg = "FILE",
	  .help = "do not report the races that this file describes",
	  .type = OPTION_LIST,
	  .offset = AT(judge_config, suppressions),
	  .of_runs = true },
	{ .name = "--ignore-unlikely",
	  .help = "do not count races with the verdict unlikely",
	  .type = OPTION_FLAG,
	  .offset = AT(judge_config, ignore_unlikely),
	  .of_runs = true },
	{ .name = "--baseline",
	  .arg = "FILE",
	  .help = "the races in this saved report are known: only others set "
		  "the exit status",
	  .type = OPTION_LIST,
	  .offset = AT(judge_config, baselines),
	  .of_runs = true },
};

static const struct option_def judging_watch_defs[] = {
	{ .name = "--no-default-suppressions",
	  .help = "do not use the suppressions installed with racewatch",
	  .type = OPTION_FLAG,
	  .offset = AT(judge_config, no_default_suppressions),
	  .of_runs = true },
	{ .name = "--special-variable",
	  .arg = "GLOB",
	  .help = "races on the variables that match are unlikely to be errors",
	  .type = OPTION_LIST,
	  .offset = AT(judge_config, special),
	  .of_runs = true },
	{ .name = "--gen-suppressions",
	  .arg = "FILE",
	  .help = "append a suppression for each reported race to this file "
		  "(-: print it)",
	  .type = OPTION_STRING,
	  .offset = AT(judge_config, generate) },
	{ .name = "--update-baseline",
	  .help = "add the new races to the baseline",
	  .type = OPTION_FLAG,
	  .offset = AT(judge_config, update_baseline) },
};

const struct option_group standard_group = OPTION_GROUP(standard_defs);
const struct option_group showing_group = OPTION_GROUP(showing_defs);
const struct option_group selecting_group = OPTION_GROUP(selecting_defs);
const struct option_group watching_group = OPTION_GROUP(watching_defs);
const struct option_group replaying_group = OPTION_GROUP(replaying_defs);
const struct option_group reporting_group = OPTION_GROUP(reporting_defs);
const struct option_group effort_group = OPTION_GROUP(effort_defs);
const struct option_group tracing_group = OPTION_GROUP(tracing_defs);
const struct option_group tracing_start_group =
	OPTION_GROUP(tracing_start_defs);
const struct option_group judging_group = OPTION_GROUP(judging_defs);
const struct option_group judging_watch_group =
	OPTION_GROUP(judging_watch_defs);
