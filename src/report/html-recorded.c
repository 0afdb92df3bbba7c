/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Locks, the heap block and earlier accesses of a race in the HTML report, and the
 * sides of a hunt; see html.h.
 */
#include <inttypes.h>
#include <stddef.h>

#include "base/strbuf.h"
#include "report/html.h"
#include "report/phrase-recorded.h"
#include "report/phrase.h"
#include "report/race.h"
#include "report/target-record.h"
#include "report/text.h"

static void add_lock(struct strbuf *out, const struct recorded_lock *lock)
{
	struct strbuf text = { 0 };

	phrase_add_lock(&text, lock);
	strbuf_add(out, "<details class=\"held\"><summary>held in the "
			"recording: ");
	html_add_ended(out, &text);
	strbuf_add(out, "</summary>\n");
	if (lock->taken.count > 0) {
		strbuf_add(out, "<p class=\"soft\">taken at</p>\n");
		html_add_frames(out, &lock->taken);
	}
	strbuf_add(out, "</details>\n");
}

void html_add_held(struct strbuf *out, const struct race *race,
		   const struct race_side *side)
{
	const struct vec *locks = &side->recorded.locks;
	struct strbuf text = { 0 };

	if (race->recorded.address == 0)
		return;
	for (size_t i = 0; i < locks->count; i++)
		add_lock(out, vec_at(locks, i));
	if (locks->count > 0)
		return;
	phrase_add_held(&text, side);
	strbuf_add(out, "<p class=\"held\">held in the recording: ");
	html_add_ended(out, &text);
	strbuf_add(out, "</p>\n");
}

static void add_block(struct strbuf *out, const struct recorded_block *block)
{
	struct strbuf text = { 0 };

	if (block->size == 0)
		return;
	strbuf_add(out, "<details class=\"allocated\"><summary>block ");
	phrase_add_block(&text, block);
	html_add_ended(out, &text);
	strbuf_add(out, "</summary>\n");
	html_add_frames(out, &block->allocated);
	strbuf_add(out, "</details>\n");
}

static void add_cell(struct strbuf *out, struct strbuf *text)
{
	strbuf_add(out, "<td>");
	html_add_ended(out, text);
	strbuf_add(out, "</td>");
}

static void add_access(struct strbuf *out, const struct recorded_access *access)
{
	const struct race_frame *frame =
		access->frames.count ? vec_at(&access->frames, 0) : NULL;
	struct strbuf text = { 0 };

	strbuf_addf(out, "<tr%s><td class=\"number\">%" PRIu64 "</td>",
		    access->held ? " class=\"stalled\"" : "", access->first);
	phrase_add_recorded_thread(&text, access);
	add_cell(out, &text);
	phrase_add_recorded_verb(&text, access);
	add_cell(out, &text);
	if (frame)
		phrase_add_function(&text, frame);
	add_cell(out, &text);
	if (frame && frame->file)
		text_add_place(&text, frame->file, frame->line);
	add_cell(out, &text);
	phrase_add_locks(&text, access);
	add_cell(out, &text);
	phrase_add_recorded_rest(&text, access);
	add_cell(out, &text);
	strbuf_add(out, "</tr>\n");
}

void html_add_recorded(struct strbuf *out, const struct race *race)
{
	const struct recorded *recorded = &race->recorded;

	if (recorded->address == 0)
		return;
	add_block(out, &recorded->block);
	strbuf_add(out, "<div class=\"scroll\"><table class=\"history\">"
			"<caption>history ");
	phrase_add_history(out, recorded);
	strbuf_add(out, "</caption>\n");
	for (size_t i = 0; i < recorded->accesses.count; i++)
		add_access(out, vec_at(&recorded->accesses, i));
	strbuf_add(out, "</table></div>\n");
	if (recorded->left_out == 0)
		return;
	strbuf_add(out, "<p class=\"soft\">and ");
	text_add_count(out, recorded->left_out);
	strbuf_add(out, " more</p>\n");
}

void html_add_target(struct strbuf *out, const struct target_record *record,
		     bool drawn)
{
	struct strbuf text = { 0 };

	strbuf_addf(out, "<tr id=\"target-%" PRIu64 "\"><td class=\"number\">",
		    record->side.id);
	strbuf_addf(out, "#%" PRIu64 "</td>", record->side.id);
	target_say_side(&text, &record->side);
	add_cell(out, &text);
	target_say_outcome(&text, record);
	add_cell(out, &text);
	if (record->race_id)
		strbuf_addf(out,
			    "<td><a href=\"#race-%" PRIu64 "\">race #%" PRIu64
			    "</a></td>",
			    record->race_id, record->race_id);
	else if (drawn)
		strbuf_addf(out,
			    "<td><a href=\"#hand-over-%" PRIu64
			    "\">hand-over</a></td>",
			    record->side.id);
	else
		strbuf_add(out, "<td></td>");
	strbuf_add(out, "</tr>\n");
}
