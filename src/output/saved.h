/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The report that a watching command writes to a file or to standard output,
 * in one of the formats of --format, besides what it prints. Errors name the
 * file. Without a file every call does nothing.
 */
#ifndef OUTPUT_SAVED_H
#define OUTPUT_SAVED_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "base/vec.h"
#include "report/render.h"
#include "report/run.h"

struct candidate_record;
struct error;
struct strbuf;

struct saved {
	FILE *file; /* NULL: none */
	const char *name; /* borrowed */
	struct renderer renderer;
	uint64_t progress_ns; /* when progress was last written */
	bool finished;
};

/*
 * format NULL: JSON lines if there is a path, else nothing. path NULL or "-":
 * standard output; text is not written there, since it is printed. The path
 * must outlive the report. style: of text on standard error.
 */
struct error *saved_open(struct saved *saved, const char *path,
			 const struct renderer_ops *format,
			 const struct render_style *style);

/*
 * Append the command that provokes a race of this report ("{id}" for its number)
 * in a run of the command, with that client (--until-exit-of; NULL: none);
 * command NULL: in the process that was attached to ("{pid}").
 * Where no other command could read the report, it says how to have one.
 */
void saved_add_again(const struct saved *saved, char *const *command,
		     const char *client, struct strbuf *ret);

/* From now on it is for nobody but us: mode 0600, if it is a regular file. */
void saved_make_private(const struct saved *saved);

/*
 * Close it. A document that was not finished, because nothing could be
 * watched, is written as that of a run that failed.
 */
struct error *saved_close(struct saved *saved);

/* Is a race that was seen again written again? Not in text. */
bool saved_takes_updates(const struct saved *saved);

struct error *saved_run(struct saved *saved, const struct run_record *run);
struct error *saved_race(struct saved *saved, const struct race *race);
/* What is written of a race in text; nothing in other formats. */
struct error *saved_text(struct saved *saved, render_race *write,
			 const struct race *race);
/* The one-line form in text, nothing in other formats. */
struct error *saved_race_short(struct saved *saved, const struct race *race);
/* How often races were seen (const struct race *), in text only. */
struct error *saved_counts(struct saved *saved, const struct vec *races);
struct error *saved_crash(struct saved *saved, const struct crash *crash);
struct error *saved_target(struct saved *saved,
			   const struct target_record *target);
struct error *saved_candidate(struct saved *saved,
			      const struct candidate_record *candidate);
/*
 * Written about once a second, and more rarely when much was written already;
 * last: in any case.
 */
struct error *saved_progress(struct saved *saved,
			     const struct run_summary *progress, bool last);
/* The end. */
struct error *saved_summary(struct saved *saved,
			    const struct run_summary *summary);

#endif
