/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Judging pairs; see transfer.h. Of two cells, the executions are brought into
 * their order; wherever one of the other thread follows, there is a question: what
 * handed the address over? Questions are asked in the order of the recording, all
 * of an execution at a time.
 */
#include "hunt/transfer.h"

#include <stdlib.h>

#include "base/error.h"
#include "hunt/executed.h"
#include "hunt/order.h"
#include "hunt/pairs.h"
#include "hunt/recording.h"
#include "hunt/transfer-instances.h"
#include "hunt/transfer-published.h"
#include "hunt/transfer-window.h"
#include "x86/decode.h"

/* Two executions after one another. */
struct question {
	const struct transfer_instance *earlier, *later;
	uint32_t block; /* the later one's */
	uint32_t pair; /* its place */
};

struct judging {
	struct transfers *transfers;
	const struct recording *recording;
	const struct order *order;
	uint32_t number;
	struct executed *executed;
	struct decoder *decoder;
	struct transfer_tracker *tracker;
	struct transfer_instances *instances;
	struct transfer_published *published;
	struct vec questions; /* of struct question */
	struct vec found; /* of struct transfer: of the question at work */
	struct vec owned; /* the same, of its earlier access */
	uint64_t instructions; /* gone back so far */
};

void transfers_init(struct transfers *transfers)
{
	*transfers = (struct transfers){
		.pairs = VEC_INIT(struct transfer_pair),
	};
}

void transfers_deinit(struct transfers *transfers)
{
	for (size_t i = 0; i < transfers->pairs.count; i++) {
		struct transfer_pair *pair = vec_at(&transfers->pairs, i);

		vec_deinit(&pair->chain);
	}
	vec_deinit(&transfers->pairs);
	map_deinit(&transfers->by_places);
}

static uint64_t key_of(uint32_t place, uint32_t other)
{
	return place < other ? (uint64_t)place << 32 | other
			     : (uint64_t)other << 32 | place;
}

const struct transfer_pair *transfers_find(const struct transfers *transfers,
					   uint32_t place, uint32_t other_place)
{
	const uint64_t *at =
		map_get(&transfers->by_places, key_of(place, other_place));

	return at ? vec_at(&transfers->pairs, *at) : NULL;
}

bool transfer_pair_is_ordered(const struct transfer_pair *pair)
{
	return pair && pair->lack == TRANSFER_ORDERED && pair->chain.count > 0;
}

struct error *transfers_take_ordered(const struct transfers *transfers,
				     struct vec *edges, struct vec *ret)
{
	size_t kept = 0;

	for (size_t i = 0; i < edges->count; i++) {
		struct pair_edge *edge = vec_at(edges, i);

		if (!transfer_pair_is_ordered(transfers_find(
			    transfers, edge->place, edge->partner_place)))
			*(struct pair_edge *)vec_at(edges, kept++) = *edge;
		else if (!vec_push(ret, edge))
			return error_nomem;
	}
	edges->count = kept;
	return NULL;
}

/* The place of the conflict's pair; false: out of memory. */
static bool pair_of(struct transfers *transfers,
		    const struct pair_conflict *conflict, uint32_t *ret)
{
	uint64_t key = key_of(conflict->place, conflict->other_place);
	const uint64_t *at = map_get(&transfers->by_places, key);
	struct transfer_pair *pair;

	if (!at) {
		if (!map_set(&transfers->by_places, key,
			     transfers->pairs.count))
			return false;
		pair = vec_append(&transfers->pairs);
		if (!pair)
			return false;
		pair->place = (uint32_t)(key >> 32);
		pair->other_place = (uint32_t)key;
		pair->chain.size = sizeof(struct transfer_link);
		at = map_get(&transfers->by_places, key);
	}
	*ret = (uint32_t)*at;
	return true;
}

static struct transfer_pair *pair_at(const struct judging *judging,
				     uint32_t pair)
{
	return vec_at(&judging->transfers->pairs, pair);
}

static bool ask(struct judging *judging, uint32_t pair,
		const struct trace_cell *cell,
		const struct transfer_instance *earlier,
		const struct transfer_instance *later)
{
	const struct question question = { earlier, later, cell->block, pair };

	return vec_push(&judging->questions, &question);
}

struct executions {
	const struct trace_cell *cell;
	const struct transfer_instance *all;
	size_t count, next;
};

/*
 * Merge those of two threads by their order: a question of each, with the last one
 * of the other thread before it.
 */
