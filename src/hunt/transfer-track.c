/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Tracking an address; see transfer-track.h. What is tracked is a list of values:
 * a set of registers before an instruction, or what a store has stored. One after
 * the other is tracked through the steps of its thread, which adds others.
 */
#include "hunt/transfer-track.h"

#include <stdbool.h>
#include <stdlib.h>

#include "base/error.h"
#include "base/hash.h"
#include "hunt/executed-moves.h"
#include "hunt/executed-parts.h"
#include "hunt/recording.h"
#include "hunt/transfer-parts.h"
#include "hunt/transfer-window.h"
#include "x86/access.h"

enum { ADDRESS_BYTES = 8 };

/* The stack pointer leads to the thread's own stack, which nobody gave it. */
static const uint64_t OWN_STACK = UINT64_C(1) << X86_RSP;
static const uint64_t FRAME = UINT64_C(1) << X86_RSP | UINT64_C(1) << X86_RBP;
/* What a function leaves as it was (System V ABI, 3.2.1). */
static const uint64_t KEPT_BY_CALLS =
	UINT64_C(1) << X86_RBX | UINT64_C(1) << X86_RBP |
	UINT64_C(1) << X86_RSP | UINT64_C(1) << X86_R12 |
	UINT64_C(1) << X86_R13 | UINT64_C(1) << X86_R14 |
	UINT64_C(1) << X86_R15;

struct value {
	uint32_t thread;
	uint64_t number; /* of the step */
	uint64_t registers; /* before the instruction; 0: what a store stored */
	uint32_t instruction;
	size_t access; /* the store */
	uint64_t made; /* the address that is made of it */
	uint64_t since; /* what was sent before this step led to other memory */
	bool in_block; /* that is the one in question, of its block's bytes */
	bool sent; /* by that store, as `transfer' says */
	/* which 8 bytes of the vector, or of what was stored, counted from 1 */
	uint32_t word; /* 0: any */
	bool is_known; /* these are: `known' */
	uint64_t known;
	struct transfer transfer;
	size_t next; /* as struct transfer has it */
	uint64_t instructions;
	uint32_t hops;
};

struct transfer_tracker {
	struct transfer_steps steps;
	struct transfer_accesses accesses;
	/* steps before this number may be missing: in the trace, for the question */
	uint64_t trace_since, kept_since;
	uint64_t
		registers_since; /* nor are these of the value's thread known */
	struct vec values; /* of struct value, the list */
	struct map seen; /* hashes of values that were in it */
	const struct transfer_question *question;
	struct vec *transfers;
	uint64_t instructions; /* gone back, of all values */
	/* the value at work */
	struct value value;
	struct executed_cursor *cursor;
	const struct transfer_code *code; /* of the cursor's step */
};

/* The first step before which no thread has lost any. */
static uint64_t find_kept_since(const struct executed *executed)
{
	uint64_t ret = 0;

	for (size_t i = 0; i < executed->threads.count; i++) {
		const struct executed_thread *thread =
			vec_at(&executed->threads, i);
		const struct executed_chunk *first;

		if (thread->dropped == 0)
			continue;
		if (thread->chunks.count == 0)
			return UINT64_MAX;
		first = vec_at(&thread->chunks, 0);
		if (first->head->first > ret)
			ret = first->head->first;
	}
	return ret;
}

struct error *transfer_tracker_create(struct executed *executed,
				      struct decoder *decoder,
				      struct transfer_tracker **ret)
{
	struct transfer_tracker *tracker = calloc(1, sizeof(*tracker));

	if (!tracker)
		return error_nomem;
	transfer_steps_init(&tracker->steps, executed, decoder);
	tracker->trace_since = find_kept_since(executed);
	tracker->values.size = sizeof(struct value);
	*ret = tracker;
	return NULL;
}

void transfer_tracker_destroy(struct transfer_tracker *tracker)
{
	if (!tracker)
		return;
	transfer_steps_deinit(&tracker->steps);
	transfer_accesses_deinit(&tracker->accesses);
	vec_deinit(&tracker->values);
	map_deinit(&tracker->seen);
	free(tracker);
}

