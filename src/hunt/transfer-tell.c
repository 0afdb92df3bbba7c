/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Telling hand-overs; see transfer-tell.h.
 */
#include "hunt/transfer-tell.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/strbuf.h"
#include "hunt/code.h"
#include "hunt/recording.h"
#include "hunt/transfer.h"
#include "report/target-record.h"
#include "report/text.h"

enum { ADDRESS_BYTES = 8 };

struct telling {
	const struct recording *recording;
	struct code *code;
};

static struct error *tell_place(const struct telling *telling,
				const struct trace_place *place,
				struct hunt_place *ret, char **ret_function)
{
	uint32_t number;
	struct error *err =
		code_number(telling->code, telling->recording, place, &number);

	if (!err)
		err = code_place(telling->code, number, ret);
	if (!err)
		err = code_function(telling->code, number, ret_function);
	return err;
}

static struct error *tell_thread(const struct telling *telling, uint32_t thread,
				 char **ret)
{
	*ret = strdup(recording_thread(telling->recording, thread)->path);
	return *ret ? NULL : error_nomem;
}

static struct error *tell_memory(const struct telling *telling,
				 const struct transfer_link *link,
				 struct hunt_hand_over *ret)
{
	struct error *err = tell_place(telling, &link->sent, &ret->sent,
				       &ret->sent_function);

	if (!err)
		err = tell_place(telling, &link->received, &ret->received,
				 &ret->received_function);
	/* that of a heap block is not known here: it may be another one now */
	if (!err)
		err = code_variable(telling->code, telling->recording,
				    link->transfer.address, ADDRESS_BYTES, 0,
				    &ret->variable);
	return err;
}

static struct error *tell_link(const struct telling *telling,
			       const struct transfer_link *link,
			       struct hunt_hand_over *ret)
{
	static const unsigned int by[] = {
		[TRANSFER_MEMORY] = HAND_OVER_BY_MEMORY,
		[TRANSFER_HEAP] = HAND_OVER_BY_ALLOCATOR,
		[TRANSFER_CALL] = HAND_OVER_BY_CALL,
	};
	const struct transfer *transfer = &link->transfer;
	struct error *err =
		tell_thread(telling, transfer->sent.thread, &ret->sender);

	ret->by = by[transfer->kind];
	ret->address = transfer->address;
	ret->instructions = transfer->instructions;
	ret->hops = transfer->hops;
	if (!err)
		err = tell_thread(telling, transfer->received.thread,
				  &ret->receiver);
	return err || transfer->kind == TRANSFER_HEAP
		       ? err
		       : tell_memory(telling, link, ret);
}

struct error *transfer_tell(const struct transfer_pair *pair,
			    const struct recording *recording,
			    struct code *code, struct hunt_side *side)
{
	const struct telling telling = { recording, code };
	struct error *err = NULL;

	for (size_t i = 0; !err && i < pair->chain.count; i++) {
		struct hunt_hand_over *hand_over =
			vec_append(&side->hand_overs);

		if (!hand_over)
			return error_nomem;
		hunt_hand_over_init(hand_over);
		err = tell_link(&telling, vec_at(&pair->chain, i), hand_over);
	}
	return err;
}

static void say_memory(struct strbuf *text,
		       const struct hunt_hand_over *hand_over)
{
	if (hand_over->variable)
		strbuf_addf(text, "`%s`", hand_over->variable);
	else
		strbuf_addf(text, "0x%" PRIx64, hand_over->address);
}

static void say_hand_over(struct strbuf *text,
			  const struct hunt_hand_over *hand_over)
{
	if (hand_over->by == HAND_OVER_BY_ALLOCATOR) {
		strbuf_addf(text,
			    "thread %s freed the block at 0x%" PRIx64
			    ", thread %s allocated it",
			    hand_over->sender, hand_over->address,
			    hand_over->receiver);
		return;
	}
	if (hand_over->by == HAND_OVER_BY_CALL) {
		strbuf_addf(text, "thread %s sent it by a system call",
			    hand_over->sender);
	} else {
		strbuf_addf(text, "thread %s stored it in ", hand_over->sender);
		say_memory(text, hand_over);
	}
	text_add_bracketed(text, hand_over->sent_function);
	strbuf_addf(text, ", thread %s loaded it", hand_over->receiver);
	text_add_bracketed(text, hand_over->received_function);
}

char *transfer_text(const struct hunt_side *side)
{
	struct strbuf text = { 0 };

	strbuf_add(&text, "its address: ");
	for (size_t i = 0; i < side->hand_overs.count; i++) {
		if (i > 0)
			strbuf_add(&text, ", ");
		say_hand_over(&text, vec_at(&side->hand_overs, i));
	}
	return strbuf_steal(&text);
}
