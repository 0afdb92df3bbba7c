/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Renderers: one interface, one file per format. A renderer writes records as
 * they come, each flushed, so that a crash loses nothing. Errors of writing
 * (a full disk, a closed pipe) are returned by the call that met them; the
 * caller decides whether to go on.
 */
#ifndef REPORT_RENDER_H
#define REPORT_RENDER_H

#include <stdbool.h>
#include <stdio.h>

struct error;
struct race;
struct run_record;
struct run_summary;

struct renderer;

struct renderer_ops {
	const char *name; /* as --format takes it */
	struct error *(*run)(struct renderer *, const struct run_record *);
	struct error *(*race)(struct renderer *, const struct race *);
	struct error *(*summary)(struct renderer *, const struct run_summary *);
};

struct renderer {
	const struct renderer_ops *ops;
	FILE *out; /* borrowed */
	bool color; /* text: use SGR sequences */
	int width; /* text: columns; 0: do not fold */
	/*
	 * text: the command of the "again" line, or NULL for none; "{id}" in
	 * it stands for the race's number
	 */
	const char *again;
};

extern const struct renderer_ops render_text;
extern const struct renderer_ops render_json;

/*
 * One line of text for a race that is not worth more: its verdict, accesses,
 * variable and innermost functions.
 */
struct error *render_text_short(struct renderer *renderer,
				const struct race *race);

#endif
