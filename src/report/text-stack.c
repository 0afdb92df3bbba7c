/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Stacks as lines of text; see text-stack.h.
 */
#include "report/text-stack.h"

#include "base/strbuf.h"
#include "base/utf8.h"
#include "base/vec.h"
#include "report/phrase.h"
#include "report/race.h"
#include "report/text.h"

enum { STACK_FUNCTION_MAX = 44, STACK_GAP = 3, STACK_NUMBER = 4 };

/* As wide as the widest name that is not too wide. */
static int stack_width(const struct vec *frames)
{
	int width = 0;

	for (size_t i = 0; i < frames->count; i++) {
		struct strbuf cell = { 0 };
		int columns;

		phrase_add_function(&cell, vec_at(frames, i));
		columns = (int)utf8_columns(strbuf_text(&cell), SIZE_MAX);
		if (columns > width && columns <= STACK_FUNCTION_MAX)
			width = columns;
		strbuf_deinit(&cell);
	}
	return width;
}

/* Where it is in the sources, or else in the object file. */
static void stack_place(struct strbuf *line, const struct race_frame *frame)
{
	if (frame->file)
		text_add_place(line, frame->file, frame->line);
	else if (frame->function && frame->module)
		text_add_offset(line, frame->module, frame->offset);
}

static void stack_frame(struct text *text, const struct race_frame *frame,
			size_t number, int width)
{
	struct strbuf *line = &text->line;
	size_t start;

	strbuf_addf(line, "#%zu ", number);
	if (number < 10)
		strbuf_add(line, " ");
	start = line->length;
	phrase_add_function(line, frame);
	if (frame->file || (frame->function && frame->module)) {
		text_pad(text, start, width);
		strbuf_addf(line, "%*s", STACK_GAP, "");
		stack_place(line, frame);
	}
	if (frame->inlined)
		strbuf_add(line, " (inlined)");
}

static void add_frames(struct text *text, const struct vec *frames, size_t from,
		       size_t max, int indent)
{
	size_t left = frames->count - from;
	size_t end = from + (left < max ? left : max);
	int width = stack_width(frames);

	for (size_t i = from; i < end; i++) {
		stack_frame(text, vec_at(frames, i), i, width);
		text_end_line(text, indent, STACK_NUMBER);
	}
	if (end > 0 && end == frames->count)
		return;
	if (end == 0)
		strbuf_add(&text->line, "(no stack)");
	else
		strbuf_addf(&text->line, "and %zu more", frames->count - end);
	text_end_line(text, indent, 0);
}

void text_add_stack(struct text *text, const struct vec *frames, size_t max,
		    int indent)
{
	add_frames(text, frames, 0, max, indent);
}

void text_add_call(struct text *text, const struct vec *frames, size_t max,
		   int indent)
{
	add_frames(text, frames, race_frames_find_own(frames), max, indent);
}
