/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The output of a watching command: races as text on standard error when they
 * are found, the saved report (output/saved.h), the status line, notes, the
 * summary. It is the sink of a session (session/session.h).
 */
#ifndef OUTPUT_OUTPUT_H
#define OUTPUT_OUTPUT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "base/strbuf.h"
#include "base/vec.h"
#include "output/saved.h"
#include "report/render.h"
#include "report/status.h"
#include "session/session.h"

struct error;
struct judge;
struct image;
struct onrace;
struct run_at;
struct run_unsampled;
struct sources;

struct output_config {
	char *const *command; /* NULL for attach */
	char *const *options; /* racewatch's own, option_count */
	size_t option_count;
	/* of the report that is saved; see output/saved.h */
	const char *path;
	const struct renderer_ops *format;
	struct onrace *onrace; /* it gets races and stops */
	uint64_t seed;
	const char *replay_off; /* why races are not replayed; NULL: they are */
	const char *sandbox_off; /* why there is no sandbox; NULL: there is */
	bool sandbox_strict;
	struct sources *sources; /* NULL: none were asked for */
	bool quiet; /* races only */
	bool verbose;
	/* also what is suppressed, known or synchronization, in full */
	bool show_all;
	bool fold_unlikely; /* races with that verdict are a line each */
	struct render_style style; /* of text on standard error */
	struct judge *judge;
};

struct output {
	const struct output_config *config;
	struct renderer text;
	struct saved saved;
	struct status status;
	const struct image *image; /* the session's; NULL: not started */
	struct vec races; /* of struct output_race */
	struct strbuf again; /* see struct renderer */
	struct session_counts counts; /* the lists are ours */
	uint64_t start_wall_ns;
	/* samples with a stall at the last status, and its time */
	uint64_t stalled_before;
	uint64_t status_ns;
	/* of all races, at the end: instances, and those that failed */
	uint64_t replays, replays_failed;
	bool run_written;
	/* writing the report failed, as reported; the session continues */
	bool failed;
	bool unread; /* nobody reads the text any more */
};

/* Opens the file. config must outlive the output. */
struct error *output_init(struct output *output,
			  const struct output_config *config);
/* False as output_finish(); a document that is not finished is written. */
bool output_deinit(struct output *output);

/* The functions that a session calls. */
struct session_sink output_sink(struct output *output);

/* What the summary has that neither the session nor its races tell. */
struct output_end {
	int exit_status; /* as it will be */
	struct run_unsampled unsampled;
	struct vec patterns; /* of struct run_pattern, without an effect */
};

/*
 * The end, after the session: the summary. False if a write has failed since
 * the start; that was reported.
 */
bool output_finish(struct output *output, const struct output_end *end);

#endif
