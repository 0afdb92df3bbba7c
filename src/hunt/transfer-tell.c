/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Telling hand-overs; see transfer-tell.h.
 */
#include "hunt/transfer-tell.h"

#include <string.h>

#include "base/error.h"
#include "base/strbuf.h"
#include "hunt/code.h"
#include "hunt/history.h"
#include "hunt/recording.h"
#include "hunt/transfer-stacks.h"
#include "hunt/transfer.h"
#include "report/field.h"
#include "report/phrase-hand-over.h"
#include "report/target-record.h"
#include "report/text.h"
#include "x86/access.h"

enum {
	ADDRESS_BYTES = 8,
	TELL_FRAMES_MAX = 16, /* of a stack */
};

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

static struct error *tell_stack(const struct telling *telling,
				const struct trace_place *place,
				const struct transfer_point *point,
				uint64_t address, struct vec *frames)
{
	return history_add_stack(telling->recording, telling->code, place,
				 transfer_stack_of(telling->recording,
						   point->thread, place,
						   address, point->sequence),
				 TELL_FRAMES_MAX, frames);
}

static struct error *tell_places(const struct telling *telling,
				 const struct transfer_link *link,
				 struct hunt_hand_over *ret)
{
	const struct transfer *transfer = &link->transfer;
	/* what a call sent was elsewhere in the memory */
	uint64_t sent_address =
		transfer->kind == TRANSFER_CALL ? 0 : transfer->address;
	struct error *err = tell_place(telling, &link->sent, &ret->sent,
				       &ret->sent_function);

	if (!err)
		err = tell_place(telling, &link->received, &ret->received,
				 &ret->received_function);
	if (!err)
		err = tell_stack(telling, &link->sent, &transfer->sent,
				 sent_address, &ret->sent_frames);
	return err ? err
		   : tell_stack(telling, &link->received, &transfer->received,
				transfer->address, &ret->received_frames);
}

static struct error *tell_memory(const struct telling *telling,
				 const struct transfer_link *link,
				 struct hunt_hand_over *ret)
{
	struct error *err = tell_places(telling, link, ret);

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

static unsigned int kind_of(const struct trace_descriptor *raw)
{
	return (raw->flags & TRACE_READS ? ACCESS_READ : 0u) |
	       (raw->flags & TRACE_WRITES ? ACCESS_WRITE : 0u);
}

/* One of the two that are ordered. */
static struct error *tell_access(const struct telling *telling,
				 const struct transfer_point *point,
				 const struct trace_place *place,
				 uint64_t address, struct vec *accesses)
{
	const struct recording_descriptor *descriptor =
		transfer_stack_of(telling->recording, point->thread, place,
				  address, point->sequence);
	struct recorded_access *access = vec_append(accesses);
	struct error *err;

	if (!access)
		return error_nomem;
	fields_init(&recorded_access_fields, access);
	/* from 1 */
	access->first = access->last = point->sequence + 1;
	access->count = 1;
	access->locks_unknown = true;
	if (descriptor) {
		access->access = kind_of(descriptor->raw);
		access->size = descriptor->raw->size;
		access->atomic = descriptor->raw->flags & TRACE_ATOMIC;
	}
	err = tell_thread(telling, point->thread, &access->thread_path);
	return err ? err
		   : history_add_stack(telling->recording, telling->code, place,
				       descriptor, TELL_FRAMES_MAX,
				       &access->frames);
}

static struct error *tell_pair(const struct telling *telling,
			       const struct transfer_pair *pair,
			       struct vec *accesses)
{
	struct error *err = tell_access(telling, &pair->earlier,
					&pair->earlier_place,
					pair->earlier_address, accesses);

	return err ? err
		   : tell_access(telling, &pair->later, &pair->later_place,
				 pair->address, accesses);
}

struct error *transfer_tell(const struct transfer_pair *pair,
			    const struct recording *recording,
			    struct code *code, struct hunt_side *side)
{
	const struct telling telling = { recording, code };
	struct error *err = tell_pair(&telling, pair, &side->ordered_pair);

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

char *transfer_text(const struct hunt_side *side)
{
	struct strbuf text = { 0 };

	strbuf_add(&text, "its address: ");
	for (size_t i = 0; i < side->hand_overs.count; i++) {
		const struct hunt_hand_over *hand_over =
			vec_at(&side->hand_overs, i);

		if (i > 0)
			strbuf_add(&text, ", ");
		phrase_add_sending(&text, hand_over);
		text_add_bracketed(&text, hand_over->sent_function);
		strbuf_add(&text, ", ");
		phrase_add_receiving(&text, hand_over);
		text_add_bracketed(&text, hand_over->received_function);
	}
	return strbuf_steal(&text);
}
