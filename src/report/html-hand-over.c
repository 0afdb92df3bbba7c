/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Hand-overs in the HTML report, as inline SVG; see html.h. Each thread has a lane,
 * from its top down what it did, and an arrow goes from who stored the address to
 * who loaded it. The stacks are below the picture.
 */
#include <inttypes.h>
#include <stdbool.h>
#include <string.h>

#include "base/same-text.h"
#include "base/strbuf.h"
#include "base/utf8.h"
#include "base/vec.h"
#include "report/frame.h"
#include "report/html.h"
#include "report/phrase-hand-over.h"
#include "report/phrase-recorded.h"
#include "report/phrase.h"
#include "report/recorded.h"
#include "report/target-record.h"
#include "report/text.h"
#include "report/xml.h"

/* The drawing, in pixels if there is room. */
enum {
	BOX_WIDTH = 176,
	BOX_HEIGHT = 52,
	LINE_HEIGHT = 15,
	LANE_WIDTH = 208, /* with the gap to the next one */
	ROW_HEIGHT = 66,
	HEAD_HEIGHT = 26,
	HEAD = 5, /* of an arrow */
	MARGIN = 2,
	/* that fit into a box */
	COLUMNS = 24,
	/* its least width, in percent: then the picture is scrolled */
	LEAST = 80,
};

struct drawing {
	struct strbuf *out;
	const struct hunt_side *side;
	struct vec lanes; /* of const char *: thread paths */
};

/* One thing that a thread did. */
struct step {
	const char *thread;
	const char *class;
	struct strbuf verb, memory;
	const struct vec *frames;
};

static size_t lane_of(struct drawing *drawing, const char *thread)
{
	for (size_t i = 0; i < drawing->lanes.count; i++) {
		if (same_text(*(const char **)vec_at(&drawing->lanes, i),
			      thread))
			return i;
	}
	if (!vec_push(&drawing->lanes, &thread))
		drawing->out->failed = true;
	return drawing->lanes.count ? drawing->lanes.count - 1 : 0;
}

static const struct recorded_access *access_at(const struct hunt_side *side,
					       size_t i)
{
	return vec_at(&side->ordered_pair, i);
}

static const struct hunt_hand_over *hand_over_at(const struct hunt_side *side,
						 size_t i)
{
	return vec_at(&side->hand_overs, i);
}

/* In the order of their first steps. */
static void find_lanes(struct drawing *drawing)
{
	const struct hunt_side *side = drawing->side;

	lane_of(drawing, access_at(side, 0)->thread_path);
	for (size_t i = 0; i < side->hand_overs.count; i++) {
		lane_of(drawing, hand_over_at(side, i)->sender);
		lane_of(drawing, hand_over_at(side, i)->receiver);
	}
	lane_of(drawing, access_at(side, 1)->thread_path);
}

static int lane_left(size_t lane)
{
	return MARGIN + (int)lane * LANE_WIDTH;
}

static int row_top(size_t row)
{
	return HEAD_HEIGHT + (int)row * ROW_HEIGHT;
}

/* What fits into a box, and dots for the rest. */
static void add_cut(struct strbuf *out, const char *text)
{
	struct strbuf cut = { 0 };
	size_t columns = 0;

	for (size_t length; (length = utf8_length(text)) > 0; text += length) {
		if (++columns == COLUMNS && text[length]) {
			strbuf_add(&cut, "\u2026");
			break;
		}
		strbuf_add_bytes(&cut, text, length);
	}
	html_add_ended(out, &cut);
}

static void add_line(struct strbuf *out, int x, int y, const char *class,
		     const char *text)
{
	strbuf_addf(out, "<text class=\"%s\" x=\"%d\" y=\"%d\">", class, x, y);
	add_cut(out, text);
	strbuf_add(out, "</text>\n");
}

static void add_where(struct strbuf *text, const struct vec *frames)
{
	const struct race_frame *frame =
		frames->count ? vec_at(frames, race_frames_find_own(frames))
			      : NULL;

	if (!frame)
		return;
	phrase_add_function(text, frame);
	if (!frame->file)
		return;
	strbuf_add(text, " ");
	text_add_place(text, frame->file, frame->line);
}

