/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The end of a sweep: the reports of its runs as one, printed and saved, the
 * judge, the summary, the exit status.
 */
#ifndef OUTPUT_SWEEP_END_H
#define OUTPUT_SWEEP_END_H

#include <stdbool.h>
#include <stdint.h>

#include "report/render.h"

struct error;
struct judge;
struct results;
struct sweep_result;

struct sweep_end_config {
	const struct results *results;
	const struct sweep_result *result;
	char *const *command;
	const char *directory;
	const char *output; /* NULL or "-": standard output */
	const struct renderer_ops *format; /* NULL: JSON lines, if output */
	struct judge *judge;
	uint64_t error_exitcode, min_samples;
	bool quiet, verbose, show_all;
	struct render_style style; /* of text on standard error */
};

/*
 * Merge, write DIRECTORY/report.jsonl and sweep.json and what the options ask
 * for, print the races and the summary. *ret_status is what racewatch exits
 * with; an error leaves the reports of the runs where they are.
 */
struct error *sweep_conclude(const struct sweep_end_config *config,
			     int *ret_status);

#endif
