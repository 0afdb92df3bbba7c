/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Lines of text: indented, folded at the width of a terminal, coloured if asked
 * for; and how numbers and names are written. For the text renderer.
 */
#ifndef REPORT_TEXT_H
#define REPORT_TEXT_H

#include <stdint.h>
#include <stdio.h>

#include "base/strbuf.h"
#include "report/render.h"

struct error;
struct race_frame;
struct vec;

/* SGR parameters. */
#define TEXT_BOLD "1"
#define TEXT_BOLD_RED "1;31"
#define TEXT_BOLD_GREEN "1;32"

struct text {
	FILE *file;
	struct render_style style; /* narrower than 40 columns: not folded */
	char *folder; /* the working directory; NULL: not known, or no paths */
	struct strbuf out; /* whole lines, for the file */
	struct strbuf line; /* the one at work, without indentation */
};

/* Ended by text_end(). */
struct text text_begin(const struct renderer *renderer);

/* Write all lines at once. Failed appends come out here as error_nomem. */
struct error *text_end(struct text *text);

/* Put line to the others, indented, what is folded by `more' beyond that. */
void text_end_line(struct text *text, int indent, int more);

/* Nothing without colours. */
void text_set_color(struct text *text, const char *sgr);
void text_reset_color(struct text *text);

/* Fill the line with spaces so that what begins at byte start has `columns'. */
void text_pad(struct text *text, size_t start, int columns);

/* Frames from `at' on that are one line: report/folding.h. */
size_t text_folds(const struct text *text, const struct vec *frames, size_t at);

/* What comes after the last slash. */
const char *text_base_name(const char *path);

/* "cache.c:11" of "/home/src/cache.c"; without a number when it is 0. */
void text_add_place(struct strbuf *line, const char *file, int number);

/* The same of a frame with a file; of own code, as paths: "src/cache.c:11:5". */
void text_add_frame_place(const struct text *text, struct strbuf *line,
			  const struct race_frame *frame);

/* "cache+0x1179" of "/usr/bin/cache"; "0x1179" when module is NULL. */
void text_add_offset(struct strbuf *line, const char *module, uint64_t offset);

/* "5 312" */
void text_add_count(struct strbuf *line, uint64_t n);

/* "1 race", "2 races" */
void text_add_plural(struct strbuf *line, uint64_t n, const char *what);

/* "35 us", "0.4 ms", "9.8 s" */
void text_add_time(struct strbuf *line, uint64_t ns);

/* A space and the name in quotes; nothing when it is NULL. */
void text_add_quoted(struct strbuf *line, const char *name);

/* A space and the text in parentheses; nothing when it is NULL. */
void text_add_bracketed(struct strbuf *line, const char *text);

#endif
