/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A crash as text; see text-crash.h.
 */
#include "report/text-crash.h"

#include "base/strbuf.h"
#include "report/crash.h"
#include "report/phrase.h"
#include "report/render.h"
#include "report/text-stack.h"
#include "report/text.h"

enum {
	CRASH_RACES_SHOWN = 8,
	CRASH_FRAMES_SHOWN = 16,
	CRASH_INDENT = 2,
	CRASH_LIST_INDENT = 4,
};

static void crash_heading(struct text *text, const struct crash *crash)
{
	struct strbuf *line = &text->line;

	text_set_color(text, TEXT_BOLD_RED);
	strbuf_add(line, "CRASH: racewatch: ");
	phrase_add_crash(line, crash);
	text_reset_color(text);
	text_end_line(text, 0, 2 * CRASH_INDENT);
}

static void crash_stack(struct text *text, const struct crash *crash)
{
	struct strbuf *line = &text->line;

	if (crash->tid == 0) {
		strbuf_add(line, "by a signal from outside, or when it was not "
				 "watched any more");
		text_end_line(text, CRASH_INDENT, CRASH_INDENT);
		return;
	}
	phrase_add_thread(line, crash->tid, crash->thread);
	text_end_line(text, CRASH_INDENT, CRASH_INDENT);
	text_add_stack(text, &crash->frames, CRASH_FRAMES_SHOWN,
		       CRASH_LIST_INDENT);
}

static void crash_races(struct text *text, const struct crash *crash)
{
	size_t count = crash->races.count;
	size_t shown = count < CRASH_RACES_SHOWN ? count : CRASH_RACES_SHOWN;

	strbuf_add(&text->line, count > 0 ? "races before it, nearest first"
					  : "no race was seen before it");
	text_end_line(text, CRASH_INDENT, CRASH_INDENT);
	for (size_t i = 0; i < shown; i++) {
		phrase_add_crash_race(&text->line, vec_at(&crash->races, i));
		text_end_line(text, CRASH_LIST_INDENT, CRASH_INDENT);
	}
	if (shown == count)
		return;
	strbuf_add(&text->line, "and ");
	text_add_count(&text->line, count - shown);
	strbuf_add(&text->line, " more");
	text_end_line(text, CRASH_LIST_INDENT, CRASH_INDENT);
}

struct error *text_crash(struct renderer *renderer, const struct crash *crash)
{
	struct text text = text_begin(renderer);

	crash_heading(&text, crash);
	crash_stack(&text, crash);
	crash_races(&text, crash);
	return text_end(&text);
}
