/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Locks, the heap block and earlier accesses as text; see text-recorded.h.
 */
#include "report/text-recorded.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/strbuf.h"
#include "base/utf8.h"
#include "report/phrase-recorded.h"
#include "report/phrase.h"
#include "report/race.h"
#include "report/text-stack.h"
#include "report/text.h"

enum {
	RECORDED_INDENT = 2,
	RECORDED_SIDE_INDENT = 4,
	RECORDED_STACK_INDENT = 6,
	RECORDED_LOCK_FRAMES = 3,
	RECORDED_BLOCK_FRAMES = 5,
	RECORDED_GAP = 2,
	RECORDED_CELL_MAX = 32, /* columns; a longer cell sticks out */
};

void text_recorded_side(struct text *text, const struct race *race,
			const struct race_side *side)
{
	const struct vec *locks = &side->recorded.locks;

	if (race->recorded.address == 0)
		return;
	if (side->recorded.first == 0 || locks->count == 0) {
		strbuf_add(&text->line, "held in the recording: ");
		phrase_add_held(&text->line, side);
		text_end_line(text, RECORDED_SIDE_INDENT, RECORDED_INDENT);
		return;
	}
	for (size_t i = 0; i < locks->count; i++) {
		const struct recorded_lock *lock = vec_at(locks, i);

		strbuf_add(&text->line, "held in the recording: ");
		phrase_add_lock(&text->line, lock);
		if (lock->taken.count > 0)
			strbuf_add(&text->line, ", taken at");
		text_end_line(text, RECORDED_SIDE_INDENT, RECORDED_INDENT);
		if (lock->taken.count > 0)
			text_add_call(text, &lock->taken, RECORDED_LOCK_FRAMES,
				      RECORDED_STACK_INDENT);
	}
}

static void write_block(struct text *text, const struct recorded_block *block)
{
	struct strbuf *line = &text->line;

	if (block->size == 0)
		return;
	strbuf_add(line, "block       ");
	phrase_add_block(line, block);
	if (block->allocated.count > 0)
		strbuf_add(line, " at");
	text_end_line(text, RECORDED_INDENT, RECORDED_INDENT);
	if (block->allocated.count > 0)
		text_add_call(text, &block->allocated, RECORDED_BLOCK_FRAMES,
			      RECORDED_STACK_INDENT);
}

/* The columns of a line of the history but the last one. */
enum { CELL_FIRST, CELL_THREAD, CELL_VERB, CELL_FUNCTION, CELL_PLACE, CELLS };

static void add_place(struct strbuf *line, const struct race_frame *frame)
{
	if (frame->file)
		text_add_place(line, frame->file, frame->line);
	else if (frame->function && frame->module)
		text_add_offset(line, frame->module, frame->offset);
}

static void add_cell(struct strbuf *line, const struct recorded_access *access,
		     int cell)
{
	const struct race_frame *frame =
		access->frames.count ? vec_at(&access->frames, 0) : NULL;

	switch (cell) {
	case CELL_FIRST:
		strbuf_addf(line, "%" PRIu64, access->first);
		break;
	case CELL_THREAD:
		phrase_add_recorded_thread(line, access);
		break;
	case CELL_VERB:
		phrase_add_recorded_verb(line, access);
		break;
	case CELL_FUNCTION:
		if (frame)
			phrase_add_function(line, frame);
		break;
	case CELL_PLACE:
		if (frame)
			add_place(line, frame);
		break;
	default:
		break;
	}
}

static void measure(const struct vec *accesses, int widths[CELLS])
{
	for (size_t i = 0; i < accesses->count; i++) {
		for (int cell = 0; cell < CELLS; cell++) {
			struct strbuf text = { 0 };
			int width;

			add_cell(&text, vec_at(accesses, i), cell);
			width = (int)utf8_columns(strbuf_text(&text), SIZE_MAX);
			if (width > widths[cell] && width <= RECORDED_CELL_MAX)
				widths[cell] = width;
			strbuf_deinit(&text);
		}
	}
}

static void write_access(struct text *text,
			 const struct recorded_access *access,
			 const int widths[CELLS])
{
	struct strbuf *line = &text->line;

	for (int cell = 0; cell < CELLS; cell++) {
		size_t start = line->length;

		add_cell(line, access, cell);
		text_pad(text, start, widths[cell]);
		strbuf_addf(line, "%*s", RECORDED_GAP, "");
	}
	phrase_add_locks(line, access);
	if (access->count > 1 || access->held)
		strbuf_add(line, "; ");
	phrase_add_recorded_rest(line, access);
	text_end_line(text, RECORDED_SIDE_INDENT, RECORDED_INDENT);
}

void text_recorded_write(struct text *text, const struct race *race)
{
	const struct recorded *recorded = &race->recorded;
	int widths[CELLS] = { 0 };

	if (recorded->address == 0)
		return;
	write_block(text, &recorded->block);
	strbuf_add(&text->line, "history     ");
	phrase_add_history(&text->line, recorded);
	text_end_line(text, RECORDED_INDENT, RECORDED_INDENT);
	measure(&recorded->accesses, widths);
	for (size_t i = 0; i < recorded->accesses.count; i++)
		write_access(text, vec_at(&recorded->accesses, i), widths);
	if (recorded->left_out == 0)
		return;
	strbuf_add(&text->line, "and ");
	text_add_count(&text->line, recorded->left_out);
	strbuf_add(&text->line, " more");
	text_end_line(text, RECORDED_SIDE_INDENT, RECORDED_INDENT);
}
