/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * src/hunt/transfer-track.c: threads that hand an address over.
 */
#include "transfer-trace.h"

#include "hunt/executed.h"
#include "hunt/transfer-track.h"

/* Variables of the module. */
enum { VARIABLE = 0x8000, OTHER_VARIABLE = 0x8100 };

static struct executed *executed;
static struct transfer_tracker *tracker;
static struct vec transfers;

static int set_up_each(void **state)
{
	transfers = (struct vec)VEC_INIT(struct transfer);
	return trace_set_up(state);
}

static int tear_down_each(void **state)
{
	vec_deinit(&transfers);
	transfer_tracker_destroy(tracker);
	executed_destroy(executed);
	recording_close(&recording);
	tracker = NULL;
	executed = NULL;
	return trace_tear_down(state);
}

static uint64_t instructions;

/* How many hand-overs lead to that access? */
static size_t track_access(const struct transfer_question *question)
{
	writer_end(&writer, steps);
	assert_null(recording_open(writer.path, &recording));
	assert_null(executed_create(&recording, &executed));
	assert_null(transfer_tracker_create(executed, decoder, &tracker));
	assert_null(
		transfer_track(tracker, question, &transfers, &instructions));
	return transfers.count;
}

/* The thread's last step uses the object. */
static size_t track_from(uint32_t superblock, uint64_t address, uint32_t thread)
{
	return track_access(&(struct transfer_question){
		.access = { .thread = thread,
			    .superblock = superblock,
			    .number = steps },
		.address = address,
		.block = OBJECT,
		.block_size = BLOCK,
		.instructions = 100000,
	});
}

/* The last step of thread 2 uses what is in no heap block. */
static size_t track_static(uint64_t address)
{
	return track_access(&(struct transfer_question){
		.access = { .thread = 2, .superblock = USES, .number = steps },
		.address = address,
		.instructions = 100000,
	});
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
	runs(1);
	STEP(SENDS, OTHER, 0);
	STEP(SENDS_TWICE, SLOT, OBJECT, SLOT, OBJECT);
	stops();
	runs(2);
	receive_and_use(SLOT, OBJECT);
	stops();
	assert_int_equal(track(2), 1);
	assert_int_equal(transfer_at(0)->sent.number, 2);
	assert_int_equal(transfer_at(0)->sent.access, 0);
}

static void another_thread_that_stored_it_before_may_be_the_sender(void **state)
{
	(void)state;
	runs(3);
	STEP(SENDS, SLOT, OBJECT);
	stops();
	runs(1);
	STEP(SENDS, SLOT, OBJECT);
	stops();
	runs(2);
	receive_and_use(SLOT, OBJECT);
	stops();
	assert_int_equal(track(2), 0);
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

/* Both are variables: it may be there from the start. */
static void a_variable_may_have_it_from_the_start(void **state)
{
	(void)state;
	runs(1);
	STEP(SENDS, VARIABLE, OTHER_VARIABLE);
	stops();
	runs(2);
	receive_and_use(VARIABLE, OTHER_VARIABLE);
	stops();
	assert_int_equal(track_static(OTHER_VARIABLE + 8), 0);
}

static void not_of_what_is_no_variable(void **state)
{
	(void)state;
	runs(1);
	STEP(SENDS, SLOT, OTHER_VARIABLE);
	stops();
	runs(2);
	receive_and_use(SLOT, OTHER_VARIABLE);
	stops();
	assert_int_equal(track_static(OTHER_VARIABLE + 8), 1);
}

/* Of two addresses of the object, that is received which is used. */
static void a_vector_is_moved_word_by_word(void **state)
{
	(void)state;
	runs(3);
	STEP(SENDS, SLOT, OBJECT + 16);
	stops();
	runs(1);
	STEP(SENDS, SLOT + 8, OBJECT);
	stops();
	runs(2);
	STEP(MOVES_16, SLOT, STACK - 16, STACK - 8, OBJECT);
	STEP(USES, OBJECT + 8, 0);
	stops();
	assert_int_equal(track(2), 1);
	assert_int_equal(transfer_at(0)->sent.thread, 1);
	assert_int_equal(transfer_at(0)->address, SLOT + 8);
	assert_int_equal(transfer_at(0)->value, OBJECT);
}

/* Nor does the recorder know what was in it: the value that was used is it. */
static void a_stored_vector_has_what_became_of_it(void **state)
{
	(void)state;
	runs(1);
	STEP(STORES_16, SLOT);
	stops();
	runs(2);
	STEP(MOVES_16, SLOT, STACK - 16, STACK - 8, OBJECT);
	STEP(USES, OBJECT + 8, 0);
	stops();
	assert_int_equal(track(2), 1);
	assert_int_equal(transfer_at(0)->sent.thread, 1);
	assert_int_equal(transfer_at(0)->value, OBJECT);
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

/* A system call of 8 bytes: those at the address, which are the object's. */
static void moves(uint64_t address, uint64_t position, uint64_t flags)
{
	const uint64_t numbers[] = { 1, 4, 1, position, 8, flags };

	step(CALLS, NULL, 0);
	event(TRACE_MOVED_PART, address, 8, OBJECT);
	packer_event(&packer, TRACE_MOVED, numbers);
}

static void pipe_with(uint64_t position)
{
	const struct trace_channel channel = { .id = 1, .kind = TRACE_PIPE };

	writer_chunk(&writer, TRACE_CHANNEL, &channel, sizeof(channel), NULL,
		     0);
	runs(3);
	STEP(SENDS, SLOT, OBJECT);
	stops();
	runs(1);
	STEP(RELAYS, SLOT, OBJECT, OTHER, OBJECT);
	moves(OTHER, 0, 0);
	stops();
	runs(2);
	moves(STACK, position, TRACE_RECEIVED);
	receive_and_use(STACK, OBJECT);
	stops();
}

static void a_pipe_hands_over_what_was_sent_at_its_place(void **state)
{
	(void)state;
	pipe_with(0);
	assert_int_equal(track(2), 2);
	assert_int_equal(transfer_at(0)->kind, TRANSFER_CALL);
	assert_int_equal(transfer_at(0)->sent.thread, 1);
	assert_int_equal(transfer_at(0)->sent.number, 3);
	assert_int_equal(transfer_at(0)->sent.superblock, CALLS);
	assert_int_equal(transfer_at(0)->received.superblock, RECEIVES);
	/* and who gave it to the sender */
	assert_int_equal(transfer_at(1)->sent.thread, 3);
	assert_int_equal(transfer_at(1)->next, 1);
}

static void what_was_sent_elsewhere_is_not_it(void **state)
{
	(void)state;
	pipe_with(64);
	assert_int_equal(track(2), 0);
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
		TEST(another_thread_that_stored_it_before_may_be_the_sender),
		TEST(a_store_of_16_bytes_may_be_of_the_address),
		TEST(a_variable_may_have_it_from_the_start),
		TEST(not_of_what_is_no_variable),
		TEST(a_vector_is_moved_word_by_word),
		TEST(a_stored_vector_has_what_became_of_it),
		TEST(a_freed_block_is_handed_over_by_the_allocator),
		TEST(a_pipe_hands_over_what_was_sent_at_its_place),
		TEST(what_was_sent_elsewhere_is_not_it),
		TEST(nothing_is_tracked_through_a_broken_superblock),
		TEST(steps_that_are_missing_may_have_stored_it),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
