/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * src/hunt/transfer-track.c: threads that hand an address over, as a recorder
 * would write what they execute. The code of the superblocks is real; it is only
 * decoded.
 */
#include "function-code.h"

#include <string.h>

#include "base/error.h"
#include "hunt/executed.h"
#include "hunt/recording.h"
#include "hunt/transfer-track.h"
#include "recorder/packer.h"
#include "trace-writer.h"

/* An object, memory that others receive its address in, and a stack. */
enum { OBJECT = 0x50000, BLOCK = 64, SLOT = 0x20000, OTHER = 0x30000 };
enum { STACK = 0x7000 };

/* mov %rbx, (%rdi): the address is stored. */
CODE(sends, "mov %rbx, (%rdi)\n");
CODE(sends_twice, "mov %rbx, (%rdi)\n"
		  "mov %rbx, (%rdi)\n");
CODE(swaps, "lock cmpxchg %rbx, (%rdi)\n");
/* It is received, moved through the stack, and used 8 bytes further on. */
CODE(receives, "mov (%rdi), %rax\n"
	       "mov %rax, -8(%rsp)\n"
	       "mov %rbx, %rcx\n"
	       "mov -8(%rsp), %rdx\n"
	       "add $8, %rdx\n");
CODE(uses, "mov (%rdx), %rsi\n");
/* It is received, and handed on by another thread. */
CODE(relays, "mov (%rdi), %rax\n"
	     "mov %rax, (%rsi)\n");
/* An index that counts up, and what it selects. */
CODE(counts, "lock xadd %rax, (%rdi)\n");
CODE(selects, "mov (%r8,%rax,8), %rsi\n");
CODE(allocated, "lea 8(%rax), %rdx\n");
CODE(stores_16, "movups %xmm0, (%rdi)\n");

enum {
	SENDS = 1,
	SENDS_TWICE,
	SWAPS,
	RECEIVES,
	USES,
	RELAYS,
	COUNTS,
	SELECTS,
	ALLOCATED,
	STORES_16,
};

enum { SLOTS_MAX = 4 };

static struct writer writer;
static struct packer packer;
static struct recording recording;
static struct executed *executed;
static struct decoder *decoder;
static struct transfer_tracker *tracker;
static struct vec transfers;
static uint64_t steps;

/* The accesses of a superblock: instruction, bytes, flags, 2: values are known. */
struct shape {
	uint8_t instruction, size, flags, words;
};

static const struct shape stores[] = { { 0, 8, TRACE_WRITES, 2 },
				       { 1, 8, TRACE_WRITES, 2 } };
static const struct shape loads[] = { { 0, 8, TRACE_READS, 2 } };
static const struct shape swap[] = {
	{ 0, 8, TRACE_READS | TRACE_ATOMIC, 2 },
	{ 0, 8, TRACE_WRITES | TRACE_ATOMIC, 3 },
};
static const struct shape through_stack[] = { { 0, 8, TRACE_READS, 2 },
					      { 1, 8, TRACE_WRITES, 1 },
					      { 3, 8, TRACE_READS, 1 } };
static const struct shape relay[] = { { 0, 8, TRACE_READS, 2 },
				      { 1, 8, TRACE_WRITES, 2 } };
static const struct shape wide[] = { { 0, 16, TRACE_WRITES, 1 } };

static struct trace_slot slot_of(const struct shape *shape)
{
	struct trace_slot slot = {
		.instruction = shape->instruction,
		.size = shape->size,
		.flags = shape->flags,
		.conditional = shape->words > 2,
		.address = { .source = TRACE_FROM_WORD },
	};

	if (shape->words > 1)
		slot.value.source = TRACE_FROM_WORD;
	return slot;
}

static uint16_t lengths_of(const uint8_t *code, size_t size, uint8_t *lengths)
{
	uint16_t count = 0;

	for (size_t i = 0; i < size; i += lengths[count++]) {
		struct insn_access access;

		decoder_decode(decoder, code + i, size - i, at(code), &access);
		lengths[count] = access.length;
	}
	return count;
}