static void draw_step(struct drawing *drawing, struct step *step, size_t row)
{
	struct strbuf *out = drawing->out;
	int x = lane_left(lane_of(drawing, step->thread));
	int y = row_top(row);
	struct strbuf where = { 0 };

	add_where(&where, step->frames);
	strbuf_addf(out, "<g class=\"%s\"><title>", step->class);
	xml_add(out, strbuf_text(&step->verb));
	strbuf_add(out, " ");
	xml_add(out, strbuf_text(&step->memory));
	strbuf_add(out, " ");
	xml_add(out, strbuf_text(&where));
	strbuf_addf(out,
		    "</title><rect x=\"%d\" y=\"%d\" width=\"%d\" "
		    "height=\"%d\" rx=\"5\"/>\n",
		    x, y, BOX_WIDTH, BOX_HEIGHT);
	add_line(out, x + 8, y + LINE_HEIGHT, "what", strbuf_text(&step->verb));
	add_line(out, x + 8, y + 2 * LINE_HEIGHT, "memory",
		 strbuf_text(&step->memory));
	add_line(out, x + 8, y + 3 * LINE_HEIGHT, "where", strbuf_text(&where));
	strbuf_add(out, "</g>\n");
	out->failed |= step->verb.failed || step->memory.failed || where.failed;
	strbuf_deinit(&where);
	strbuf_deinit(&step->verb);
	strbuf_deinit(&step->memory);
}

static void draw_access(struct drawing *drawing, size_t i, size_t row)
{
	const struct recorded_access *access = access_at(drawing->side, i);
	struct step step = { .thread = access->thread_path,
			     .class = "access",
			     .frames = &access->frames };

	phrase_add_recorded_verb(&step.verb, access);
	if (access->size > 0) {
		strbuf_add(&step.verb, " ");
		text_add_plural(&step.verb, access->size, "byte");
	}
	if (drawing->side->variable)
		utf8_add_visible(&step.memory, drawing->side->variable);
	draw_step(drawing, &step, row);
}

static void draw_sending(struct drawing *drawing,
			 const struct hunt_hand_over *hand_over, size_t row)
{
	struct step step = { .thread = hand_over->sender,
			     .class = "sent",
			     .frames = &hand_over->sent_frames };

	switch (hand_over->by) {
	case HAND_OVER_BY_ALLOCATOR:
		strbuf_add(&step.verb, "freed the block");
		strbuf_addf(&step.memory, "at 0x%" PRIx64, hand_over->address);
		break;
	case HAND_OVER_BY_CALL:
		strbuf_add(&step.verb, "sent its address");
		strbuf_add(&step.memory, "by a system call");
		break;
	default:
		strbuf_add(&step.verb, "stored its address");
		strbuf_add(&step.memory, "in ");
		if (hand_over->variable)
			utf8_add_visible(&step.memory, hand_over->variable);
		else
			strbuf_addf(&step.memory, "0x%" PRIx64,
				    hand_over->address);
	}
	draw_step(drawing, &step, row);
}

static void draw_receiving(struct drawing *drawing,
			   const struct hunt_hand_over *hand_over, size_t row)
{
	struct step step = { .thread = hand_over->receiver,
			     .class = "received",
			     .frames = &hand_over->received_frames };

	strbuf_add(&step.verb, hand_over->by == HAND_OVER_BY_ALLOCATOR
				       ? "allocated it"
				       : "loaded the address");
	if (hand_over->instructions > 0) {
		text_add_plural(&step.memory, hand_over->instructions,
				"instruction");
		strbuf_add(&step.memory, " before");
	}
	draw_step(drawing, &step, row);
}

/* From the box of the sender down to that of the receiver in the next row. */
static void draw_arrow(struct drawing *drawing,
		       const struct hunt_hand_over *hand_over, size_t row)
{
	size_t from = lane_of(drawing, hand_over->sender);
	size_t to = lane_of(drawing, hand_over->receiver);
	bool right = to > from;
	int begin = lane_left(from) + (right ? BOX_WIDTH : 0);
	int end = lane_left(to) + (right ? 0 : BOX_WIDTH);
	int turn = end + (right ? -1 : 1) * (LANE_WIDTH - BOX_WIDTH) / 2;
	int high = row_top(row) + BOX_HEIGHT / 2;
	int low = row_top(row + 1) + BOX_HEIGHT / 2;
	int back = end + (right ? -HEAD : HEAD);

	if (from == to)
		return;
	strbuf_addf(drawing->out,
		    "<path class=\"arrow\" d=\"M%d %dH%dV%dH%d\"/>"
		    "<path class=\"head\" d=\"M%d %dL%d %dL%d %dZ\"/>\n",
		    begin, high, turn, low, back, end, low,
		    back - (right ? 3 : -3), low - HEAD,
		    back - (right ? 3 : -3), low + HEAD);
}