static uint64_t hash_of(const struct value *value)
{
	const uint64_t parts[] = {
		value->thread,
		value->number,
		value->registers,
		value->registers ? value->instruction : value->access,
		value->made,
		value->sent,
		value->word,
	};

	return hash_blocks(parts, sizeof(parts));
}

/* Add it to the list, unless it was there, or the list is full. */
static struct error *add_value(struct transfer_tracker *tracker,
			       const struct value *value)
{
	uint64_t hash = hash_of(value);

	if (value->number < tracker->question->since ||
	    value->number < tracker->question->kept_since ||
	    value->number < value->since ||
	    tracker->seen.count >= TRANSFER_VALUES ||
	    map_get(&tracker->seen, hash))
		return NULL;
	return map_set(&tracker->seen, hash, 1) &&
			       vec_push(&tracker->values, value)
		       ? NULL
		       : error_nomem;
}

static bool is_near(const struct transfer_tracker *tracker, uint64_t value)
{
	const struct transfer_question *question = tracker->question;
	uint64_t made = tracker->value.made;

	if (tracker->value.in_block && question->block_size > 0)
		return value - question->block < question->block_size;
	return value - made <= TRANSFER_NEAR || made - value <= TRANSFER_NEAR;
}

static bool covers(const struct executed_write *write, uint64_t address)
{
	return write->address <= address &&
	       address + ADDRESS_BYTES <= write->address + write->size;
}

/* What it wrote there; false: not known. */
static bool value_written(const struct executed_write *write, uint64_t address,
			  uint64_t *ret)
{
	*ret = write->value;
	return write->has_value && write->address == address &&
	       write->size == ADDRESS_BYTES;
}

static bool is_store_to(const struct translated_access *access,
			uint64_t address)
{
	return (access->flags & TRACE_WRITES) && access->done &&
	       access->address < address + ADDRESS_BYTES &&
	       address < access->address + access->size;
}

static struct executed_write write_of(const struct transfer_tracker *tracker,
				      size_t i)
{
	const struct translated_access *access = &tracker->accesses.all[i];

	return (struct executed_write){
		.kind = EXECUTED_STORE,
		.thread = tracker->value.thread,
		.number = executed_step(tracker->cursor)->number,
		.place = i,
		.address = access->address,
		.size = access->size,
		.value = access->value,
		.has_value = access->has_value,
	};
}

/* What the store stored at the address is tracked from there on. */
static void go_to(struct value *value, const struct executed_write *store,
		  uint64_t address)
{
	value->word = 0;
	if (store->size > ADDRESS_BYTES &&
	    (address - store->address) % ADDRESS_BYTES == 0)
		value->word =
			(uint32_t)((address - store->address) / ADDRESS_BYTES) +
			1;
	value->thread = store->thread;
	value->number = store->number;
	value->access = store->place;
	value->registers = 0;
}

/* The last write to the address before access i of the step. */
static struct error *find_write(struct transfer_tracker *tracker, size_t i,
				uint64_t address, struct executed_write *ret)
{
	while (i-- > 0) {
		if (!is_store_to(&tracker->accesses.all[i], address))
			continue;
		*ret = write_of(tracker, i);
		return NULL;
	}
	tracker->instructions += TRANSFER_SEARCH;
	return executed_last_write(tracker->steps.executed, address,
				   ADDRESS_BYTES,
				   executed_step(tracker->cursor)->number, ret);
}

/* A variable may have the address of another one from the start. */
static bool is_constant(const struct transfer_tracker *tracker,
			uint64_t address, uint64_t value)
{
	const struct recording *recording = tracker->steps.executed->recording;

	return recording_has_module(recording, address) &&
	       recording_has_module(recording, value);
}

/*
 * Can nothing before have sent the value? So it is if the block was allocated
 * after `before', or if nothing was written before, nor was it there.
 */
static bool is_first(const struct transfer_tracker *tracker, uint64_t address,
		     uint64_t value, const struct executed_write *before)
{
	uint64_t born =
		tracker->value.in_block ? tracker->question->block_number : 0;

	if (before->kind == EXECUTED_NONE ||
	    before->number < tracker->kept_since)
		return born >= tracker->kept_since &&
		       !is_constant(tracker, address, value);
	return before->kind == EXECUTED_HEAP || before->number <= born;
}

