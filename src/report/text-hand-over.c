/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Hand-overs as text; see text-hand-over.h. */
#include "report/text-hand-over.h"

#include "report/phrase-hand-over.h"
#include "report/recorded.h"
#include "report/target-record.h"
#include "report/text-stack.h"
#include "report/text.h"

enum { STEP_INDENT = 2, STACK_INDENT = 4, STACK_FRAMES = 16 };

static void end_step(struct text *text, const struct vec *frames)
{
	text_end_line(text, STEP_INDENT, STEP_INDENT);
	if (frames->count > 0)
		text_add_stack(text, frames, STACK_FRAMES, STACK_INDENT);
}

static void add_hand_over(struct text *text,
			  const struct hunt_hand_over *hand_over,
			  const struct hunt_hand_over *before)
{
	phrase_add_sending(&text->line, hand_over);
	if (before)
		phrase_add_distance(&text->line, before);
	end_step(text, &hand_over->sent_frames);
	phrase_add_receiving(&text->line, hand_over);
	end_step(text, &hand_over->received_frames);
}

void text_hand_overs(struct text *text, const struct hunt_side *side)
{
	const struct hunt_hand_over *before = NULL;
	const struct recorded_access *access;

	if (side->hand_overs.count == 0 || side->ordered_pair.count != 2)
		return;
	access = vec_at(&side->ordered_pair, 0);
	phrase_add_ordered(&text->line, access);
	end_step(text, &access->frames);
	for (size_t i = 0; i < side->hand_overs.count; i++) {
		const struct hunt_hand_over *hand_over =
			vec_at(&side->hand_overs, i);

		add_hand_over(text, hand_over, before);
		before = hand_over;
	}
	access = vec_at(&side->ordered_pair, 1);
	phrase_add_ordered(&text->line, access);
	phrase_add_distance(&text->line, before);
	end_step(text, &access->frames);
}
