/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The gate: which races of a run are suppressed, known or new, as the options
 * --suppressions and --baseline of the watching commands say. Every file is
 * read, and the one to be written opened, before a program is touched.
 */
#ifndef CMD_GATE_H
#define CMD_GATE_H

#include <stdbool.h>
#include <stdio.h>

#include "base/vec.h"
#include "detect/session.h"
#include "judge/baseline.h"
#include "judge/suppress.h"

struct error;
struct race;

struct gate_config {
	struct vec suppressions, baselines; /* of const char *: paths */
	struct vec special; /* of const char *: globs of variables */
	bool no_default_suppressions;
	bool update_baseline;
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
