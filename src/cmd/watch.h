/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What the commands that watch a program have in common: the options, and a
 * session with its output from start to exit status.
 */
#ifndef CMD_WATCH_H
#define CMD_WATCH_H

#include <stdbool.h>
#include <stdint.h>

#include "base/options.h"
#include "base/vec.h"

struct error;
struct pidref;

struct watch_options {
	char **argv; /* the command; NULL: attach to pids */
	struct vec pids; /* of int; freed by whoever filled it */
	int pid; /* the first of them; 0: none */
	const struct pidref *held; /* as many as pids, or NULL */
	bool help, version, quiet, verbose;
	bool include_stack, no_aslr, halt_on_race, text_untouched, strict;
	bool debuginfod;
	int backend, color, show, follow;
	int format; /* in watch.c's words; negative: not given */
	uint64_t seed, rate, stall_ns, duration_ns, timeout_ns;
	uint64_t error_exitcode, min_samples;
	uint32_t arm_rate; /* of struct session_config; no option */
	const char *output, *debug, *on_race;
	struct vec include, exclude;
	bool source;
	struct vec source_dirs;
	struct vec suppressions, baselines, special;
	bool no_default_suppressions, update_baseline;
	const char *gen_suppressions;
};

enum {
	WATCH_DEFS = 35,
	/* the first so many make sense for a process that runs already */
	WATCH_DEFS_ATTACH = 33,
};

extern const struct option_def watch_defs[WATCH_DEFS];

/*
 * Parse into *ret, whose rate and stall_ns are the command's defaults; *ret_given is argv as it
 * was, for watch_program() (free it). End with options_release(), also after
 * an error.
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