/*
 * The sender may have stored the same value there before, and nobody else
 * something in between: then that store may be the one that was received, in
 * another run. *ret_found false: that was not to be found out. A value that is not
 * known may be the same.
 */
static struct error *find_first_store(struct transfer_tracker *tracker,
				      uint64_t address, uint64_t value,
				      struct executed_write *write,
				      bool *ret_found)
{
	struct executed_write last = *write, before;
	struct error *err = NULL;

	for (int i = 0; !err && i < TRANSFER_STORES; i++, last = before) {
		uint64_t other;
		bool may_be;

		tracker->instructions += TRANSFER_SEARCH;
		err = executed_write_before(tracker->steps.executed, address,
					    ADDRESS_BYTES, &last, &before);
		*ret_found = !err && is_first(tracker, address, value, &before);
		if (err || *ret_found || before.kind == EXECUTED_NONE)
			return err;
		may_be = !value_written(&before, address, &other) ||
			 other == value ||
			 (before.thread == write->thread &&
			  tracker->value.in_block && is_near(tracker, other));
		if (before.thread != write->thread) {
			*ret_found = !may_be;
			return NULL;
		}
		if (may_be)
			*write = before;
	}
	return err;
}

/* The instruction of the step that the cursor is at, and one of its accesses. */
static struct transfer_point point_of(const struct transfer_tracker *tracker,
				      size_t access)
{
	const struct unpacked_step *step = executed_step(tracker->cursor);

	return (struct transfer_point){
		.thread = tracker->value.thread,
		.superblock = step->superblock,
		.instruction = tracker->accesses.all[access].instruction,
		.number = step->number,
		.access = access,
		.sequence = step->sequence,
	};
}

/*
 * What the access has loaded, of the bytes that are tracked; false: not known. Of a
 * vector it is what became of it later.
 */
static bool value_read(const struct transfer_tracker *tracker,
		       const struct translated_access *access, uint64_t *ret)
{
	bool is_own = access->has_value && access->size == ADDRESS_BYTES;

	*ret = is_own ? access->value : tracker->value.known;
	return is_own || (access->size > ADDRESS_BYTES && tracker->value.word &&
			  tracker->value.is_known);
}

/* Another thread has written what access i has loaded (section 3.3). */
static struct error *receive(struct transfer_tracker *tracker, size_t i,
			     uint64_t address, struct executed_write write)
{
	const struct translated_access *access = &tracker->accesses.all[i];
	struct value value = tracker->value;
	uint64_t sent, received;
	bool is_sent_known = value_written(&write, address, &sent);
	bool is_received_known = value_read(tracker, access, &received);
	bool found;
	struct error *err;

	if (is_sent_known && is_received_known && sent != received)
		return NULL;
	if (!is_sent_known)
		sent = received;
	if ((!is_sent_known && !is_received_known) || !is_near(tracker, sent) ||
	    write.number < tracker->kept_since)
		return NULL;
	value.transfer = (struct transfer){
		.kind = TRANSFER_MEMORY,
		.received = point_of(tracker, i),
		.address = address,
		.value = sent,
		.next = value.next,
		.instructions = value.instructions,
		.hops = value.hops + 1,
	};
	err = find_first_store(tracker, address, sent, &write, &found);
	if (err || !found)
		return err;
	value.sent = true;
	value.is_known = true;
	value.known = sent;
	go_to(&value, &write, address);
	return add_value(tracker, &value);
}

/* The last instruction of a step, which makes a system call. */
static struct error *point_of_call(struct transfer_tracker *tracker,
				   const struct executed_sent *sent,
				   struct transfer_point *ret)
{
	struct executed_cursor cursor;
	const struct unpacked_step *step;
	bool found;
	struct error *err = executed_seek(tracker->steps.executed, sent->thread,
					  sent->number, &cursor, &found);

