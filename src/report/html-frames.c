/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Stacks in the HTML report; see html.h.
 */
#include <stdio.h>

#include "base/strbuf.h"
#include "report/html.h"
#include "report/phrase.h"
#include "report/race.h"
#include "report/text.h"
#include "report/xml.h"

void html_add_ended(struct strbuf *out, struct strbuf *text)
{
	xml_add(out, strbuf_text(text));
	out->failed |= text->failed;
	strbuf_deinit(text);
}

/* The line, and a caret below its column. */
static void add_source(struct strbuf *out, const struct race_frame *frame)
{
	struct strbuf text = { 0 };
	int caret, number = 0;

	strbuf_add(out, "<pre class=\"source\">");
	if (frame->line > 0) {
		number = snprintf(NULL, 0, "%d ", frame->line);
		strbuf_addf(out, "<span class=\"number\">%d</span>",
			    frame->line);
	}
	caret = phrase_add_source(&text, frame);
	html_add_ended(out, &text);
	if (caret >= 0)
		strbuf_addf(out, "\n%*s<span class=\"caret\">^</span>",
			    number + caret, "");
	strbuf_add(out, "</pre>");
}

static void add_place(struct strbuf *out, const struct race_frame *frame)
{
	struct strbuf text = { 0 };

	strbuf_add(out, "<span class=\"place code\"");
	xml_add_attribute(out, "title", frame->file);
	strbuf_add(out, ">");
	text_add_place(&text, frame->file, frame->line);
	html_add_ended(out, &text);
	strbuf_add(out, "</span>");
}

static void add_frame(struct strbuf *out, const struct race_frame *frame,
		      size_t number)
{
	struct strbuf text = { 0 };

	strbuf_addf(out,
		    "<li><span class=\"number code\">#%zu</span>"
		    "<span class=\"function code\">",
		    number);
	phrase_add_function(&text, frame);
	html_add_ended(out, &text);
	strbuf_add(out, "</span>");
	if (frame->file)
		add_place(out, frame);
	if (frame->module || frame->inlined) {
		strbuf_add(out, "<span class=\"offset code\"");
		xml_add_attribute(out, "title", frame->module);
		strbuf_add(out, ">");
		if (frame->module)
			text_add_offset(&text, frame->module, frame->offset);
		html_add_ended(out, &text);
		strbuf_add(out,
			   frame->inlined ? " (inlined)</span>" : "</span>");
	}
	if (frame->source)
		add_source(out, frame);
	strbuf_add(out, "</li>\n");
}

void html_add_frames(struct strbuf *out, const struct vec *frames)
{
	strbuf_add(out, "<ol class=\"stack\">\n");
	for (size_t i = 0; i < frames->count; i++)
		add_frame(out, vec_at(frames, i), i);
	strbuf_add(out, "</ol>\n");
}
