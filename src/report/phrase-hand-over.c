/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Words for hand-overs; see phrase-hand-over.h. */
#include "report/phrase-hand-over.h"

#include <inttypes.h>

#include "base/strbuf.h"
#include "base/utf8.h"
#include "report/hand-over.h"
#include "report/phrase-recorded.h"
#include "report/recorded.h"
#include "report/text.h"

static void add_thread(struct strbuf *line, const char *path)
{
	strbuf_add(line, "thread ");
	utf8_add_visible(line, path ? path : "?");
}

void phrase_add_sending(struct strbuf *line,
			const struct hunt_hand_over *hand_over)
{
	add_thread(line, hand_over->sender);
	switch (hand_over->by) {
	case HAND_OVER_BY_ALLOCATOR:
		strbuf_addf(line, " freed the block at 0x%" PRIx64,
			    hand_over->address);
		break;
	case HAND_OVER_BY_CALL:
		strbuf_add(line, " sent it by a system call");
		break;
	default:
		strbuf_add(line, " stored it in ");
		if (!hand_over->variable) {
			strbuf_addf(line, "0x%" PRIx64, hand_over->address);
			break;
		}
		strbuf_add(line, "`");
		utf8_add_visible(line, hand_over->variable);
		strbuf_add(line, "`");
	}
}

void phrase_add_receiving(struct strbuf *line,
			  const struct hunt_hand_over *hand_over)
{
	add_thread(line, hand_over->receiver);
	strbuf_add(line, hand_over->by == HAND_OVER_BY_ALLOCATOR
				 ? " allocated it"
				 : " loaded it");
}

void phrase_add_distance(struct strbuf *line,
			 const struct hunt_hand_over *hand_over)
{
	if (hand_over->instructions == 0)
		return;
	strbuf_add(line, ", ");
	text_add_plural(line, hand_over->instructions, "instruction");
	strbuf_add(line, " later");
	if (hand_over->hops == 0)
		return;
	strbuf_add(line, ", ");
	text_add_count(line, hand_over->hops);
	strbuf_add(line, " of which moved it");
}

void phrase_add_ordered(struct strbuf *line,
			const struct recorded_access *access)
{
	phrase_add_recorded_thread(line, access);
	strbuf_add(line, " ");
	phrase_add_recorded_verb(line, access);
	if (access->size == 0)
		return;
	strbuf_add(line, " ");
	text_add_plural(line, access->size, "byte");
}
