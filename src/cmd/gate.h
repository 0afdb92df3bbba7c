/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The gate: which races of a run are suppressed, known or new, as the options
 * --suppressions and --baseline of the watching commands say. Every file is
 * read, and the one to be written opened, before a program is touched.
 */
#ifndef CMD_GATE_H
#define CMD_GATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "base/options.h"
#include "base/vec.h"
#include "detect/session.h"
#include "judge/baseline.h"
#include "judge/suppress.h"

struct error;
struct race;

/*
 * Option rows, for the commands that have a gate: their options have the
 * members suppressions, no_default_suppressions, special, ignore_unlikely,
 * gen_suppressions and update_baseline, as far as they have the row.
 */
#define GATE_SUPPRESSIONS_ROW(options_)                                     \
	{                                                                   \
		.name = "suppressions", .arg = "FILE",                      \
		.help = "do not report the races that this file describes", \
		.type = OPTION_LIST,                                        \
		.offset = offsetof(options_, suppressions)                  \
	}

#define GATE_NO_DEFAULTS_ROW(options_)                                          \
	{                                                                       \
		.name = "no-default-suppressions",                              \
		.help = "do without the suppressions installed with racewatch", \
		.type = OPTION_FLAG,                                            \
		.offset = offsetof(options_, no_default_suppressions)           \
	}

#define GATE_SPECIAL_ROW(options_)                                            \
	{                                                                     \
		.name = "special-variable", .arg = "GLOB",                    \
		.help = "races on these variables are unlikely to be errors", \
		.type = OPTION_LIST, .offset = offsetof(options_, special)    \
	}

#define GATE_IGNORE_UNLIKELY_ROW(options_)                              \
	{                                                               \
		.name = "ignore-unlikely",                              \
		.help = "do not count races with the verdict unlikely", \
		.type = OPTION_FLAG,                                    \
		.offset = offsetof(options_, ignore_unlikely)           \
	}

#define GATE_GENERATE_ROW(options_)                                                  \
	{                                                                            \
		.name = "gen-suppressions", .arg = "FILE",                           \
		.help = "append a suppression for each race reported (-: print it)", \
		.type = OPTION_STRING,                                               \
		.offset = offsetof(options_, gen_suppressions)                       \
	}

#define GATE_UPDATE_ROW(options_)                             \
	{                                                     \
		.name = "update-baseline",                    \
		.help = "add the new races to the baseline",  \
		.type = OPTION_FLAG,                          \
		.offset = offsetof(options_, update_baseline) \
	}

struct gate_config {
	struct vec suppressions, baselines; /* of const char *: paths */
	struct vec special; /* of const char *: globs of variables */
	bool no_default_suppressions;
	bool update_baseline;
	bool ignore_unlikely; /* races judged so are not counted */
	const char *generate; /* file for ready suppressions; NULL: none */
	bool verbose;
};

struct gate {
	const struct gate_config *config;
	struct suppressions suppressions;
	struct baseline baseline;
	FILE *generated; /* NULL: none */
};

/*
 * Read what the options name; config must outlive the gate. ERROR_USAGE,
 * ERROR_FORMAT, or that of a file. End with gate_deinit(), also after an error.
 */
struct error *gate_init(struct gate *gate, const struct gate_config *config);
void gate_deinit(struct gate *gate);

/* What a session asks of each race. */
struct session_judge gate_judge(struct gate *gate);

/* Does it decide about the exit status? race_is_actionable() */
bool gate_fails(const struct gate *gate, const struct race *race);
bool gate_ignores_unlikely(const struct gate *gate);

/* A race is reported: write a suppression for it, where that was asked for. */
struct error *gate_generate(struct gate *gate, const struct race *race);

/*
 * The end, with all races (of struct race *): write the baseline, if it is to
 * be updated.
 */
struct error *gate_finish(struct gate *gate, const struct vec *races);

/*
 * Tell which suppressions were of no use and which have expired; a few of them,
 * or all of them.
 */
void gate_remarks(const struct gate *gate);

#endif