	if (!err && found) {
		step = executed_step(&cursor);
		*ret = (struct transfer_point){
			.thread = sent->thread,
			.superblock = step->superblock,
			.instruction =
				executed_superblock(tracker->steps.executed,
						    step->superblock)
					->exits[step->exit]
					.instructions -
				1u,
			.number = step->number,
			.access = SIZE_MAX,
			.sequence = step->sequence,
		};
	}
	executed_cursor_deinit(&cursor);
	return err;
}

/* What the sender's memory had goes on there, if the sender has stored it. */
static struct error *go_to_sender(struct transfer_tracker *tracker,
				  const struct executed_sent *sent)
{
	struct value value = tracker->value;
	struct executed_write write;
	struct error *err;

	if (sent->address == 0)
		return NULL;
	err = executed_last_write(tracker->steps.executed, sent->address,
				  ADDRESS_BYTES, sent->number + 1, &write);
	if (err || write.kind != EXECUTED_STORE ||
	    write.thread != sent->thread || !covers(&write, sent->address))
		return err;
	value.sent = false;
	value.is_known = false;
	go_to(&value, &write, sent->address);
	value.instructions = 0;
	value.hops = 0;
	value.next = tracker->transfers->count;
	return add_value(tracker, &value);
}

/*
 * A system call of the thread has received what access i has loaded (section 3.3):
 * from the one that sent these bytes, if that is certain.
 */
static struct error *receive_call(struct transfer_tracker *tracker, size_t i,
				  uint64_t address,
				  const struct executed_write *write)
{
	const struct translated_access *access = &tracker->accesses.all[i];
	struct executed_sent sent;
	struct transfer transfer = {
		.kind = TRANSFER_CALL,
		.received = point_of(tracker, i),
		.address = address,
		.next = tracker->value.next,
		.instructions = tracker->value.instructions,
		.hops = tracker->value.hops + 1,
	};
	struct error *err;

	/* a part has the first bytes as its value */
	if (access->has_value && access->size == ADDRESS_BYTES)
		transfer.value = access->value;
	else if (write->has_value && write->address == address)
		transfer.value = write->value;
	if (!is_near(tracker, transfer.value) ||
	    write->number < tracker->kept_since)
		return NULL;
	err = executed_sender(tracker->steps.executed, write, address,
			      ADDRESS_BYTES, &sent);
	/* of a file, an earlier write may be what is read in another run */
	if (err || sent.by != EXECUTED_SENT_BY_POSITION ||
	    sent.size < ADDRESS_BYTES || sent.channel->kind == TRACE_FILE ||
	    sent.thread == tracker->value.thread ||
	    sent.number < tracker->question->since ||
	    sent.number < tracker->question->kept_since ||
	    sent.number < tracker->value.since)
		return err;
	err = point_of_call(tracker, &sent, &transfer.sent);
	if (err || transfer.sent.superblock == 0)
		return err;
	if (!vec_push(tracker->transfers, &transfer))
		return error_nomem;
	return go_to_sender(tracker, &sent);
}

/* The thread itself has written what access i has loaded. */
static struct error *go_to_store(struct transfer_tracker *tracker, size_t i,
				 uint64_t address,
				 const struct executed_write *write)
{
	struct value value = tracker->value;

	value.sent = false;
	value.is_known =
		value_read(tracker, &tracker->accesses.all[i], &value.known);
	go_to(&value, write, address);
	value.hops++;
	return add_value(tracker, &value);
}

/* The memory that was loaded from, whose address may be one handed over. */
static struct error *go_to_address(struct transfer_tracker *tracker,
				   uint32_t instruction, uint64_t address,
				   uint64_t written)
{
	struct value value = tracker->value;

	value.registers = tracker->code->origins[instruction].read_at &
			  ~OWN_STACK;
	if (!value.registers)
		return NULL;
	value.sent = false;
	value.number = executed_step(tracker->cursor)->number;
	value.instruction = instruction;
	value.made = address;
	value.in_block = false;
	value.word = 0;
	value.is_known = false;
	if (written > value.since)
		value.since = written;
	value.hops++;
	return add_value(tracker, &value);
}

