/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Parts of the HTML report: for render-html.c and html-*.c only. All append to
 * `out'; foreign text is escaped (report/xml.h).
 */
#ifndef REPORT_HTML_H
#define REPORT_HTML_H

#include <stdbool.h>
#include <stddef.h>

struct crash;
struct race;
struct race_side;
struct renderer;
struct run_coverage;
struct strbuf;
struct target_record;
struct vec;

/* src/report/html/report.css and report.js, made strings by the build. */
extern const char html_style[];
extern const char html_script[];

/* What is inside the <details> of a race, its <summary> first. */
void html_add_race(struct strbuf *out, const struct renderer *renderer,
		   const struct race *race);

/* Text that is ours, or phrases: the buffer is escaped and ended. */
void html_add_ended(struct strbuf *out, struct strbuf *text);

/* An <ol> of these struct race_frame. */
void html_add_frames(struct strbuf *out, const struct vec *frames);

/*
 * What a hunt's recording knows: the locks of a side, and the heap block and the
 * history of the bytes. Nothing where there was no recording.
 */
void html_add_held(struct strbuf *out, const struct race *race,
		   const struct race_side *side);
void html_add_recorded(struct strbuf *out, const struct race *race);

/*
 * A <tr> with a side of a hunt, and what came of it. drawn: it refers to its
 * hand-over.
 */
void html_add_target(struct strbuf *out, const struct target_record *record,
		     bool drawn);

/*
 * A <details> with a picture of the hand-over that has ordered the side, and the
 * stacks; its id is "hand-over-" and the side's. False: none has.
 */
bool html_add_hand_overs(struct strbuf *out,
			 const struct target_record *record);

/* A <section>. */
void html_add_crash(struct strbuf *out, const struct crash *crash);

/* The curves of these struct run_summary, oldest first: <figure>s. */
void html_add_curves(struct strbuf *out, const struct vec *progress);

/* What was sampled of each module (struct html_module): a <table>. */
struct html_module {
	char *path;
	unsigned long long sampled, eligible;
};

void html_add_coverage(struct strbuf *out, const struct vec *modules);

#endif
