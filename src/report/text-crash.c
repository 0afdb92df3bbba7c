/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A crash as text; see text-crash.h.
 */
#include "report/text-crash.h"

#include <inttypes.h>
#include <string.h>

#include "base/strbuf.h"
#include "base/utf8.h"
#include "report/crash.h"
#include "report/render.h"
#include "report/text-stack.h"
#include "report/text.h"

enum {
	CRASH_RACES_SHOWN = 8,
	CRASH_FRAMES_SHOWN = 16,
	CRASH_INDENT = 2,
	CRASH_LIST_INDENT = 4,
};

static void crash_add_signal(struct strbuf *line, int number)
{
	const char *name = sigabbrev_np(number);

	if (name)
		strbuf_addf(line, "SIG%s", name);
	else
		strbuf_addf(line, "signal %d", number);
}

static void crash_heading(struct text *text, const struct crash *crash)
{
	struct strbuf *line = &text->line;

	text_set_color(text, TEXT_BOLD_RED);
	strbuf_add(line, "CRASH: racewatch: ");
	strbuf_addf(line, "process %d died of ", crash->pid);
	crash_add_signal(line, crash->signal);
	text_reset_color(text);
	if (crash->has_address)
		strbuf_addf(line, " at address 0x%" PRIx64, crash->address);
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
	strbuf_addf(line, "thread %d", crash->tid);
	text_add_quoted(line, crash->thread);
	text_end_line(text, CRASH_INDENT, CRASH_INDENT);
	text_add_stack(text, &crash->frames, CRASH_FRAMES_SHOWN,
		       CRASH_LIST_INDENT);
}

static void crash_add_marks(struct strbuf *line, const struct crash_race *race)
{
	const struct {
		bool is;
		const char *text;
	} marks[] = {
		{ race->same_address, "at that address" },
		{ race->same_object && !race->same_address,
		  "next to that address" },
		{ race->same_pointer, "of a pointer that leads there" },
		{ race->same_function, "in a function of that stack" },
	};
	const char *before = ": ";

	for (size_t i = 0; i < sizeof(marks) / sizeof(marks[0]); i++) {
		if (!marks[i].is)
			continue;
		strbuf_add(line, before);
		strbuf_add(line, marks[i].text);
		before = ", ";
	}
}

static void crash_race_line(struct text *text, const struct crash_race *race)
{
	struct strbuf *line = &text->line;

	strbuf_addf(line, "#%" PRIu64, race->id);
	if (race->variable) {
		strbuf_add(line, " of ");
		utf8_add_visible(line, race->variable);
	}
	strbuf_add(line, ", ");
	text_add_time(line, race->before_ns);
	strbuf_add(line, " before");
	crash_add_marks(line, race);
	text_end_line(text, CRASH_LIST_INDENT, CRASH_INDENT);
}

static void crash_races(struct text *text, const struct crash *crash)
{
	size_t count = crash->races.count;
	size_t shown = count < CRASH_RACES_SHOWN ? count : CRASH_RACES_SHOWN;

	strbuf_add(&text->line, count > 0 ? "races before it, nearest first"
					  : "no race was seen before it");
	text_end_line(text, CRASH_INDENT, CRASH_INDENT);
	for (size_t i = 0; i < shown; i++)
		crash_race_line(text, vec_at(&crash->races, i));
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
