/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The output of a hunt: races as text on standard error as they are met, the
 * saved report (output/saved.h), the status line, and at the end what came of the
 * sides. It is the sink of hunt/hunt.h. A race that several runs have met is one,
 * as in merged reports (report/combine.h).
 */
#ifndef OUTPUT_HUNTING_H
#define OUTPUT_HUNTING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/strbuf.h"
#include "base/vec.h"
#include "hunt/hunt.h"
#include "output/saved.h"
#include "report/candidate-record.h"
#include "report/render.h"
#include "report/run.h"
#include "report/status.h"

struct candidates;
struct error;
struct judge;

struct hunting_config {
	char *const *command;
	const char *until_exit_of; /* its client; NULL: none */
	char *const *options; /* racewatch's own, option_count */
	size_t option_count;
	const char *path; /* of the report that is saved; see output/saved.h */
	const struct renderer_ops *format;
	const char *replay_off; /* why races are not replayed; NULL: they are */
	bool quiet; /* races only */
	bool verbose; /* every side at the end */
	bool show_all;
	bool show_ordered; /* at the end, what hand-overs put in order */
	struct render_style style; /* of text on standard error */
	struct candidates *candidates; /* that are hunted for; NULL: all is */
	struct judge *judge;
	uint64_t error_exitcode;
	uint64_t min_tried; /* percent of the sides */
};

struct hunting_output {
	const struct hunting_config *config;
	struct renderer text;
	struct saved saved;
	struct status status;
	struct strbuf again;
	struct vec races; /* of struct hunting_race */
	uint64_t numbered;
	uint64_t line_ns; /* of the next line of progress without a terminal */
	uint64_t start_wall_ns;
	struct run_hunt hunt; /* without progress; set when it is known */
	int recorded_status; /* of the command in the recording; 0: not known */
	bool recording_cut; /* its time was over */
	uint64_t candidates[CANDIDATE_RESULTS]; /* what came of them */
	uint64_t changed; /* races of earlier hunts whose files have changed */
	bool run_written;
	bool failed; /* writing has, and that was told */
};

/* config must outlive it. End with hunting_output_deinit(), also after an error. */
struct error *hunting_output_init(struct hunting_output *output,
				  const struct hunting_config *config);
/* False: writing has failed. */
bool hunting_output_deinit(struct hunting_output *output);

struct hunt_sink hunting_output_sink(struct hunting_output *output);

/*
 * Tell the races that the store has of earlier hunts, and of others that share it
 * (hunt/earlier.h), unless they are told already: before the hunt, and at its end.
 */
struct error *hunting_output_earlier(struct hunting_output *output,
				     struct outcomes *outcomes);

/*
 * The end: the sides, and the summary. *ret_status is what racewatch exits with
 * (racewatch(1), EXIT STATUS).
 */
struct error *hunting_output_finish(struct hunting_output *output,
				    struct outcomes *outcomes,
				    const struct hunt_result *result,
				    int *ret_status);

#endif
