/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Stacks as text; see text-frames.h.
 */
#include "report/text-frames.h"

#include "base/utf8.h"
#include "report/folding.h"
#include "report/phrase.h"
#include "report/race.h"
#include "report/text.h"

enum { TEXT_CELL_MAX = 44 }; /* what is longer pushes its line's rest */

/*
 * Behind the other columns: where the innermost frame is in the file; a frame
 * without a function's name has this in the name's place.
 */
static void add_tail(struct strbuf *line, const struct race_frame *frame,
		     bool innermost)
{
	bool place = innermost && frame->function && frame->module;

	if (place)
		text_add_offset(line, frame->module, frame->offset);
	if (frame->inlined)
		strbuf_add(line, place ? " (inlined)" : "(inlined)");
}

static void widen(int *column, struct strbuf *cell)
{
	int columns = (int)utf8_columns(strbuf_text(cell), SIZE_MAX);

	if (columns > *column && columns <= TEXT_CELL_MAX)
		*column = columns;
	strbuf_deinit(cell);
}

/* Frames from `at' on that are one line: the innermost has the instruction. */
static size_t folds(const struct text *text, const struct vec *frames,
		    size_t at)
{
	return at == 0 ? 1 : text_folds(text, frames, at);
}

void text_frames_measure(const struct text *text, struct text_columns *columns,
			 const struct vec *frames, const char *insn)
{
	size_t count;

	for (size_t i = 0; i < frames->count; i += count) {
		const struct race_frame *frame = vec_at(frames, i);
		struct strbuf cell = { 0 };

		count = folds(text, frames, i);
		if (count > 1)
			continue;
		strbuf_addf(&cell, "#%zu", i);
		widen(&columns->index, &cell);
		phrase_add_function(&cell, frame);
		widen(&columns->function, &cell);
		if (frame->file)
			text_add_frame_place(text, &cell, frame);
		widen(&columns->place, &cell);
		if (i == 0 && insn)
			utf8_add_visible(&cell, insn);
		widen(&columns->insn, &cell);
	}
}

/* Append a cell padded to its column, after the gap to the one before. */
static void put_cell(struct text *text, struct strbuf *cell, int column)
{
	size_t start = text->line.length;

	if (column) {
		strbuf_add(&text->line, strbuf_text(cell));
		text_pad(text, start, column);
		strbuf_addf(&text->line, "%*s", TEXT_GAP, "");
	}
	if (cell->failed)
		text->line.failed = true;
	strbuf_deinit(cell);
}

static void trim_line(struct strbuf *line)
{
	while (line->length && line->text[line->length - 1] == ' ')
		line->text[--line->length] = '\0';
}

/* Neither line is folded: the caret would point nowhere. */
static void write_source(struct text *text, int indent,
			 const struct race_frame *frame)
{
	int caret;

	strbuf_addf(&text->out, "%*s", indent, "");
	caret = phrase_add_source(&text->out, frame);
	strbuf_add(&text->out, "\n");
	if (caret >= 0)
		strbuf_addf(&text->out, "%*s^\n", indent + caret, "");
}

static void write_frame(struct text *text, int indent,
			const struct race_frame *frame, const char *insn,
			const struct text_columns *columns)
{
	struct strbuf cell = { 0 };

	phrase_add_function(&cell, frame);
	put_cell(text, &cell, columns->function);
	if (frame->file)
		text_add_frame_place(text, &cell, frame);
	put_cell(text, &cell, columns->place);
	if (insn)
		utf8_add_visible(&cell, insn);
	put_cell(text, &cell, insn ? columns->insn : 0);
	add_tail(&text->line, frame, insn != NULL);
	trim_line(&text->line);
	text_end_line(text, indent, columns->index + 1);
	if (frame->source)
		write_source(text, indent + columns->index + 1, frame);
}

void text_frames_write(struct text *text, int indent, const struct vec *frames,
		       const char *insn, const struct text_columns *columns)
{
	size_t count;

	for (size_t i = 0; i < frames->count; i += count) {
		count = folds(text, frames, i);
		if (count > 1) {
			folding_add(&text->line, frames, i, count);
			text_end_line(text, indent, columns->index + 1);
			continue;
		}
		strbuf_addf(&text->line, "#%zu", i);
		text_pad(text, 0, columns->index + 1);
		write_frame(text, indent, vec_at(frames, i),
			    i > 0  ? NULL
			    : insn ? insn
				   : "",
			    columns);
	}
}