/* Eight bytes of what access i has loaded. */
static struct error *track_word(struct transfer_tracker *tracker, size_t i,
				uint64_t address)
{
	const struct translated_access *access = &tracker->accesses.all[i];
	uint64_t read_at = tracker->code->origins[access->instruction].read_at;
	struct executed_write write;
	bool is_own;
	struct error *err;

	if (access->has_value && access->size == ADDRESS_BYTES &&
	    !is_near(tracker, access->value))
		return NULL;
	err = find_write(tracker, i, address, &write);
	if (err || !covers(&write, address))
		return err;
	is_own = write.thread == tracker->value.thread;
	if (write.kind == EXECUTED_MOVED && is_own)
		err = receive_call(tracker, i, address, &write);
	else if (write.kind != EXECUTED_STORE)
		return NULL;
	else
		err = is_own ? go_to_store(tracker, i, address, &write)
			     : receive(tracker, i, address, write);
	/* its own frame was given to the thread by nobody */
	if (err || (is_own && (read_at & ~FRAME) == 0))
		return err;
	return go_to_address(tracker, access->instruction, address,
			     write.number);
}

/*
 * How many words of a load may be addresses. Of several, it is not known which one
 * is used.
 */
static struct error *count_addresses(struct transfer_tracker *tracker, size_t i,
				     uint32_t *ret)
{
	const struct translated_access *access = &tracker->accesses.all[i];
	struct error *err = NULL;

	*ret = 0;
	for (uint64_t at = 0; !err && at + ADDRESS_BYTES <= access->size;
	     at += ADDRESS_BYTES) {
		struct executed_write write;
		uint64_t value;

		err = find_write(tracker, i, access->address + at, &write);
		*ret += write.number < tracker->kept_since ||
			!value_written(&write, access->address + at, &value) ||
			is_near(tracker, value);
	}
	return err;
}

/* Of a vector that access i has loaded, the bytes that are tracked. */
static struct error *track_place(struct transfer_tracker *tracker, size_t i)
{
	const struct translated_access *access = &tracker->accesses.all[i];
	uint64_t at = (tracker->value.word - 1) * (uint64_t)ADDRESS_BYTES;

	return at + ADDRESS_BYTES <= access->size
		       ? track_word(tracker, i, access->address + at)
		       : NULL;
}

/* What the instruction of the cursor's step has loaded. */
static struct error *track_loads(struct transfer_tracker *tracker,
				 uint32_t instruction)
{
	struct error *err = NULL;

	for (size_t i = 0; !err && i < tracker->accesses.count; i++) {
		const struct translated_access access =
			tracker->accesses.all[i];

		if (access.instruction != instruction || !access.done ||
		    !(access.flags & TRACE_READS))
			continue;
		if (access.size > ADDRESS_BYTES && tracker->value.word) {
			err = track_place(tracker, i);
			continue;
		}
		if (access.size > ADDRESS_BYTES) {
			uint32_t addresses;

			err = count_addresses(tracker, i, &addresses);
			if (err || addresses > 1)
				continue;
		}
		for (uint64_t at = 0; !err && at + ADDRESS_BYTES <= access.size;
		     at += ADDRESS_BYTES)
			err = track_word(tracker, i, access.address + at);
	}
	return err;
}

/* Back over an instruction that writes registers of the value. */
static struct error *track_instruction(struct transfer_tracker *tracker,
				       uint32_t instruction)
{
	const struct origins *origins = &tracker->code->origins[instruction];
	struct value *value = &tracker->value;
	uint64_t from = 0;
	struct error *err = NULL;

	value->hops++;
	for (uint32_t i = 0; !err && i < origins->count; i++) {
		const struct origins_result *result = &origins->results[i];

		if (!(result->to & value->registers))
			continue;
		from |= result->from;
		if (!result->in_place)
			value->word = 0;
		if (!result->loaded)
			continue;
		if (!transfer_accesses_read(&tracker->accesses,
					    tracker->cursor))
			return error_nomem;
		err = track_loads(tracker, instruction);
	}
	value->registers = ((value->registers & ~origins->written) | from) &
			   ~OWN_STACK;
	return err;
}