static bool ask_all(struct judging *judging, uint32_t pair,
		    struct executions both[2])
{
	while (both[0].next < both[0].count || both[1].next < both[1].count) {
		int now = both[0].next == both[0].count ||
			  (both[1].next < both[1].count &&
			   both[1].all[both[1].next].point.number <
				   both[0].all[both[0].next].point.number);
		struct executions *later = &both[now], *earlier = &both[!now];

		if (earlier->next > 0 && !ask(judging, pair, later->cell,
					      &earlier->all[earlier->next - 1],
					      &later->all[later->next]))
			return false;
		later->next++;
	}
	return true;
}

static struct error *ask_of(struct judging *judging,
			    const struct pair_conflict *conflict)
{
	const struct vec *cells = &judging->recording->cells;
	struct executions both[2] = {
		{ .cell = vec_at(cells, conflict->cell) },
		{ .cell = vec_at(cells, conflict->other) },
	};
	uint32_t pair;

	if (!pair_of(judging->transfers, conflict, &pair))
		return error_nomem;
	/* some instruction, or some bytes, of one may have no cell */
	if (both[0].cell->flags & TRACE_CROWDED)
		pair_at(judging, pair)->lack = TRANSFER_LOST;
	if (pair_at(judging, pair)->lack)
		return NULL;
	for (int i = 0; i < 2; i++) {
		if (!judging->instances ||
		    !transfer_instances_of(judging->instances, both[i].cell,
					   &both[i].all, &both[i].count)) {
			pair_at(judging, pair)->lack = TRANSFER_LOST;
			return NULL;
		}
	}
	return ask_all(judging, pair, both) ? NULL : error_nomem;
}

static int compare_questions(const void *one, const void *two)
{
	const struct question *a = one, *b = two;
	const uint64_t numbers[][2] = {
		{ a->later->point.number, b->later->point.number },
		{ a->later->point.instruction, b->later->point.instruction },
		{ a->later->address, b->later->address },
		{ a->block, b->block },
	};

	for (size_t i = 0; i < sizeof(numbers) / sizeof(*numbers); i++) {
		if (numbers[i][0] != numbers[i][1])
			return numbers[i][0] < numbers[i][1] ? -1 : 1;
	}
	return 0;
}

/* Did the thread send after the access? Steps are in program order. */
static bool is_sent_after(const struct transfer *transfer,
			  const struct transfer_point *access)
{
	const struct transfer_point *sent = &transfer->sent;

	if (sent->thread != access->thread)
		return false;
	/* an event comes after the step whose number it has */
	return access->number < sent->number ||
	       (access->number == sent->number &&
		(sent->superblock == 0 || access->access < sent->access));
}

/* Does what sent it come after the access: in its thread, or by a creation? */
static bool orders(const struct judging *judging,
		   const struct transfer *transfer,
		   const struct transfer_instance *earlier)
{
	const struct transfer_point *access = &earlier->point;

	return is_sent_after(transfer, access) ||
	       (transfer->sent.thread != access->thread &&
		transfer->sent.superblock != 0 &&
		order_before(judging->order, access->thread,
			     access->sequence + earlier->accesses,
			     transfer->sent.thread, transfer->sent.sequence));
}

static struct trace_place place_of(const struct judging *judging,
				   const struct transfer_point *point)
{
	const struct translated *translated =
		point->superblock ? executed_superblock(judging->executed,
							point->superblock)
				  : NULL;
	struct trace_place place = { 0 };

	if (!translated)
		return place;
	place = translated->head->place;
	place.offset += translated_address(translated, point->instruction) -
			translated->head->address;
	return place;
}

static struct error *keep_example(const struct judging *judging,
				  const struct question *question,
				  const struct transfer *transfer)
{
	struct transfer_pair *pair = pair_at(judging, question->pair);

	pair->recording = judging->number;
	pair->earlier = question->earlier->point;
	pair->later = question->later->point;
	pair->earlier_place = place_of(judging, &pair->earlier);
	pair->later_place = place_of(judging, &pair->later);
	pair->earlier_address = question->earlier->address;
	pair->address = question->later->address;
	for (;;) {
		const struct transfer_link link = {
			.transfer = *transfer,
			.sent = place_of(judging, &transfer->sent),
			.received = place_of(judging, &transfer->received),
		};

		if (!vec_push(&pair->chain, &link))
			return error_nomem;
		if (transfer->next == 0)
			return NULL;
		transfer = vec_at(&judging->found, transfer->next - 1);
	}
}

/* What the chain of hand-overs took, from the access back. */
static void note_distance(const struct judging *judging,
			  const struct transfer *transfer,
			  struct transfer_pair *pair)
{
	uint64_t instructions = transfer->instructions;
	uint32_t hops = transfer->hops;

