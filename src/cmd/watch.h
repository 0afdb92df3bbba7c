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
#include "cmd/groups.h"
#include "doctor/choose.h"

struct error;
struct pidref;

struct watch_options {
	char **argv; /* the command; NULL: attach to pids */
	char **words; /* the options as given, word_count */
	size_t word_count;
	struct vec pids; /* of int; freed by whoever filled it */
	int pid; /* the first of them; 0: none */
	const struct pidref *held; /* as many as pids, or NULL */
	enum effort preset; /* the command's own */
	struct common common;
	/* of run and attach alone */
	uint64_t seed, min_samples, timeout_ns;
	const char *state, *on_race, *debug;
	bool halt_on_race, verbose;
	bool foreign; /* one of pids has not all our rights */
	bool of_others; /* one of pids runs for another user */
	struct vec places; /* of struct where: --at, parsed */
	struct choice choice; /* of attach alone */
};

/* The parts of run and of attach. */
extern const struct option_part watch_run_parts[], watch_attach_parts[];

/* Warn of those of --source-dir that are not there. */
void watch_check_directories(const struct vec *directories);

/*
 * Parse into *ret, whose preset is the command's. End with options_release(),
 * also after an error.
 */
struct error *watch_parse(const struct option_table *table, int argc,
			  char **argv, struct watch_options *ret,
			  int *ret_first);

/*
 * Watch what options->argv or options->pid says; *ret_status is what
 * racewatch exits with (racewatch(1), EXIT STATUS).
 */
struct error *watch_program(struct watch_options *options, int *ret_status);

#endif