/* Back over the instructions of a step below `end'. */
static struct error *track_step(struct transfer_tracker *tracker, uint32_t end)
{
	const struct unpacked_step *step = executed_step(tracker->cursor);
	struct value *value = &tracker->value;
	struct error *err = transfer_steps_code(
		&tracker->steps, step->superblock, &tracker->code);
	uint32_t count;

	if (err)
		return err;
	count = tracker->code->translated->exits[step->exit].instructions;
	if (count > end)
		count = end;
	if (!(tracker->code->written & value->registers)) {
		value->instructions += count;
		tracker->instructions += count;
		return NULL;
	}
	while (!err && count-- > 0 && value->registers) {
		value->instructions++;
		tracker->instructions++;
		if (tracker->code->origins[count].written & value->registers)
			err = track_instruction(tracker, count);
	}
	return err;
}

/*
 * A block that was allocated: if another thread had freed it, that came before
 * (section 2.2, memory recycling). Of what the allocator did, there are no steps.
 */
static struct error *track_block(struct transfer_tracker *tracker,
				 uint64_t address)
{
	const struct unpacked_step *step = executed_step(tracker->cursor);
	struct value *value = &tracker->value;
	struct executed_write write;
	struct transfer *transfer;
	struct error *err = executed_last_write(
		tracker->steps.executed, address, 1, step->number, &write);

	if (err || write.kind != EXECUTED_HEAP || write.begins ||
	    write.thread == value->thread ||
	    write.number < tracker->question->since ||
	    write.number < value->since || write.number < tracker->kept_since)
		return err;
	transfer = vec_append(tracker->transfers);
	if (!transfer)
		return error_nomem;
	*transfer = (struct transfer){
		.kind = TRANSFER_HEAP,
		.sent = { .thread = write.thread, .number = write.number },
		.received = { .thread = value->thread,
			      .number = step->number,
			      .sequence = step->sequence },
		.address = address,
		.value = address,
		.next = value->next,
		.instructions = value->instructions,
		.hops = value->hops,
	};
	return NULL;
}

static struct error *track_event(struct transfer_tracker *tracker)
{
	const struct unpacked_step *step = executed_step(tracker->cursor);
	const uint64_t *numbers = executed_words(tracker->cursor);
	struct value *value = &tracker->value;
	struct error *err = NULL;

	if (step->event == TRACE_HEAP) {
		if ((value->registers & UINT64_C(1) << X86_RAX) && numbers[1] &&
		    value->made - numbers[1] < numbers[2])
			err = track_block(tracker, numbers[1]);
		value->registers &= KEPT_BY_CALLS;
	} else if (step->event == TRACE_BROKEN) {
		/* some of its instructions were executed: which is not known */
		value->registers = 0;
	}
	return err;
}

/* Back through the thread's steps, from the cursor on. */
static struct error *track_registers(struct transfer_tracker *tracker,
				     uint32_t end)
{
	const struct transfer_question *question = tracker->question;
	bool moved = true;
	struct error *err = NULL;

	while (!err && moved && tracker->value.registers &&
	       executed_step(tracker->cursor)->number >= question->since &&
	       executed_step(tracker->cursor)->number >= question->kept_since &&
	       executed_step(tracker->cursor)->number >=
		       tracker->registers_since &&
	       tracker->instructions < question->instructions) {
		if (executed_step(tracker->cursor)->superblock)
			err = track_step(tracker, end);
		else
			err = track_event(tracker);
		end = UINT32_MAX;
		if (!err)
			err = executed_previous(tracker->cursor, &moved);
	}
	return err;
}

/* Before the sending store, the same step may have stored the same value there. */
static void settle_sending(struct transfer_tracker *tracker)
{
	struct value *value = &tracker->value;

	for (size_t i = value->access; i-- > 0;) {
		struct executed_write write = write_of(tracker, i);
		uint64_t other;

		if (is_store_to(&tracker->accesses.all[i],
				value->transfer.address) &&
		    (!value_written(&write, value->transfer.address, &other) ||
		     other == value->transfer.value))
			value->access = i;
	}
}

/* The value was handed over by the store; it goes on in the sender. */
static struct error *note_sending(struct transfer_tracker *tracker)
{
	struct value *value = &tracker->value;
	struct transfer transfer = value->transfer;