	while (transfer->next != 0) {
		transfer = vec_at(&judging->found, transfer->next - 1);
		instructions += transfer->instructions;
		hops += transfer->hops;
	}
	if (instructions > pair->instructions)
		pair->instructions = instructions;
	if (hops > pair->hops)
		pair->hops = hops;
}

static bool is_created_after(const struct judging *judging,
			     const struct question *question)
{
	const struct transfer_instance *earlier = question->earlier;
	const struct transfer_instance *later = question->later;

	return order_before(judging->order, earlier->point.thread,
			    earlier->point.sequence + earlier->accesses,
			    later->point.thread, later->point.sequence);
}

/* The questions about one access that is tracked. */
struct asked {
	const struct judging *judging;
	size_t from, to;
};

static bool is_open(const struct judging *judging,
		    const struct question *question)
{
	return !pair_at(judging, question->pair)->lack &&
	       !is_created_after(judging, question);
}

/* Had the sender stored the address elsewhere, since the block is there? */
static bool may_be_published(const struct judging *judging,
			     const struct question *question,
			     const struct transfer *transfer,
			     struct transfer_published_question *ret)
{
	const struct trace_block *block =
		recording_block(judging->recording, question->block);
	const struct transfer_point *earlier = &question->earlier->point;

	*ret = (struct transfer_published_question){
		.thread = earlier->thread,
		.low = block ? block->address : transfer->value,
		.size = block ? block->size : 1,
		.number = earlier->number,
		.access = earlier->access,
		.taken = SIZE_MAX,
		.sent = transfer->sent.sequence,
		.born = block ? transfer_instances_born(judging->instances,
							question->block)
			      : 0,
	};
	ret->since = ret->born;
	return transfer->kind != TRANSFER_HEAP &&
	       transfer_published_find(judging->published, ret);
}

static bool is_ordered_by(const struct judging *judging,
			  const struct question *question,
			  const struct vec *transfers)
{
	for (size_t i = 0; i < transfers->count; i++) {
		const struct transfer *transfer = vec_at(transfers, i);
		struct transfer_published_question asked;

		if (orders(judging, transfer, question->earlier) &&
		    !may_be_published(judging, question, transfer, &asked))
			return true;
	}
	return false;
}

/* Does a hand-over order each of them? */
static bool are_ordered(void *context, const struct vec *transfers)
{
	const struct asked *asked = context;

	for (size_t i = asked->from; i < asked->to; i++) {
		const struct question *question =
			vec_at(&asked->judging->questions, i);

		if (is_open(asked->judging, question) &&
		    !is_ordered_by(asked->judging, question, transfers))
			return false;
	}
	return true;
}

/*
 * The hand-overs of an access of the question, sent in steps from `since' on; until
 * `is_enough' says so of those that were found.
 */
static struct error *
track(struct judging *judging, const struct question *question,
      const struct transfer_instance *access, uint64_t since,
      bool (*is_enough)(void *context, const struct vec *transfers),
      void *context, struct vec *ret)
{
	const struct trace_block *block =
		recording_block(judging->recording, question->block);
	struct transfer_question asked = {
		.access = access->point,
		.address = access->address,
		.since = since,
		.registers = judging->transfers->registers,
		.instructions = TRANSFER_INSTRUCTIONS,
		.is_enough = is_enough,
		.context = context,
	};
	uint64_t instructions = 0;
	struct error *err;

	if (block) {
		asked.block = block->address;
		asked.block_size = block->size;
		asked.block_number = transfer_instances_born(judging->instances,
							     question->block);
	}
	judging->transfers->accesses++;
	err = transfer_window_since(judging->executed,
				    judging->transfers->window,
				    access->point.number, &asked.kept_since);
	if (!err)
		err = transfer_track(judging->tracker, &asked, ret,
				     &instructions);
	judging->instructions += instructions;
	return err;
}

/*
 * Has the earlier access's thread got the address of its object by that? What was
 * handed over may be an object that only has the address in it: who has that one
 * may have had the other before.
 */
static bool is_of_object(const struct judging *judging,
			 const struct question *question,
			 const struct transfer *transfer)
{
	const struct trace_block *block =
		recording_block(judging->recording, question->block);
	uint64_t address = question->earlier->address;
	uint64_t value = transfer->value;

	if (transfer->received.thread != question->earlier->point.thread)
		return false;
	if (transfer->kind == TRANSFER_HEAP)
		return true;
	return block ? value - block->address < block->size
		     : value - address <= TRANSFER_NEAR ||
			       address - value <= TRANSFER_NEAR;
}

