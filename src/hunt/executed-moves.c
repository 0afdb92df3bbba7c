/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * An index of all TRACE_MOVED, made when it is asked for the first time: in the order
 * of threads and numbers, and of those that sent, by channel and position.
 */
#include "hunt/executed-moves.h"

#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>

#include "base/error.h"
#include "hunt/executed-parts.h"

/* Calls before and behind a place, among which one is looked for by value. */
enum { NEARBY = 64, SPLICES_MAX = 16 };

enum { VALUE_BYTES = 8 };

struct part {
	uint64_t address, size, value;
};

struct move {
	uint64_t number; /* of the event */
	uint64_t step; /* of its thread, not after it: it made the call */
	uint64_t position, bytes;
	const struct trace_channel *channel; /* NULL: not known */
	uint32_t thread;
	uint32_t order; /* of the thread, from 0: they are sorted by it */
	uint32_t system_call;
	int32_t descriptor;
	uint32_t flags; /* bits of enum trace_moved */
	size_t first; /* part */
	uint32_t parts;
};

const struct trace_channel *executed_channel(const struct executed *executed,
					     uint64_t id)
{
	const uint64_t *place = map_get(&executed->channel_ids, id);

	return place ? *(const struct trace_channel **)vec_at(
			       &executed->channels, *place)
		     : NULL;
}

static bool add_part(struct executed_moves *moves, const uint64_t *numbers)
{
	return vec_push(&moves->parts,
			&(struct part){ numbers[0], numbers[1], numbers[2] });
}

static bool add_move(const struct executed *executed,
		     struct executed_moves *moves, struct move *move,
		     const uint64_t *numbers)
{
	move->system_call = (uint32_t)numbers[0];
	move->descriptor = (int32_t)numbers[1] - 1;
	move->channel = executed_channel(executed, numbers[2]);
	move->position = numbers[3];
	move->bytes = numbers[4];
	move->flags = (uint32_t)numbers[5];
	move->parts = (uint32_t)(moves->parts.count - move->first);
	return vec_push(&moves->all, move);
}

/* step: the last one of its thread. */
static bool index_unpacked(const struct executed *executed,
			   struct executed_moves *moves, uint32_t thread,
			   const struct unpacked *unpacked, uint64_t last)
{
	struct move move = { .thread = thread, .first = moves->parts.count };
	bool done = true;

	for (size_t i = 0; done && i < unpacked->steps.count; i++) {
		const struct unpacked_step *step = vec_at(&unpacked->steps, i);
		const uint64_t *numbers =
			(const uint64_t *)unpacked->words.items + step->words;

		if (step->superblock) {
			last = step->number;
		} else if (step->event == TRACE_MOVED_PART) {
			done = add_part(moves, numbers);
		} else if (step->event == TRACE_MOVED) {
			move.number = step->number;
			move.step = last;
			done = add_move(executed, moves, &move, numbers);
			move.first = moves->parts.count;
		}
	}
	return done;
}

static struct error *index_thread(const struct executed *executed,
				  struct executed_moves *moves, size_t order)
{
	const struct executed_thread *thread =
		vec_at(&executed->threads, order);
	struct unpacked unpacked = { 0 };
	struct error *err = NULL;
	size_t first = moves->all.count;
	uint64_t last = 0;

	for (size_t i = 0; !err && i < thread->chunks.count; i++) {
		const struct executed_chunk *chunk = vec_at(&thread->chunks, i);

		if (chunk->head->moves > 0) {
			err = executed_unpack(executed, chunk->head, &unpacked);
			if (!err && !index_unpacked(executed, moves, thread->id,
						    &unpacked, last))
				err = error_nomem;
		}
		last = chunk->head->last;
	}
	for (size_t i = first; i < moves->all.count; i++)
		((struct move *)vec_at(&moves->all, i))->order =
			(uint32_t)order;
	unpacked_deinit(&unpacked);
	return err;
}

