/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The summary of a sweep as text and as JSON: its results, how many runs each
 * race took to appear, and the estimate of unseen races; also the status line
 * while it runs.
 */
#ifndef SWEEP_SUMMARY_H
#define SWEEP_SUMMARY_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "base/strbuf.h"
#include "base/vec.h"
#include "sweep/species.h"
#include "sweep/sweep.h"

struct error;

/* The number that the merged report gives a race. */
struct summary_id {
	char fingerprint[33];
	uint64_t id;
};

struct summary {
	const struct results *results;
	const struct sweep_result *result;
	struct vec ids; /* of struct summary_id; borrowed */
	const char *directory;
	char *const *command;
	int exit_status;
	bool all; /* every run that is not plain; else some */
	/* computed by summary_fill() */
	struct species_counts counts;
	struct species_estimate estimate;
	struct vec unsampled; /* of struct unsampled_group */
	struct strbuf unmatched; /* lines of unmatched_add() */
};

/* Compute the estimates and count the runs without a sample. */
struct error *summary_fill(struct summary *summary);
/* Free what summary_fill() made; the rest is borrowed. */
void summary_deinit(struct summary *summary);

/* Lines that begin with "SWEEP: racewatch: 40 runs in 1:20, 3 races". */
void summary_add_text(struct strbuf *out, const struct summary *summary);

/* One JSON object on a line (racewatch-sweep(1), FILES). */
struct error *summary_write_json(const struct summary *summary, FILE *out);

/* "2:13, 37 of 200 runs, 2 running, 5 races, ends in 9:40" */
void summary_add_progress(struct strbuf *out,
			  const struct sweep_progress *progress);

/* "run 17 (seed 17): failed with status 1: 3 words of a note" */
void summary_add_run(struct strbuf *out, const struct results_run *run);

#endif
