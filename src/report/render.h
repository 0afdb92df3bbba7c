/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Renderers: one interface, one file per format. Text and JSON lines are
 * written as the records come, each flushed, so that a crash loses nothing;
 * formats that are one document are written by `finish'. Errors of writing (a
 * full disk, a closed pipe) are returned by the call that met them; the caller
 * decides whether to go on.
 *
 * Order of calls: run, then races and progress as they come (a race again when
 * its count has grown: the later record takes the place of the earlier one with
 * the same id), crash, targets, candidates, summary, finish. Any of them may be missing but finish.
 */
#ifndef REPORT_RENDER_H
#define REPORT_RENDER_H

#include <stdbool.h>
#include <stdio.h>

struct candidate_record;
struct crash;
struct error;
struct race;
struct report_record;
struct run_record;
struct run_summary;
struct strbuf;
struct target_record;
struct vec;

struct renderer;

/* Writes a race, or something of it. */
typedef struct error *render_race(struct renderer *, const struct race *);

struct renderer_ops {
	const char *name; /* as --format takes it */
	struct error *(*run)(struct renderer *, const struct run_record *);
	render_race *race;
	/* the format may have no use for these: NULL */
	struct error *(*crash)(struct renderer *, const struct crash *);
	struct error *(*target)(struct renderer *,
				const struct target_record *);
	struct error *(*candidate)(struct renderer *,
				   const struct candidate_record *);
	struct error *(*progress)(struct renderer *,
				  const struct run_summary *);
	struct error *(*summary)(struct renderer *, const struct run_summary *);
	/*
	 * Write what was kept back, and free `state'. NULL: nothing is. Must
	 * be called once, also after an error.
	 */
	struct error *(*finish)(struct renderer *);
};

/* How text is written. */
struct render_style {
	bool color; /* use SGR sequences */
	int width; /* columns; 0: do not fold */
	bool paths; /* and columns, of own code; false: files' names and lines */
	bool identities; /* the fingerprints of races */
	bool full_stacks; /* frames of libraries too: report/folding.h */
};

/* Of what standard error shows, in a file: no colors, nothing folded. */
void render_style_for_file(struct render_style *style);

struct renderer {
	const struct renderer_ops *ops;
	FILE *out; /* borrowed */
	struct render_style style;
	/* races with the verdict unlikely are not counted */
	bool ignore_unlikely;
	bool show_ordered; /* text: what hand-overs put in order, in full */
	bool live; /* text: races are told as they come, and may come again */
	/*
	 * text: the command of the "again" line, or NULL for none; "{id}" in
	 * it stands for the race's number, and a later "{pid}" for its process
	 */
	const char *again;
	/*
	 * html: appends a suppression of the race, to be copied; NULL: that of
	 * its fingerprint
	 */
	void (*suppression)(struct strbuf *out, const struct race *race);
	void *state; /* the format's own; NULL at first */
};

extern const struct renderer_ops render_text;
extern const struct renderer_ops render_line;
extern const struct renderer_ops render_json;
extern const struct renderer_ops render_sarif;
extern const struct renderer_ops render_junit;
extern const struct renderer_ops render_html;

/* The formats' names, as --format takes them; ends in NULL. */
extern const char *const render_names[];

/* The renderer of that name; NULL: there is none. */
const struct renderer_ops *render_find(const char *name);

/* Hand over a record of any type (report/record.h). */
struct error *render_record(struct renderer *renderer,
			    const struct report_record *record);

/* As ops->finish, for every format. */
struct error *render_finish(struct renderer *renderer);

/*
 * One line of text for a race that is not worth more: its verdict, accesses,
 * variable and innermost functions.
 */
render_race render_text_short;

/* One line that says that the verdict on a race became graver, and why. */
render_race render_text_graver;
/* One line of what the replays of a race came to, and the verdict. */
render_race render_text_replayed;
/* One line of a race that was written when one side of it was known. */
render_race render_text_completed;

/*
 * At the end of a live report, how often each of the races (const struct race *)
 * was seen; nothing if none was seen again.
 */
struct error *render_text_counts(struct renderer *renderer,
				 const struct vec *races);

#endif