static int compare(uint64_t a, uint64_t b)
{
	return a < b ? -1 : a > b;
}

static int compare_sent(const void *a, const void *b, void *context)
{
	const struct executed_moves *moves = context;
	const struct move *left = vec_at(&moves->all, *(const size_t *)a);
	const struct move *right = vec_at(&moves->all, *(const size_t *)b);
	int order = compare(left->channel->id, right->channel->id);

	if (order == 0)
		order = compare(left->position, right->position);
	return order ? order : compare(left->number, right->number);
}

static struct error *sort_sent(struct executed_moves *moves)
{
	for (size_t i = 0; i < moves->all.count; i++) {
		const struct move *move = vec_at(&moves->all, i);

		if (move->channel && !(move->flags & TRACE_RECEIVED) &&
		    !vec_push(&moves->sent, &i))
			return error_nomem;
	}
	if (moves->sent.count > 0)
		qsort_r(moves->sent.items, moves->sent.count, sizeof(size_t),
			compare_sent, moves);
	return NULL;
}

static void forget_index(struct executed_moves *moves)
{
	vec_clear(&moves->all);
	vec_clear(&moves->parts);
	vec_clear(&moves->sent);
}

/* all: of struct move. parts: of struct part. sent: size_t, those of all that sent. */
static struct error *make_index(struct executed *executed)
{
	struct executed_moves *moves = &executed->moves;
	struct error *err = NULL;

	if (moves->is_made)
		return NULL;
	moves->all.size = sizeof(struct move);
	moves->parts.size = sizeof(struct part);
	moves->sent.size = sizeof(size_t);
	for (size_t i = 0; !err && i < executed->threads.count; i++)
		err = index_thread(executed, moves, i);
	if (!err)
		err = sort_sent(moves);
	if (err)
		forget_index(moves);
	moves->is_made = !err;
	return err;
}

static const struct part *part_at(const struct executed_moves *moves,
				  const struct move *move, uint32_t i)
{
	return vec_at(&moves->parts, move->first + i);
}