static void superblock(uint32_t id, const uint8_t *code, const uint8_t *end,
		       const struct shape *shapes, uint16_t count)
{
	struct trace_superblock head = { .id = id,
					 .size = (uint32_t)(end - code),
					 .place = { 1, 0, 0x100 * id },
					 .address = 0x1000 + 0x100 * id,
					 .slots = count,
					 .exits = 1 };
	struct trace_slot slots[SLOTS_MAX];
	uint8_t lengths[16];
	unsigned char behind[512];
	size_t size = 0;

	for (uint16_t i = 0; i < count; i++) {
		slots[i] = slot_of(&shapes[i]);
		head.words = (uint16_t)(head.words + shapes[i].words);
	}
	head.instructions = lengths_of(code, head.size, lengths);
	memcpy(behind, slots, size = count * sizeof(*slots));
	memcpy(behind + size,
	       &(struct trace_exit){ .instructions = head.instructions,
				     .slots = count,
				     .words = head.words },
	       sizeof(struct trace_exit));
	size += sizeof(struct trace_exit);
	memcpy(behind + size, lengths, head.instructions);
	size += head.instructions;
	memcpy(behind + size, code, head.size);
	writer_chunk(&writer, TRACE_SUPERBLOCK, &head, sizeof(head), behind,
		     size + head.size);
}

