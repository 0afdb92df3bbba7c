/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Stacks as text, in columns that several of them share: number, function,
 * place in the source, instruction; below a frame its source line, where it is
 * known, with a caret at its column. The innermost frame is never folded.
 */
#ifndef REPORT_TEXT_FRAMES_H
#define REPORT_TEXT_FRAMES_H

#include "base/vec.h"

struct text;

/* Widths, zero at first but for the least width of `function'. */
struct text_columns {
	int index; /* "#0" */
	int function, place, insn;
};

enum {
	TEXT_FUNCTION_MIN = 16,
	TEXT_GAP = 3, /* between columns */
};

/* Make room for these; insn is of the innermost frame, or NULL. */
void text_frames_measure(const struct text *text, struct text_columns *columns,
			 const struct vec *frames, const char *insn);

void text_frames_write(struct text *text, int indent, const struct vec *frames,
		       const char *insn, const struct text_columns *columns);

#endif
