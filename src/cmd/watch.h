/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What the commands that watch a program have in common: the options, and a
 * session with its output from start to exit status.
 */
#ifndef CMD_WATCH_H
#define CMD_WATCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/options.h"
#include "base/vec.h"
#include "schedule/effort.h"

struct error;
struct pidref;

struct watch_options {
	char **argv; /* the command; NULL: attach to pids */
	char **words; /* the options as given, word_count */
	size_t word_count;
	struct vec pids; /* of int; freed by whoever filled it */
	int pid; /* the first of them; 0: none */
	const struct pidref *held; /* as many as pids, or NULL */
	bool help, version, quiet, verbose;
	bool include_stack, no_aslr, halt_on_race, text_untouched;
	bool debuginfod, ignore_unlikely;
	int backend, color, show, policy;
	int follow; /* in watch_follow_words; negative: not given */
	int format; /* in watch.c's words; negative: not given */
	uint64_t seed, duration_ns, timeout_ns;
	struct effort_options effort;
	enum effort preset; /* the command's own */
	uint64_t error_exitcode, min_samples;
	const char *output, *debug, *on_race, *state;
	struct vec at, include, exclude;
	struct vec places; /* of struct where: `at', parsed */
	bool source;
	struct vec source_dirs;
	struct vec suppressions, baselines, special;
	bool no_default_suppressions, update_baseline;
	const char *gen_suppressions;
};

/*
 * Option rows that say how and where to look, for every command that watches:
 * its options have the members backend, text_untouched, debuginfod, follow, at,
 * include, exclude and include_stack.
 */
#define WATCH_TARGET_ROWS(options_)                                                    \
	{ .name = "backend",                                                           \
	  .arg = "NAME",                                                               \
	  .help = "auto, perf, perf-cpu, ptrace or value (default auto)",              \
	  .type = OPTION_CHOICE,                                                       \
	  .offset = offsetof(options_, backend),                                       \
	  .choices = watch_backend_words },                                            \
		{ .name = "text-untouched",                                            \
		  .help = "set breakpoints in debug registers only, never in the "     \
			  "program's text; needs perf",                                \
		  .type = OPTION_FLAG,                                                 \
		  .offset = offsetof(options_, text_untouched) },                      \
		{ .name = "debuginfod",                                                \
		  .help = "fetch debugging information from the servers of "           \
			  "DEBUGINFOD_URLS",                                           \
		  .type = OPTION_FLAG,                                                 \
		  .offset = offsetof(options_, debuginfod) },                          \
		{ .name = "follow",                                                    \
		  .arg = "WHICH",                                                      \
		  .help = "watch child processes too: none, fork (those that run the " \
			  "same program) or all (default all, attach none)",           \
		  .type = OPTION_CHOICE,                                               \
		  .offset = offsetof(options_, follow),                                \
		  .choices = watch_follow_words },                                     \
		{ .name = "at",                                                        \
		  .arg = "WHERE",                                                      \
		  .help = "look here first: FILE:LINE, FUNCTION or MODULE+0xOFFSET, "  \
			  "with :read, :write or :rmw",                                \
		  .type = OPTION_LIST,                                                 \
		  .offset = offsetof(options_, at) },                                  \
		{ .name = "include",                                                   \
		  .arg = "GLOB",                                                       \
		  .help = "sample these modules, functions or source files too",       \
		  .type = OPTION_LIST,                                                 \
		  .offset = offsetof(options_, include) },                             \
		{ .name = "exclude",                                                   \
		  .arg = "GLOB",                                                       \
		  .help = "do not sample these modules, functions or source files",    \
		  .type = OPTION_LIST,                                                 \
		  .offset = offsetof(options_, exclude) },                             \
	{                                                                              \
		.name = "include-stack",                                               \
		.help = "sample accesses through the stack and frame pointers too",    \
		.type = OPTION_FLAG,                                                   \
		.offset = offsetof(options_, include_stack)                            \
	}

/* Where it is racewatch that starts the program: the member no_aslr. */
#define WATCH_NO_ASLR_ROW(options_)                                              \
	{                                                                        \
		.name = "no-aslr",                                               \
		.help = "start the program without address-space randomization", \
		.type = OPTION_FLAG, .offset = offsetof(options_, no_aslr)       \
	}

/* What is shown of a race: the members source and source_dirs. */
#define WATCH_SOURCE_ROWS(options_)                                             \
	{ .name = "source",                                                     \
	  .help = "show the source lines of races, where they are available",   \
	  .type = OPTION_FLAG,                                                  \
	  .offset = offsetof(options_, source) },                               \
	{                                                                       \
		.name = "source-dir", .arg = "DIRECTORY",                       \
		.help = "show source lines, and look for the files here first", \
		.type = OPTION_LIST, .offset = offsetof(options_, source_dirs)  \
	}

enum {
	WATCH_DEFS = 40,
	/* the first so many make sense for a process that runs already */
	WATCH_DEFS_ATTACH = 38,
};

/* The words of --backend, --follow and --policy; each ends in NULL. */
extern const char *const watch_backend_words[];
extern const char *const watch_follow_words[];
extern const char *const watch_policy_words[];

extern const struct option_def watch_defs[WATCH_DEFS];

/* Warn of those of --source-dir that are not there. */
void watch_check_directories(const struct vec *directories);

/*
 * Parse into *ret, whose preset is the command's; *ret_given is argv as it was,
 * for watch_program() (free it). End with options_release(), also after an
 * error.
 */
struct error *watch_parse(const struct option_table *table, int argc,
			  char **argv, struct watch_options *ret,
			  char ***ret_given, int *ret_first);

/*
 * Watch what options->argv or options->pid says; *ret_status is what
 * racewatch exits with (racewatch(1), EXIT STATUS).
 */
struct error *watch_program(struct watch_options *options, char *const *given,
			    int *ret_status);

#endif