#define SUPERBLOCK(id, name, shapes, count) \
	superblock(id, name##_start, name##_end, shapes, count)

static int set_up_each(void **state)
{
	decoder = *state;
	writer_begin(&writer);
	for (uint32_t thread = 1; thread <= 3; thread++)
		writer_thread(&writer, thread, thread > 1, thread - 2, 0, 0, 0,
			      0);
	SUPERBLOCK(SENDS, sends, stores, 1);
	SUPERBLOCK(SENDS_TWICE, sends_twice, stores, 2);
	SUPERBLOCK(SWAPS, swaps, swap, 2);
	SUPERBLOCK(RECEIVES, receives, through_stack, 3);
	SUPERBLOCK(USES, uses, loads, 1);
	SUPERBLOCK(RELAYS, relays, relay, 2);
	SUPERBLOCK(COUNTS, counts, swap, 2);
	SUPERBLOCK(SELECTS, selects, loads, 1);
	SUPERBLOCK(ALLOCATED, allocated, NULL, 0);
	SUPERBLOCK(STORES_16, stores_16, wide, 1);
	transfers = (struct vec)VEC_INIT(struct transfer);
	steps = 0;
	return 0;
}

static int tear_down_each(void **state)
{
	(void)state;
	vec_deinit(&transfers);
	transfer_tracker_destroy(tracker);
	executed_destroy(executed);
	recording_close(&recording);
	writer_remove(&writer);
	tracker = NULL;
	executed = NULL;
	return 0;
}

/* The thread runs from now on: a chunk of its own. */
static void runs(uint32_t thread)
{
	packer_begin(&packer, thread, steps + 1, steps);
}

static void stops(void)
{
	packer_end(&packer);
	writer_chunk(&writer, TRACE_STREAM, &packer.head, sizeof(packer.head),
		     packer.bytes, packer.head.size);
}

static void step(uint32_t id, const uint64_t *words, uint32_t count)
{
	packer_step(&packer, &(struct packer_step){ .id = id,
						    .count = count + 1,
						    .instructions = 1,
						    .accesses = 1,
						    .words = words });
	steps++;
}

#define STEP(id, ...)                               \
	step(id, (const uint64_t[]){ __VA_ARGS__ }, \
	     sizeof((const uint64_t[]){ __VA_ARGS__ }) / sizeof(uint64_t))

static void event(enum trace_stream_event kind, uint64_t a, uint64_t b,
		  uint64_t c)
{
	const uint64_t numbers[] = { a, b, c };

	packer_event(&packer, kind, numbers);
}

/* The object's address is received in `slot', and used. */
static void receive_and_use(uint64_t slot, uint64_t object)
{
	STEP(RECEIVES, slot, object, STACK, STACK);
	STEP(USES, object + 8, 0);
}

/* The thread's last step uses the object; how many hand-overs led to that? */
static size_t track_from(uint32_t superblock, uint64_t address, uint32_t thread)
{
	const struct transfer_question question = {
		.access = { .thread = thread,
			    .superblock = superblock,
			    .number = steps },
		.address = address,
		.block = OBJECT,
		.block_size = BLOCK,
		.instructions = 1000,
	};

	writer_end(&writer, steps);
	assert_null(recording_open(writer.path, &recording));
	assert_null(executed_create(&recording, &executed));
	assert_null(transfer_tracker_create(executed, decoder, &tracker));
	assert_null(transfer_track(tracker, &question, &transfers));
	return transfers.count;
}

static size_t track(uint32_t thread)
{
	return track_from(USES, OBJECT + 8, thread);
}

static const struct transfer *transfer_at(size_t i)
{
	return vec_at(&transfers, i);
}

static void a_stored_address_is_handed_over(void **state)
{
	const struct transfer *transfer;

	(void)state;
	runs(1);
	STEP(SENDS, SLOT, OBJECT);
	stops();
	runs(2);
	receive_and_use(SLOT, OBJECT);
	stops();
	assert_int_equal(track(2), 1);
	transfer = transfer_at(0);
	assert_int_equal(transfer->kind, TRANSFER_MEMORY);
	assert_int_equal(transfer->sent.thread, 1);
	assert_int_equal(transfer->sent.number, 1);
	assert_int_equal(transfer->sent.superblock, SENDS);
	assert_int_equal(transfer->received.thread, 2);
	assert_int_equal(transfer->received.number, 2);
	assert_int_equal(transfer->received.instruction, 0);
	assert_int_equal(transfer->address, SLOT);
	assert_int_equal(transfer->value, OBJECT);
	assert_int_equal(transfer->next, 0);
	/* add, the load from the stack, and what stored there */
	assert_int_equal(transfer->hops, 5);
}

static void a_failed_compare_and_swap_sends_nothing(void **state)
{
	(void)state;
	runs(1);
	STEP(SENDS, SLOT, OBJECT);
	stops();
	runs(3);
	STEP(SWAPS, SLOT, OBJECT, SLOT, OBJECT, 0);
	stops();
	runs(2);
	receive_and_use(SLOT, OBJECT);
	stops();
	assert_int_equal(track(2), 1);
	assert_int_equal(transfer_at(0)->sent.thread, 1);
}

static void one_that_succeeded_does(void **state)
{
	(void)state;
	runs(3);
	STEP(SWAPS, SLOT, 0, SLOT, OBJECT, 1);
	stops();
	runs(2);
	receive_and_use(SLOT, OBJECT);
	stops();
	assert_int_equal(track(2), 1);
	assert_int_equal(transfer_at(0)->sent.thread, 3);
	assert_int_equal(transfer_at(0)->sent.access, 1);
}

static void what_was_received_is_what_was_sent(void **state)
{
	(void)state;
	runs(1);
	STEP(SENDS, SLOT, OBJECT + 16);
	stops();
	runs(2);
	receive_and_use(SLOT, OBJECT);
	stops();
	assert_int_equal(track(2), 0);
}

static void an_address_of_another_block_is_another_one(void **state)
{
	(void)state;
	runs(1);
	STEP(SENDS, SLOT, OBJECT - 8);
	stops();
	runs(2);
	receive_and_use(SLOT, OBJECT - 8);
	stops();
	/* it is near, but not in the block of the bytes in question */
	assert_int_equal(track_from(USES, OBJECT, 2), 0);
}

static void an_index_is_no_address(void **state)
{
	(void)state;
	runs(1);
	STEP(COUNTS, SLOT, 0, SLOT, 1, 1);
	stops();
	runs(2);
	STEP(COUNTS, SLOT, 1, SLOT, 2, 1);
	STEP(SELECTS, OBJECT + 8, 0);
	stops();
	assert_int_equal(track_from(SELECTS, OBJECT + 8, 2), 0);
}

static void a_third_thread_hands_it_on(void **state)
{
	(void)state;
	runs(1);
	STEP(SENDS, SLOT, OBJECT);
	stops();
	runs(3);
	STEP(RELAYS, SLOT, OBJECT, OTHER, OBJECT);
	stops();
	runs(2);
	receive_and_use(OTHER, OBJECT);
	stops();
	assert_int_equal(track(2), 2);
	assert_int_equal(transfer_at(0)->sent.thread, 3);
	assert_int_equal(transfer_at(1)->sent.thread, 1);
	assert_int_equal(transfer_at(1)->received.thread, 3);
	assert_int_equal(transfer_at(1)->next, 1);
}

/* The receiver may have the first one, in another run. */
static void the_first_store_of_the_address_counts(void **state)
{
	(void)state;
	runs(1);
	STEP(SENDS, SLOT, OBJECT);
	STEP(SENDS, SLOT, 0);
	STEP(SENDS_TWICE, SLOT, OBJECT, SLOT, OBJECT);
	stops();
	runs(2);
	receive_and_use(SLOT, OBJECT);
	stops();
	assert_int_equal(track(2), 1);
	assert_int_equal(transfer_at(0)->sent.number, 1);
}

static void that_of_the_same_step_too(void **state)
{
	(void)state;
	runs(3);
	STEP(SENDS, SLOT, OBJECT);
	stops();
	runs(1);
	STEP(SENDS_TWICE, SLOT, OBJECT, SLOT, OBJECT);
	stops();
	runs(2);
	receive_and_use(SLOT, OBJECT);
	stops();
	assert_int_equal(track(2), 1);
	assert_int_equal(transfer_at(0)->sent.number, 2);
	assert_int_equal(transfer_at(0)->sent.access, 0);
}

static void a_store_of_16_bytes_may_be_of_the_address(void **state)
{
	(void)state;
	runs(1);
	STEP(STORES_16, SLOT);
	STEP(SENDS, SLOT, OBJECT);
	stops();
	runs(2);
	receive_and_use(SLOT, OBJECT);
	stops();
	assert_int_equal(track(2), 1);
	assert_int_equal(transfer_at(0)->sent.number, 1);
}

static void a_freed_block_is_handed_over_by_the_allocator(void **state)
{
	(void)state;
	runs(1);
	STEP(SENDS, OTHER, OBJECT);
	event(TRACE_HEAP, OBJECT, 0, 0);
	STEP(SENDS, OTHER, 0);
	stops();
	runs(2);
	STEP(SENDS, STACK, OBJECT);
	event(TRACE_HEAP, 0, OBJECT, BLOCK);
	step(ALLOCATED, NULL, 0);
	STEP(USES, OBJECT + 8, 0);
	stops();
	assert_int_equal(track(2), 1);
	assert_int_equal(transfer_at(0)->kind, TRANSFER_HEAP);
	assert_int_equal(transfer_at(0)->sent.thread, 1);
	assert_int_equal(transfer_at(0)->sent.number, 1);
}

/* It cannot be told how far the superblock came. */
static void nothing_is_tracked_through_a_broken_superblock(void **state)
{
	(void)state;
	runs(1);
	STEP(SENDS, SLOT, OBJECT);
	stops();
	runs(2);
	STEP(RECEIVES, SLOT, OBJECT, STACK, STACK);
	event(TRACE_BROKEN, USES, 0, 0);
	STEP(USES, OBJECT + 8, 0);
	stops();
	assert_int_equal(track(2), 0);
}

/* Thread 3 may have stored there since. */
static void steps_that_are_missing_may_have_stored_it(void **state)
{
	const struct trace_stream_end end = { .thread = 3, .dropped = 1 };

	(void)state;
	runs(1);
	STEP(SENDS, SLOT, OBJECT);
	stops();
	steps++;
	runs(3);
	STEP(SENDS, OTHER, 0);
	stops();
	writer_chunk(&writer, TRACE_STREAM_END, &end, sizeof(end), NULL, 0);
	runs(2);
	receive_and_use(SLOT, OBJECT);
	stops();
	assert_int_equal(track(2), 0);
}

#define TEST(name) \
	cmocka_unit_test_setup_teardown(name, set_up_each, tear_down_each)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_stored_address_is_handed_over),
		TEST(a_failed_compare_and_swap_sends_nothing),
		TEST(one_that_succeeded_does),
		TEST(what_was_received_is_what_was_sent),
		TEST(an_address_of_another_block_is_another_one),
		TEST(an_index_is_no_address),
		TEST(a_third_thread_hands_it_on),
		TEST(the_first_store_of_the_address_counts),
		TEST(that_of_the_same_step_too),
		TEST(a_store_of_16_bytes_may_be_of_the_address),
		TEST(a_freed_block_is_handed_over_by_the_allocator),
		TEST(nothing_is_tracked_through_a_broken_superblock),
		TEST(steps_that_are_missing_may_have_stored_it),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
