/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Stacks as lines of text; see text-stack.h.
 */
#include "report/text-stack.h"

#include "base/strbuf.h"
#include "base/utf8.h"
#include "base/vec.h"
#include "report/folding.h"
#include "report/phrase.h"
#include "report/race.h"
#include "report/text.h"

enum { STACK_FUNCTION_MAX = 44, STACK_GAP = 3, STACK_NUMBER = 4 };

/* As wide as the widest name that is shown and not too wide. */
static int stack_width(const struct text *text, const struct vec *frames,
		       size_t from)
{
	int width = 0;
	size_t count;

	for (size_t i = from; i < frames->count; i += count) {
		struct strbuf cell = { 0 };
		int columns;

		count = text_folds(text, frames, i);
		if (count > 1)
			continue;
		phrase_add_function(&cell, vec_at(frames, i));
		columns = (int)utf8_columns(strbuf_text(&cell), SIZE_MAX);
		if (columns > width && columns <= STACK_FUNCTION_MAX)
			width = columns;
		strbuf_deinit(&cell);
	}
	return width;
}

/* Where it is in the sources, or else in the object file. */
static void stack_place(struct text *text, const struct race_frame *frame)
{
	struct strbuf *line = &text->line;

	if (frame->file)
		text_add_frame_place(text, line, frame);
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
		stack_place(text, frame);
	}
	if (frame->inlined)
		strbuf_add(line, " (inlined)");
}

/* A line: a frame, or several that are folded. Returns how many. */
static size_t add_line(struct text *text, const struct vec *frames, size_t at,
		       int width)
{
	size_t count = text_folds(text, frames, at);

	if (count > 1)
		folding_add(&text->line, frames, at, count);
	else
		stack_frame(text, vec_at(frames, at), at, width);
	return count;
}

static void add_frames(struct text *text, const struct vec *frames, size_t from,
		       size_t max, int indent)
{
	int width = stack_width(text, frames, from);
	size_t at = from;

	for (size_t i = 0; i < max && at < frames->count; i++) {
		at += add_line(text, frames, at, width);
		text_end_line(text, indent, STACK_NUMBER);
	}
	if (at > 0 && at == frames->count)
		return;
	if (at == 0)
		strbuf_add(&text->line, "(no stack)");
	else
		strbuf_addf(&text->line, "and %zu more", frames->count - at);
	text_end_line(text, indent, 0);
}

void text_add_stack(struct text *text, const struct vec *frames, size_t max,
		    int indent)
{
	if (text->style.full_stacks)
		max = frames->count;
	add_frames(text, frames, 0, max, indent);
}

void text_add_call(struct text *text, const struct vec *frames, size_t max,
		   int indent)
{
	add_frames(text, frames, race_frames_find_own(frames), max, indent);
}