/* How many are of threads before that one, or not above that number. */
static size_t count_until(const struct executed_moves *moves, uint64_t order,
			  uint64_t number)
{
	size_t low = 0, high = moves->all.count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		const struct move *move = vec_at(&moves->all, middle);

		if (move->order < order ||
		    (move->order == order && move->number <= number))
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* The call that received the byte, and which one of its bytes it is. */
static const struct move *find_received(const struct executed *executed,
					const struct executed_write *received,
					uint64_t address, uint64_t *ret_offset)
{
	const struct executed_moves *moves = &executed->moves;
	const uint64_t *order =
		map_get(&executed->thread_ids, received->thread);

	for (size_t i = order ? count_until(moves, *order, received->number)
			      : 0;
	     i-- > 0;) {
		const struct move *move = vec_at(&moves->all, i);
		uint64_t offset = 0;

		if (move->thread != received->thread ||
		    move->number != received->number)
			break;
		if (!(move->flags & TRACE_RECEIVED))
			continue;
		for (uint32_t j = 0; j < move->parts; j++) {
			const struct part *part = part_at(moves, move, j);

			if (address - part->address < part->size) {
				*ret_offset = offset + address - part->address;
				return move;
			}
			offset += part->size;
		}
	}
	return NULL;
}

static bool has_messages(const struct move *move)
{
	return move->channel->kind >= TRACE_PACKET_UNIX;
}

/* A pair of calls: byte `at' of what was received is byte 0 of what was sent. */
struct match {
	const struct executed_moves *moves;
	const struct move *received, *sent;
	int64_t at;
};

/* The byte of a call's bytes, if the trace has it. */
static bool get_byte(const struct executed_moves *moves,
		     const struct move *move, uint64_t offset,
		     unsigned char *ret)
{
	for (uint32_t i = 0; i < move->parts; i++) {
		const struct part *part = part_at(moves, move, i);

		if (offset < part->size && offset < VALUE_BYTES) {
			*ret = (unsigned char)(part->value >> 8 * offset);
			return true;
		}
		if (offset < part->size)
			return false;
		offset -= part->size;
	}
	return false;
}

/* How many bytes are known to be equal; -1: one is not. */
static int count_equal(const struct match *match)
{
	const struct move *sent = match->sent;
	uint64_t offset = 0;
	int equal = 0;

	for (uint32_t i = 0; i < sent->parts; i++) {
		const struct part *part = part_at(match->moves, sent, i);

		for (uint64_t j = 0; j < part->size && j < VALUE_BYTES; j++) {
			int64_t there =
				(int64_t)((uint64_t)match->at + offset + j);
			unsigned char byte;

			if (there < 0 ||
			    !get_byte(match->moves, match->received,
				      (uint64_t)there, &byte))
				continue;
			if (byte != (unsigned char)(part->value >> 8 * j))
				return -1;
			equal++;
		}
		offset += part->size;
	}
	return equal;
}

/* The first of those that sent to the channel at or behind a position. */
static size_t find_position(const struct executed_moves *moves,
			    uint32_t channel, uint64_t position)
{
	size_t low = 0, high = moves->sent.count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		const struct move *move = vec_at(
			&moves->all, *(size_t *)vec_at(&moves->sent, middle));

		if (move->channel->id < channel ||
		    (move->channel->id == channel && move->position < position))
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* The i-th of those that sent, if it is of the channel; NULL otherwise. */
static const struct move *sent_at(const struct executed_moves *moves, size_t i,
				  uint32_t channel)
{
	const struct move *move;

	if (i >= moves->sent.count)
		return NULL;
	move = vec_at(&moves->all, *(size_t *)vec_at(&moves->sent, i));
	return move->channel->id == channel ? move : NULL;
}

/* Sets sent and at for byte `offset' of what was received; false: none sent it. */
static bool match_position(struct match *match, uint64_t offset)
{
	const struct move *received = match->received;
	uint64_t wanted = received->position;
	size_t i;

	if (!has_messages(received))
		wanted += offset;
	/* the last one that begins there or before it */
	i = find_position(match->moves, received->channel->id, wanted + 1);
	match->sent =
		i > 0 ? sent_at(match->moves, i - 1, received->channel->id)
		      : NULL;
	if (!match->sent)
		return false; /* another process sent it, or none */
	if (has_messages(received)) {
		match->at = 0;
		return match->sent->position == wanted;
	}
	match->at = (int64_t)(match->sent->position - received->position);
	return wanted - match->sent->position < match->sent->bytes;
}

/* The same of a file: of those that wrote there before, the last one. */
static bool match_file(struct match *match, uint64_t offset)
{
	const struct move *received = match->received, *best = NULL;
	uint64_t wanted = received->position + offset;
	const struct move *move;

	for (size_t i = find_position(match->moves, received->channel->id, 0);
	     (move = sent_at(match->moves, i, received->channel->id)) &&
	     move->position <= wanted;
	     i++) {
		if (wanted - move->position < move->bytes &&
		    move->number <= received->number &&
		    (!best || best->number < move->number))
			best = move;
	}
	match->sent = best;
	if (best)
		match->at = (int64_t)(best->position - received->position);
	return best != NULL;
}

/* Whether positions may be another order than that of the kernel. */
static bool is_unsure(const struct match *match)
{
	uint32_t flags = match->received->flags;

	if (match->sent)
		flags |= match->sent->flags;
	return flags & TRACE_MOVED_UNSURE;
}

/*
 * One nearby whose first bytes are those that were received first, and no other
 * one. What begins in the middle of what was sent is not found.
 */
static bool match_value(struct match *match)
{
	const struct move *received = match->received, *found = NULL, *move;
	uint64_t least = received->bytes < VALUE_BYTES ? received->bytes
						       : VALUE_BYTES;
	size_t from = find_position(match->moves, received->channel->id,
				    received->position);

	from = from > NEARBY ? from - NEARBY : 0;
	match->at = 0;
	for (size_t i = from; i < from + 2 * NEARBY; i++) {
		move = sent_at(match->moves, i, received->channel->id);
		if (!move || move->step > received->number ||
		    (has_messages(move) && move->bytes != received->bytes))
			continue;
		match->sent = move;
		if (least == 0 || count_equal(match) < (int)least)
			continue;
		if (found)
			return false;
		found = move;
	}
	match->sent = found;
	return found != NULL;
}

static enum executed_sent_by find_match(struct match *match, uint64_t offset)
{
	bool is_file = match->received->channel->kind == TRACE_FILE;
	bool found = is_file ? match_file(match, offset)
			     : match_position(match, offset);

	if (found && (is_file || !is_unsure(match)))
		return match->sent->step <= match->received->number &&
				       count_equal(match) >= 0
			       ? EXECUTED_SENT_BY_POSITION
			       : EXECUTED_SENT_UNKNOWN;
	if (is_file || !is_unsure(match) || !match_value(match))
		return EXECUTED_SENT_UNKNOWN;
	return offset < match->sent->bytes ? EXECUTED_SENT_BY_VALUE
					   : EXECUTED_SENT_UNKNOWN;
}

/* What splice(2) and its like received is the event before. */
static const struct move *spliced_from(const struct executed_moves *moves,
				       const struct move *sent)
{
	const struct move *before = sent - 1;

	if (sent->parts > 0 || sent == moves->all.items ||
	    before->thread != sent->thread || before->number != sent->number ||
	    before->system_call != sent->system_call ||
	    !(before->flags & TRACE_RECEIVED))
		return NULL;
	return before;
}

static void set_memory(const struct executed_moves *moves,
		       const struct move *sent, uint64_t offset, uint64_t size,
		       struct executed_sent *ret)
{
	for (uint32_t i = 0; i < sent->parts; i++) {
		const struct part *part = part_at(moves, sent, i);

		if (offset < part->size) {
			uint64_t rest = part->size - offset;

			ret->address = part->address + offset;
			ret->size = size < rest ? size : rest;
			return;
		}
		offset -= part->size;
	}
}

/* Who sent byte `offset' of what the call received. */
static void find_sender(const struct executed_moves *moves,
			const struct move *received, uint64_t offset,
			uint64_t size, struct executed_sent *ret)
{
	enum executed_sent_by by = EXECUTED_SENT_BY_POSITION;

	for (int i = 0; i < SPLICES_MAX && received && received->channel; i++) {
		struct match match = { .moves = moves, .received = received };
		enum executed_sent_by now = find_match(&match, offset);
		const struct move *sent = match.sent;

		ret->channel = received->channel;
		if (now == EXECUTED_SENT_UNKNOWN)
			return;
		by = now < by ? now : by;
		offset = (uint64_t)((int64_t)offset - match.at);
		ret->by = by;
		ret->thread = sent->thread;
		ret->number = sent->step;
		ret->system_call = sent->system_call;
		ret->descriptor = sent->descriptor;
		ret->address = ret->size = 0;
		set_memory(moves, sent, offset, size, ret);
		received = spliced_from(moves, sent);
	}
}

struct error *executed_sender(struct executed *executed,
			      const struct executed_write *received,
			      uint64_t address, uint64_t size,
			      struct executed_sent *ret)
{
	struct error *err = make_index(executed);
	const struct move *move;
	uint64_t offset;

	if (err)
		return err;
	*ret = (struct executed_sent){ .descriptor = -1 };
	move = find_received(executed, received, address, &offset);
	if (move)
		find_sender(&executed->moves, move, offset, size, ret);
	return NULL;
}