static void draw_lanes(struct drawing *drawing, int height)
{
	for (size_t i = 0; i < drawing->lanes.count; i++) {
		const char *thread = *(const char **)vec_at(&drawing->lanes, i);
		int middle = lane_left(i) + BOX_WIDTH / 2;
		struct strbuf text = { 0 };

		strbuf_add(&text, "thread ");
		utf8_add_visible(&text, thread ? thread : "?");
		strbuf_addf(drawing->out,
			    "<line class=\"lane\" x1=\"%d\" x2=\"%d\" "
			    "y1=\"%d\" y2=\"%d\"/><text class=\"thread\" "
			    "text-anchor=\"middle\" x=\"%d\" y=\"%d\">",
			    middle, middle, HEAD_HEIGHT - 6, height, middle,
			    LINE_HEIGHT);
		html_add_ended(drawing->out, &text);
		strbuf_add(drawing->out, "</text>\n");
	}
}

static void draw(struct strbuf *out, const struct hunt_side *side)
{
	struct drawing drawing = { .out = out,
				   .side = side,
				   .lanes = VEC_INIT(const char *) };
	size_t count = side->hand_overs.count, rows = 2 * count + 2;
	int height = row_top(rows - 1) + BOX_HEIGHT + MARGIN;
	int width;

	find_lanes(&drawing);
	width = (int)drawing.lanes.count * LANE_WIDTH -
		(LANE_WIDTH - BOX_WIDTH) + 2 * MARGIN;
	strbuf_addf(out,
		    "<div class=\"scroll\"><svg class=\"lanes\" viewBox=\"0 0 "
		    "%d %d\" style=\"max-width:%dpx;min-width:%dpx\" "
		    "role=\"img\" aria-label=\"Threads, and the hand-over "
		    "between them\">\n",
		    width, height, width, width * LEAST / 100);
	draw_lanes(&drawing, height);
	for (size_t i = 0; i < count; i++)
		draw_arrow(&drawing, hand_over_at(side, i), 2 * i + 1);
	draw_access(&drawing, 0, 0);
	for (size_t i = 0; i < count; i++) {
		draw_sending(&drawing, hand_over_at(side, i), 2 * i + 1);
		draw_receiving(&drawing, hand_over_at(side, i), 2 * i + 2);
	}
	draw_access(&drawing, 1, rows - 1);
	strbuf_add(out, "</svg></div>\n");
	vec_deinit(&drawing.lanes);
}

static void add_stack(struct strbuf *out, struct strbuf *title,
		      const struct vec *frames)
{
	strbuf_add(out, "<section class=\"side\"><h3>");
	html_add_ended(out, title);
	strbuf_add(out, "</h3>\n");
	if (frames->count > 0)
		html_add_frames(out, frames);
	else
		strbuf_add(out, "<p class=\"soft\">(no stack)</p>\n");
	strbuf_add(out, "</section>\n");
}

static void add_stacks(struct strbuf *out, const struct hunt_side *side)
{
	struct strbuf title = { 0 };

	strbuf_add(out, "<div class=\"sides\">\n");
	phrase_add_ordered(&title, access_at(side, 0));
	add_stack(out, &title, &access_at(side, 0)->frames);
	for (size_t i = 0; i < side->hand_overs.count; i++) {
		const struct hunt_hand_over *hand_over = hand_over_at(side, i);

		phrase_add_sending(&title, hand_over);
		if (i > 0)
			phrase_add_distance(&title, hand_over_at(side, i - 1));
		add_stack(out, &title, &hand_over->sent_frames);
		phrase_add_receiving(&title, hand_over);
		add_stack(out, &title, &hand_over->received_frames);
	}
	phrase_add_ordered(&title, access_at(side, 1));
	phrase_add_distance(&title,
			    hand_over_at(side, side->hand_overs.count - 1));
	add_stack(out, &title, &access_at(side, 1)->frames);
	strbuf_add(out, "</div>\n");
}

bool html_add_hand_overs(struct strbuf *out, const struct target_record *record)
{
	const struct hunt_side *side = &record->side;
	struct strbuf title = { 0 };

	if (side->hand_overs.count == 0 || side->ordered_pair.count != 2)
		return false;
	strbuf_addf(out,
		    "<details class=\"card hand-over\" id=\"hand-over-%" PRIu64
		    "\"><summary>#%" PRIu64 " ",
		    side->id, side->id);
	target_say_side(&title, side);
	html_add_ended(out, &title);
	strbuf_add(out, "</summary>\n");
	draw(out, side);
	add_stacks(out, side);
	strbuf_add(out, "</details>\n");
	return true;
}