/* The question whose earlier access is tracked. */
struct owned_question {
	const struct judging *judging;
	const struct question *question;
};

/* The nearest reception is enough: earlier ones do not make it later. */
static bool is_owned(void *context, const struct vec *transfers)
{
	const struct owned_question *owned = context;

	for (size_t i = 0; i < transfers->count; i++) {
		if (is_of_object(owned->judging, owned->question,
				 vec_at(transfers, i)))
			return true;
	}
	return false;
}

/* The store of the instruction that has received, if it is atomic; SIZE_MAX: none. */
static size_t find_taken(const struct judging *judging,
			 const struct transfer_point *received)
{
	const struct translated *translated =
		received->superblock ? executed_superblock(judging->executed,
							   received->superblock)
				     : NULL;
	size_t store = received->access + 1;
	const struct trace_slot *slot;

	if (!translated || store >= translated->head->slots)
		return SIZE_MAX;
	slot = &translated->slots[store];
	return slot->instruction == received->instruction &&
			       (slot->flags & TRACE_WRITES) &&
			       (slot->flags & TRACE_ATOMIC)
		       ? store
		       : SIZE_MAX;
}

/* Since when the earlier access's thread has its address, as far as is known. */
static struct error *find_owned(struct judging *judging,
				const struct question *question,
				struct transfer_published_question *asked)
{
	struct owned_question owned = { judging, question };
	struct error *err;

	vec_clear(&judging->owned);
	err = track(judging, question, question->earlier, asked->since,
		    is_owned, &owned, &judging->owned);
	for (size_t i = 0; i < judging->owned.count; i++) {
		const struct transfer *transfer = vec_at(&judging->owned, i);

		if (!is_of_object(judging, question, transfer) ||
		    transfer->received.number <= asked->since)
			continue;
		asked->since = transfer->received.number;
		asked->taken = find_taken(judging, &transfer->received);
		asked->from = transfer->kind == TRANSFER_MEMORY
				      ? transfer->address
				      : 0;
	}
	return err;
}

/*
 * Had its sender stored the address before the earlier access, since it has it,
 * where another thread looks? Then the receiver may have it from there in another
 * run. What it had stored before it gave the object away counts if it was there
 * at some time since, as does what earlier owners had stored.
 */
static struct error *find_published(struct judging *judging,
				    const struct question *question,
				    const struct transfer *transfer, bool *ret)
{
	struct transfer_published_question asked;
	uint64_t instructions;
	struct error *err;

	*ret = may_be_published(judging, question, transfer, &asked);
	if (!*ret &&
	    (transfer->kind == TRANSFER_HEAP ||
	     !transfer_published_by_others(judging->published, &asked)))
		return NULL;
	err = find_owned(judging, question, &asked);
	if (err || asked.since == asked.born)
		return err;
	*ret = transfer_published_find(judging->published, &asked);
	if (*ret)
		return NULL;
	err = transfer_published_stands(judging->published, judging->executed,
					&asked, ret, &instructions);
	judging->instructions += instructions;
	return err;
}

/* By what was found of its later access; late: nothing was looked for. */
static struct error *answer(struct judging *judging,
			    const struct question *question, bool late)
{
	struct transfer_pair *pair = pair_at(judging, question->pair);
	bool is_published;
	struct error *err;

	pair->orders++;
	if (is_created_after(judging, question))
		return NULL;
	for (size_t i = 0; i < judging->found.count; i++) {
		const struct transfer *transfer = vec_at(&judging->found, i);

		if (!orders(judging, transfer, question->earlier))
			continue;
		err = find_published(judging, question, transfer,
				     &is_published);
		if (err)
			return err;
		if (is_published)
			continue;
		note_distance(judging, transfer, pair);
		return pair->chain.count
			       ? NULL
			       : keep_example(judging, question, transfer);
	}
	pair->lack = late ? TRANSFER_LOST : TRANSFER_NONE;
	return NULL;
}

/* All questions about one later access, if any of the pairs may still be ordered. */
static struct error *answer_all(struct judging *judging, size_t from, size_t to)
{
	const struct question *first = vec_at(&judging->questions, from);
	bool is_late = judging->instructions > TRANSFER_INSTRUCTIONS_ALL;
	struct asked all = { judging, from, to };
	uint64_t since = UINT64_MAX;
	struct error *err = NULL;