	settle_sending(tracker);
	transfer.sent = point_of(tracker, value->access);
	if (!vec_push(tracker->transfers, &transfer))
		return error_nomem;
	value->next = tracker->transfers->count;
	value->instructions = 0;
	value->hops = 0;
	return NULL;
}

/* What the store has stored, and from there on. */
static struct error *track_store(struct transfer_tracker *tracker)
{
	struct value *value = &tracker->value;
	const struct origins *origins;
	uint32_t instruction;
	struct error *err = NULL;

	if (!transfer_accesses_read(&tracker->accesses, tracker->cursor))
		return error_nomem;
	if (value->access >= tracker->accesses.count)
		return NULL;
	if (value->sent)
		err = note_sending(tracker);
	if (value->number < tracker->registers_since)
		return err;
	instruction = tracker->accesses.all[value->access].instruction;
	if (!err)
		err = transfer_steps_code(
			&tracker->steps,
			executed_step(tracker->cursor)->superblock,
			&tracker->code);
	if (err)
		return err;
	origins = &tracker->code->origins[instruction];
	for (uint32_t i = 0; !err && i < origins->count; i++) {
		if (!origins->results[i].stored)
			continue;
		value->registers |= origins->results[i].from & ~OWN_STACK;
		if (!origins->results[i].in_place)
			value->word = 0;
		if (origins->results[i].loaded)
			err = track_loads(tracker, instruction);
	}
	return err ? err : track_registers(tracker, instruction);
}

static struct error *track_value(struct transfer_tracker *tracker)
{
	const struct transfer_question *question = tracker->question;
	struct value *value = &tracker->value;
	struct error *err = transfer_window_of(
		tracker->steps.executed, value->thread, question->registers,
		question->access.number, &tracker->registers_since);

	if (!err)
		err = transfer_steps_seek(&tracker->steps, value->thread,
					  value->number, &tracker->cursor);
	if (err || !tracker->cursor ||
	    executed_step(tracker->cursor)->number != value->number)
		return err;
	if (!value->registers)
		return track_store(tracker);
	return track_registers(tracker, value->instruction);
}

/* The registers of the access's address (section 3.2, first iteration). */
static struct error *begin(struct transfer_tracker *tracker)
{
	const struct transfer_question *question = tracker->question;
	const struct transfer_code *code;
	struct value value = {
		.thread = question->access.thread,
		.number = question->access.number,
		.instruction = question->access.instruction,
		.made = question->address,
		.in_block = true,
	};
	struct error *err = transfer_steps_code(
		&tracker->steps, question->access.superblock, &code);

	if (err)
		return err;
	value.registers = (code->origins[value.instruction].read_at |
			   code->origins[value.instruction].written_at) &
			  ~OWN_STACK;
	return value.registers ? add_value(tracker, &value) : NULL;
}

/* Are there more hand-overs than `before', and enough? */
static bool is_enough(const struct transfer_tracker *tracker, size_t before)
{
	const struct transfer_question *question = tracker->question;

	return question->is_enough && tracker->transfers->count > before &&
	       question->is_enough(question->context, tracker->transfers);
}

struct error *transfer_track(struct transfer_tracker *tracker,
			     const struct transfer_question *question,
			     struct vec *ret, uint64_t *ret_instructions)
{
	bool enough = false;
	struct error *err;

	tracker->question = question;
	tracker->kept_since = question->kept_since > tracker->trace_since
				      ? question->kept_since
				      : tracker->trace_since;
	tracker->transfers = ret;
	tracker->instructions = 0;
	vec_clear(&tracker->values);
	map_deinit(&tracker->seen);
	err = begin(tracker);
	while (!err && !enough && tracker->values.count > 0 &&
	       tracker->instructions < question->instructions) {
		size_t before = ret->count;

		/* the first one that was added is the nearest one */
		tracker->value = *(struct value *)vec_at(&tracker->values, 0);
		vec_remove_first(&tracker->values, 1);
		err = track_value(tracker);
		enough = is_enough(tracker, before);
	}
	*ret_instructions = tracker->instructions;
	return err;
}