	vec_clear(&judging->found);
	for (size_t i = from; i < to; i++) {
		const struct question *question =
			vec_at(&judging->questions, i);

		if (is_open(judging, question) &&
		    question->earlier->point.number < since)
			since = question->earlier->point.number;
	}
	if (since != UINT64_MAX && !is_late)
		err = track(judging, first, first->later, since, are_ordered,
			    &all, &judging->found);
	for (size_t i = from; !err && i < to; i++) {
		const struct question *question =
			vec_at(&judging->questions, i);

		if (!pair_at(judging, question->pair)->lack)
			err = answer(judging, question, is_late);
	}
	return err;
}

static struct error *answer_questions(struct judging *judging)
{
	struct vec *questions = &judging->questions;
	struct error *err = NULL;

	if (questions->count)
		qsort(questions->items, questions->count, questions->size,
		      compare_questions);
	for (size_t i = 0; !err && i < questions->count;) {
		size_t end = i + 1;

		while (end < questions->count &&
		       compare_questions(vec_at(questions, i),
					 vec_at(questions, end)) == 0)
			end++;
		err = answer_all(judging, i, end);
		i = end;
	}
	vec_clear(questions);
	return err;
}

/*
 * Is there a total order, of everything that was executed? A superblock that is
 * cut may have stored what it does not tell. An access that had no cell for want of
 * memory may be an execution that is to be ordered, or one by which others have the
 * address; an event that was not written, what created a thread.
 */
static bool is_complete(const struct recording *recording,
			const struct executed *executed)
{
	const struct executed_totals *totals = executed_totals(executed);
	const struct trace_end *end = &recording->end;

	return (recording->file.header.promises & TRACE_TOTAL_ORDER) &&
	       totals->steps > 0 && !totals->cut && !totals->partial &&
	       !end->starved_cells && !end->dropped_events &&
	       end->reason != TRACE_KILLED;
}

static struct error *read_steps(struct judging *judging,
				const struct vec *conflicts)
{
	struct vec cells = VEC_INIT(uint32_t);
	struct error *err =
		executed_create(judging->recording, &judging->executed);

	if (err)
		return err;
	if (!is_complete(judging->recording, judging->executed)) {
		judging->transfers->lacking++;
		return NULL;
	}
	for (size_t i = 0; !err && i < conflicts->count; i++) {
		const struct pair_conflict *conflict = vec_at(conflicts, i);

		if (!vec_push(&cells, &conflict->cell) ||
		    !vec_push(&cells, &conflict->other))
			err = error_nomem;
	}
	if (!err)
		err = decoder_create(&judging->decoder);
	if (!err)
		err = transfer_tracker_create(
			judging->executed, judging->decoder, &judging->tracker);
	if (!err)
		err = transfer_published_create(judging->recording, &cells,
						&judging->published);
	if (!err)
		err = transfer_instances_create(judging->executed,
						judging->recording, &cells,
						judging->published,
						&judging->instances);
	if (!err)
		transfer_published_sort(judging->published);
	vec_deinit(&cells);
	return err;
}

/* Executions of these are in a recording, and nothing was asked of them. */
static void lose_left_out(struct transfers *transfers,
			  const struct pairs *pairs)
{
	for (size_t i = 0; pairs->cells_left_out && i < transfers->pairs.count;
	     i++) {
		struct transfer_pair *pair = vec_at(&transfers->pairs, i);

		if (map_get(&pairs->left_out, pair->place) ||
		    map_get(&pairs->left_out, pair->other_place))
			pair->lack = TRANSFER_LOST;
	}
}

struct error *transfers_judge(struct transfers *transfers,
			      const struct pairs *pairs,
			      const struct recording *recording,
			      uint32_t number, const struct order *order)
{
	struct judging judging = {
		.transfers = transfers,
		.recording = recording,
		.order = order,
		.number = number,
		.questions = VEC_INIT(struct question),
		.found = VEC_INIT(struct transfer),
		.owned = VEC_INIT(struct transfer),
	};
	const struct vec *conflicts = &pairs->conflicts;
	struct error *err = NULL;

	if (conflicts->count)
		err = read_steps(&judging, conflicts);
	for (size_t i = 0; !err && i < conflicts->count; i++) {
		err = ask_of(&judging, vec_at(conflicts, i));
		if (!err && judging.questions.count >= TRANSFER_QUESTIONS)
			err = answer_questions(&judging);
	}
	if (!err)
		err = answer_questions(&judging);
	lose_left_out(transfers, pairs);
	vec_deinit(&judging.questions);
	vec_deinit(&judging.found);
	vec_deinit(&judging.owned);
	transfer_instances_destroy(judging.instances);
	transfer_published_destroy(judging.published);
	transfer_tracker_destroy(judging.tracker);
	decoder_destroy(judging.decoder);
	executed_destroy(judging.executed);
	return err;
}
