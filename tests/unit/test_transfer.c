/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * src/hunt/transfer.c, transfer-instances.c and transfer-published.c: which pairs a
 * handed-over address puts in order. Thread 1 writes to the object before it sends its
 * address, or afterwards; thread 2 receives it.
 */
#include "transfer-trace.h"

#include "hunt/executed.h"
#include "hunt/order.h"
#include "hunt/pairs.h"
#include "hunt/transfer.h"

enum { FIELD = OBJECT + 8, VARIABLE = 0x8000 };
/* What has the object's address in it. */
enum { CONTAINER = 0x60000, LINK = CONTAINER + 8 };
/* Descriptors. */
enum { WRITER = 1, READER, RECEIVER, THROUGH, VECTOR };

static struct order *order;
static struct pairs pairs;
static struct transfers transfers;
static uint32_t block; /* of the cells from now on */
static uint16_t crowded; /* their flags */

static int set_up_each(void **state)
{
	pairs_init(&pairs);
	transfers_init(&transfers);
	trace_set_up(state);
	writer_descriptor(&writer, WRITER, TRACE_WRITES, 0x100 * SENDS, NULL,
			  0);
	writer_descriptor(&writer, READER, TRACE_READS, 0x100 * USES, NULL, 0);
	writer_descriptor(&writer, RECEIVER, TRACE_READS, 0x100 * RECEIVES,
			  NULL, 0);
	writer_descriptor(&writer, THROUGH, TRACE_WRITES, 0x100 * WRITES, NULL,
			  0);
	writer_descriptor(&writer, VECTOR, TRACE_WRITES, 0x100 * STORES_16,
			  NULL, 0);
	block = 0;
	crowded = 0;
	return 0;
}

static int tear_down_each(void **state)
{
	transfers_deinit(&transfers);
	pairs_deinit(&pairs);
	order_destroy(order);
	recording_close(&recording);
	order = NULL;
	return trace_tear_down(state);
}

static void cell_at(uint64_t address, uint32_t thread, uint32_t descriptor,
		    uint64_t first, uint64_t last, uint32_t count)
{
	struct trace_cell cell =
		writer_cell(address, thread, descriptor, first);

	cell.last = last;
	cell.count = count;
	cell.block = block;
	cell.flags = crowded;
	writer_add(&writer, &cell);
}

static void cell(uint32_t thread, uint32_t descriptor, uint64_t first,
		 uint64_t last, uint32_t count)
{
	cell_at(FIELD, thread, descriptor, first, last, count);
}

static bool may_conflict(const struct trace_cell *a, const struct trace_cell *b)
{
	return a->thread < b->thread && a->block == b->block &&
	       a->address == b->address &&
	       (a->address == FIELD || a->address == LINK);
}

/*
 * Those of different threads to the field, or the link, conflict, by the places of
 * their descriptors.
 */
static void keep_conflicts(void)
{
	const struct trace_cell *cells = recording.cells.items;

	for (uint32_t i = 0; i < recording.cells.count; i++) {
		for (uint32_t n = 0; n < recording.cells.count; n++) {
			const struct pair_conflict conflict = {
				.cell = i,
				.other = n,
				.place = cells[i].descriptor,
				.other_place = cells[n].descriptor,
			};

			if (may_conflict(&cells[i], &cells[n]))
				assert_true(
					vec_push(&pairs.conflicts, &conflict));
		}
	}
}

static void read_recording(void)
{
	assert_null(recording_open(writer.path, &recording));
	assert_null(order_create(&recording, &order));
	keep_conflicts();
}

/* Of the recording as it is. */
static const struct transfer_pair *judge_again(uint32_t number)
{
	const struct transfer_pair *pair;

	read_recording();
	assert_null(
		transfers_judge(&transfers, &pairs, &recording, number, order));
	pair = transfers_find(&transfers, READER, WRITER);
	assert_non_null(pair);
	assert_ptr_equal(pair, transfers_find(&transfers, WRITER, READER));
	return pair;
}

static const struct transfer_pair *judge(void)
{
	writer_end(&writer, steps);
	return judge_again(0);
}

static void writes_and_sends(void)
{
	STEP(SENDS, FIELD, 7);
	STEP(SENDS, SLOT, OBJECT);
}

static void a_hand_over_orders_what_came_before_it(void **state)
{
	const struct transfer_pair *pair;
	const struct transfer_link *link;

	(void)state;
	runs(1);
	writes_and_sends();
	stops();
	runs(2);
	receive_and_use(SLOT, OBJECT);
	stops();
	cell(1, WRITER, 1, 1, 1);
	cell(2, READER, 4, 4, 1);
	pair = judge();
	assert_int_equal(pair->lack, TRANSFER_ORDERED);
	assert_int_equal(pair->orders, 1);
	assert_int_equal(pair->earlier.number, 1);
	assert_int_equal(pair->later.number, 4);
	assert_int_equal(pair->address, FIELD);
	assert_int_equal(pair->chain.count, 1);
	link = vec_at(&pair->chain, 0);
	assert_int_equal(link->transfer.sent.number, 2);
	assert_int_equal(link->sent.offset, 0x100 * SENDS);
	assert_int_equal(link->transfer.received.number, 3);
	assert_int_equal(link->received.offset, 0x100 * RECEIVES);
}

static void what_comes_after_it_is_not_ordered(void **state)
{
	(void)state;
	runs(1);
	STEP(SENDS, SLOT, OBJECT);
	STEP(SENDS, FIELD, 7);
	stops();
	runs(2);
	receive_and_use(SLOT, OBJECT);
	stops();
	cell(1, WRITER, 2, 2, 1);
	cell(2, READER, 4, 4, 1);
	assert_int_equal(judge()->lack, TRANSFER_NONE);
}

/* The first two are, but the writer's second execution is late. */
static void all_executions_are_to_be_ordered(void **state)
{
	(void)state;
	runs(1);
	writes_and_sends();
	stops();
	runs(2);
	receive_and_use(SLOT, OBJECT);
	stops();
	runs(1);
	STEP(SENDS, FIELD, 8);
	stops();
	cell(1, WRITER, 1, 5, 2);
	cell(2, READER, 4, 4, 1);
	assert_int_equal(judge()->lack, TRANSFER_NONE);
}

static void a_way_back_is_a_hand_over_too(void **state)
{
	(void)state;
	runs(1);
	writes_and_sends();
	stops();
	runs(2);
	receive_and_use(SLOT, OBJECT);
	STEP(SENDS, OTHER, OBJECT);
	stops();
	runs(1);
	receive_and_use(OTHER, OBJECT);
	stops();
	cell(1, WRITER, 1, 1, 1);
	cell(2, READER, 4, 4, 1);
	cell(1, READER, 7, 7, 1);
	assert_int_equal(judge()->lack, TRANSFER_ORDERED);
	assert_int_equal(transfers_find(&transfers, READER, READER)->lack,
			 TRANSFER_ORDERED);
}

static void every_execution_is_to_be_in_the_recording(void **state)
{
	(void)state;
	runs(1);
	writes_and_sends();
	stops();
	runs(2);
	receive_and_use(SLOT, OBJECT);
	stops();
	cell(1, WRITER, 1, 1, 2);
	cell(2, READER, 4, 4, 1);
	assert_int_equal(judge()->lack, TRANSFER_LOST);
}

static void a_recording_without_an_end_orders_nothing(void **state)
{
	(void)state;
	runs(1);
	writes_and_sends();
	stops();
	runs(2);
	receive_and_use(SLOT, OBJECT);
	stops();
	cell(1, WRITER, 1, 1, 1);
	cell(2, READER, 4, 4, 1);
	fflush(writer.file);
	assert_int_equal(judge_again(0)->lack, TRANSFER_LOST);
	assert_int_equal(transfers.lacking, 1);
}

static void block_at(uint32_t id, uint64_t address, uint64_t size)
{
	const struct trace_block head = {
		.id = id, .thread = 1, .address = address, .size = size
	};

	writer_chunk(&writer, TRACE_BLOCK, &head, sizeof(head), NULL, 0);
	block = id;
}

/* One that has no cells, or events, of some may lack executions and creations. */
static void assert_lacks(const struct trace_end *end)
{
	runs(1);
	writes_and_sends();
	stops();
	runs(2);
	receive_and_use(SLOT, OBJECT);
	stops();
	cell(1, WRITER, 1, 1, 1);
	cell(2, READER, 4, 4, 1);
	writer_chunk(&writer, TRACE_END, end, sizeof(*end), NULL, 0);
	fflush(writer.file);
	assert_int_equal(judge_again(0)->lack, TRANSFER_LOST);
	assert_int_equal(transfers.lacking, 1);
}

static void nor_does_one_that_lacks_memory_for_cells(void **state)
{
	(void)state;
	assert_lacks(&(struct trace_end){ .sequence = 4, .starved_cells = 1 });
}

static void nor_does_one_that_lacks_events(void **state)
{
	(void)state;
	assert_lacks(&(struct trace_end){ .sequence = 4, .dropped_events = 1 });
}

static void nor_does_one_that_another_process_ended(void **state)
{
	(void)state;
	assert_lacks(
		&(struct trace_end){ .sequence = 4, .reason = TRACE_KILLED });
}

/* Thread 1 writes once more, by a stack that has no cell. */
static const struct transfer_pair *judge_dropped(uint64_t dropped)
{
	const struct trace_end end = { .sequence = 5,
				       .dropped_cells = dropped };

	runs(1);
	writes_and_sends();
	stops();
	runs(2);
	receive_and_use(SLOT, OBJECT);
	stops();
	runs(1);
	STEP(SENDS, FIELD, 8);
	stops();
	cell(1, WRITER, 1, 1, 1);
	cell(2, READER, 4, 4, 1);
	writer_chunk(&writer, TRACE_END, &end, sizeof(end), NULL, 0);
	fflush(writer.file);
	return judge_again(0);
}

static void executions_without_a_cell_count(void **state)
{
	(void)state;
	assert_int_equal(judge_dropped(1)->lack, TRANSFER_NONE);
}

static void but_those_of_other_blocks_do_not(void **state)
{
	(void)state;
	block_at(1, OBJECT, BLOCK);
	block_at(2, OBJECT, BLOCK);
	cell(1, WRITER, 5, 5, 1);
	block = 1;
	assert_int_equal(judge_dropped(1)->lack, TRANSFER_ORDERED);
}

static void of_a_crowded_granule_executions_are_lost(void **state)
{
	(void)state;
	crowded = TRACE_CROWDED;
	assert_int_equal(judge_dropped(1)->lack, TRANSFER_LOST);
}

static void a_pair_is_ordered_in_all_recordings(void **state)
{
	(void)state;
	runs(1);
	writes_and_sends();
	stops();
	runs(2);
	receive_and_use(SLOT, OBJECT);
	stops();
	cell(1, WRITER, 1, 1, 1);
	cell(2, READER, 4, 4, 1);
	assert_int_equal(judge()->lack, TRANSFER_ORDERED);
	/* the same without a total order */
	order_destroy(order);
	recording_close(&recording);
	writer.file = fopen(writer.path, "r+e");
	assert_non_null(writer.file);
	fwrite(&(struct trace_header){ .magic = TRACE_MAGIC,
				       .version = TRACE_VERSION,
				       .recorder = TRACE_BY_QEMU },
	       sizeof(struct trace_header), 1, writer.file);
	fclose(writer.file);
	writer.file = NULL;
	vec_clear(&pairs.conflicts);
	assert_int_equal(judge_again(1)->lack, TRANSFER_LOST);
}

/* Thread 1 writes to the field in that step, thread 2 reads it in the other one. */
static void assert_tried(uint64_t writes, uint64_t reads)
{
	cell(1, WRITER, writes, writes, 1);
	cell(2, READER, reads, reads, 1);
	assert_int_equal(judge()->lack, TRANSFER_NONE);
}

static void a_second_use_by_another_pointer_is_asked_for(void **state)
{
	(void)state;
	runs(1);
	STEP(SENDS, OTHER, OBJECT);
	writes_and_sends();
	stops();
	runs(2);
	receive_and_use(SLOT, OBJECT);
	receive_and_use(OTHER, OBJECT);
	stops();
	cell(1, WRITER, 2, 2, 1);
	cell(2, READER, 5, 7, 2);
	assert_int_equal(judge()->lack, TRANSFER_NONE);
}

/* Thread 1 stores the address in `other', and writes and sends then. */
static void publishes_first(uint64_t other)
{
	runs(1);
	STEP(SENDS, other, OBJECT);
	writes_and_sends();
	stops();
	runs(2);
	receive_and_use(SLOT, OBJECT);
	STEP(RECEIVES, other, OBJECT, STACK, STACK);
	stops();
	cell(1, WRITER, 2, 2, 1);
	cell(2, READER, 5, 5, 1);
	cell_at(other, 1, WRITER, 1, 1, 1);
}

static void it_may_have_been_in_a_variable_before(void **state)
{
	(void)state;
	publishes_first(VARIABLE);
	cell_at(VARIABLE, 2, RECEIVER, 6, 6, 1);
	assert_int_equal(judge()->lack, TRANSFER_NONE);
}

static void or_in_memory_that_others_had_read(void **state)
{
	(void)state;
	publishes_first(OTHER);
	cell_at(OTHER, 3, RECEIVER, 2, 2, 1);
	assert_int_equal(judge()->lack, TRANSFER_NONE);
}

/* That memory may have been handed over with it. */
static void but_not_in_memory_that_they_read_afterwards(void **state)
{
	(void)state;
	publishes_first(OTHER);
	cell_at(OTHER, 2, RECEIVER, 6, 6, 1);
	assert_int_equal(judge()->lack, TRANSFER_ORDERED);
}

static void nor_where_they_only_write(void **state)
{
	(void)state;
	runs(1);
	STEP(SENDS, VARIABLE, OBJECT);
	writes_and_sends();
	stops();
	runs(2);
	receive_and_use(SLOT, OBJECT);
	STEP(SENDS, VARIABLE, 0);
	stops();
	cell(1, WRITER, 2, 2, 1);
	cell(2, READER, 5, 5, 1);
	cell_at(VARIABLE, 1, WRITER, 1, 1, 1);
	cell_at(VARIABLE, 2, WRITER, 6, 6, 1);
	assert_int_equal(judge()->lack, TRANSFER_ORDERED);
}

/* A damaged trace, or a huge block: its pages are not counted one by one. */
static void blocks_may_be_of_any_size(void **state)
{
	(void)state;
	block_at(1, OBJECT, UINT64_C(1) << 60);
	publishes_first(VARIABLE);
	block = 0;
	cell_at(VARIABLE, 2, RECEIVER, 6, 6, 1);
	assert_int_equal(judge()->lack, TRANSFER_NONE);
}

/* Of one that was freed there, the last access is up to 255 too low. */
static void it_may_be_in_either_of_two_blocks(void **state)
{
	(void)state;
	publishes_first(OTHER);
	block_at(1, OTHER, BLOCK);
	cell_at(OTHER, 1, WRITER, 0, 0, 2);
	block_at(2, OTHER, BLOCK);
	cell_at(OTHER, 1, WRITER, 1, 1, 2); /* in place of that of none */
	cell_at(OTHER, 3, RECEIVER, 2, 2, 1);
	assert_int_equal(judge()->lack, TRANSFER_NONE);
}

/* Thread 1 stores 16 bytes from a vector register, and writes and sends then. */
static void stores_vector_first(uint64_t location)
{
	runs(1);
	STEP(STORES_16, location);
	writes_and_sends();
	stops();
	runs(2);
	receive_and_use(SLOT, OBJECT);
	stops();
	cell(1, WRITER, 2, 2, 1);
	cell(2, READER, 5, 5, 1);
}

static void it_may_have_been_in_a_vector(void **state)
{
	(void)state;
	stores_vector_first(VARIABLE);
	cell_at(VARIABLE, 1, VECTOR, 1, 1, 1);
	cell_at(VARIABLE, 2, RECEIVER, 6, 6, 1);
	assert_int_equal(judge()->lack, TRANSFER_NONE);
}

static void or_in_its_second_word(void **state)
{
	(void)state;
	stores_vector_first(OTHER);
	cell_at(OTHER + 8, 1, VECTOR, 1, 1, 1);
	cell_at(OTHER + 8, 3, RECEIVER, 2, 2, 1);
	assert_int_equal(judge()->lack, TRANSFER_NONE);
}

static void but_not_in_one_that_they_read_afterwards(void **state)
{
	(void)state;
	stores_vector_first(OTHER);
	cell_at(OTHER, 1, VECTOR, 1, 1, 1);
	cell_at(OTHER, 2, RECEIVER, 6, 6, 1);
	assert_int_equal(judge()->lack, TRANSFER_ORDERED);
}

/* It is made ready for its next use. */
static void nor_in_the_object_itself(void **state)
{
	(void)state;
	block_at(1, OBJECT, BLOCK);
	stores_vector_first(OBJECT + 16);
	cell_at(OBJECT + 16, 1, VECTOR, 1, 1, 1);
	cell_at(OBJECT + 16, 3, RECEIVER, 2, 2, 1);
	assert_int_equal(judge()->lack, TRANSFER_ORDERED);
}

/* Thread 1 sends the address, and thread 3 puts something else in its place. */
static void sends_in_vain(void)
{
	runs(1);
	STEP(SENDS, SLOT, OBJECT);
	stops();
	runs(3);
	STEP(RELAYS, SLOT, OBJECT, OTHER, OBJECT);
	STEP(SENDS, SLOT, 0);
	stops();
	runs(1);
	cell_at(SLOT, 1, WRITER, 1, 6, 2);
	cell_at(SLOT, 3, RECEIVER, 2, 2, 1);
}

static void what_another_one_has_replaced_was_sent(void **state)
{
	(void)state;
	sends_in_vain();
	STEP(SENDS, OTHER, 0);
	writes_and_sends();
	stops();
	runs(2);
	receive_and_use(SLOT, OBJECT);
	stops();
	assert_tried(5, 8);
}

static void what_came_back_counts_from_then_on(void **state)
{
	(void)state;
	sends_in_vain();
	STEP(RECEIVES, OTHER, OBJECT, STACK, STACK);
	STEP(WRITES, FIELD, 7);
	STEP(SENDS, SLOT, OBJECT);
	stops();
	runs(2);
	receive_and_use(SLOT, OBJECT);
	stops();
	cell(1, THROUGH, 5, 5, 1);
	cell(2, READER, 8, 8, 1);
	writer_end(&writer, steps);
	read_recording();
	assert_null(transfers_judge(&transfers, &pairs, &recording, 0, order));
	assert_int_equal(transfers_find(&transfers, THROUGH, READER)->lack,
			 TRANSFER_ORDERED);
}

/*
 * Thread 1 shows the object in a variable before it sends it; it comes back, is
 * written to, and goes another way.
 */
static void shows_it_in_an_earlier_round(uint64_t left_there)
{
	runs(1);
	STEP(SENDS, VARIABLE, OBJECT);
	STEP(SENDS, SLOT, OBJECT);
	STEP(SENDS, VARIABLE, left_there);
	stops();
	runs(2);
	STEP(RELAYS, SLOT, OBJECT, OTHER, OBJECT);
	stops();
	runs(1);
	STEP(RECEIVES, OTHER, OBJECT, STACK, STACK);
	STEP(WRITES, FIELD, 7);
	STEP(SENDS, SLOT + 8, OBJECT);
	stops();
	runs(2);
	receive_and_use(SLOT + 8, OBJECT);
	stops();
	cell(1, THROUGH, 6, 6, 1);
	cell(2, READER, 9, 9, 1);
	cell_at(VARIABLE, 1, WRITER, 1, 3, 2);
	cell_at(VARIABLE, 3, RECEIVER, 2, 4, 2);
	writer_end(&writer, steps);
	read_recording();
	assert_null(transfers_judge(&transfers, &pairs, &recording, 0, order));
}

static void it_may_be_in_a_variable_from_an_earlier_round(void **state)
{
	(void)state;
	shows_it_in_an_earlier_round(OBJECT);
	assert_int_equal(transfers_find(&transfers, THROUGH, READER)->lack,
			 TRANSFER_NONE);
}

static void but_not_if_that_has_something_else_by_now(void **state)
{
	(void)state;
	shows_it_in_an_earlier_round(0);
	assert_int_equal(transfers_find(&transfers, THROUGH, READER)->lack,
			 TRANSFER_ORDERED);
}

/*
 * Thread 1 shows the object in a variable, gives it away, and has it back; the
 * variable is cleared after that, by the thread `clears', and then it is written to.
 */
static void clears_it_late(uint32_t clears)
{
	runs(1);
	STEP(SENDS, VARIABLE, OBJECT);
	STEP(SENDS, SLOT, OBJECT);
	stops();
	runs(2);
	STEP(RELAYS, SLOT, OBJECT, OTHER, OBJECT);
	stops();
	runs(1);
	STEP(RECEIVES, OTHER, OBJECT, STACK, STACK);
	stops();
	runs(clears);
	STEP(SENDS, VARIABLE, 0);
	stops();
	runs(1);
	STEP(WRITES, FIELD, 7);
	STEP(SENDS, SLOT + 8, OBJECT);
	stops();
	runs(2);
	receive_and_use(SLOT + 8, OBJECT);
	stops();
	cell(1, THROUGH, 6, 6, 1);
	cell(2, READER, 9, 9, 1);
	cell_at(VARIABLE, 1, WRITER, 1, 1, 1);
	cell_at(VARIABLE, clears, WRITER, 5, 5, 1);
	cell_at(VARIABLE, 3, RECEIVER, 2, 4, 2);
	writer_end(&writer, steps);
	read_recording();
	assert_null(transfers_judge(&transfers, &pairs, &recording, 0, order));
}

/* Until it is cleared, others may have it from there. */
static void nor_if_it_was_taken_out_after_the_object_came(void **state)
{
	(void)state;
	clears_it_late(1);
	assert_int_equal(transfers_find(&transfers, THROUGH, READER)->lack,
			 TRANSFER_NONE);
}

static void whoever_has_taken_it_out(void **state)
{
	(void)state;
	clears_it_late(3);
	assert_int_equal(transfers_find(&transfers, THROUGH, READER)->lack,
			 TRANSFER_NONE);
}

/*
 * Thread 1 puts the object where it gets it back: by an exchange, which leaves nothing
 * there, or by a load and a store.
 */
static void takes_it_out(bool at_once)
{
	runs(1);
	STEP(SENDS, OTHER, OBJECT);
	STEP(SENDS, OTHER, 0);
	STEP(SENDS, SLOT, OBJECT);
	stops();
	runs(2);
	STEP(RELAYS, SLOT, OBJECT, OTHER, OBJECT);
	stops();
	runs(1);
	if (at_once) {
		STEP(COUNTS, OTHER, OBJECT, OTHER, 0, 1);
		STEP(ALLOCATED);
	} else {
		STEP(RECEIVES, OTHER, OBJECT, STACK, STACK);
		STEP(SENDS, OTHER, 0);
	}
	STEP(WRITES, FIELD, 7);
	STEP(SENDS, SLOT + 8, OBJECT);
	stops();
	runs(2);
	receive_and_use(SLOT + 8, OBJECT);
	stops();
	cell(1, THROUGH, 7, 7, 1);
	cell(2, READER, 10, 10, 1);
	cell_at(OTHER, 1, WRITER, 1, 2, 2);
	cell_at(OTHER, 3, RECEIVER, 2, 2, 1);
	writer_end(&writer, steps);
	read_recording();
	assert_null(transfers_judge(&transfers, &pairs, &recording, 0, order));
}

static void but_not_what_an_exchange_has_left(void **state)
{
	(void)state;
	takes_it_out(true);
	assert_int_equal(transfers_find(&transfers, THROUGH, READER)->lack,
			 TRANSFER_ORDERED);
}

static void between_a_load_and_a_store_others_may_look(void **state)
{
	(void)state;
	takes_it_out(false);
	assert_int_equal(transfers_find(&transfers, THROUGH, READER)->lack,
			 TRANSFER_NONE);
}

/* The earlier round's store is in memory of the heap, which others had read. */
static void so_may_it_be_in_memory_that_others_had_read(void **state)
{
	enum { TABLE = 0x38000 };

	(void)state;
	runs(1);
	STEP(SENDS, TABLE, OBJECT);
	STEP(SENDS, SLOT, OBJECT);
	stops();
	runs(3);
	STEP(RECEIVES, TABLE, OBJECT, STACK, STACK);
	stops();
	runs(2);
	STEP(RELAYS, SLOT, OBJECT, OTHER, OBJECT);
	stops();
	runs(1);
	STEP(RECEIVES, OTHER, OBJECT, STACK, STACK);
	STEP(WRITES, FIELD, 7);
	STEP(SENDS, SLOT + 8, OBJECT);
	stops();
	runs(2);
	receive_and_use(SLOT + 8, OBJECT);
	stops();
	cell(1, THROUGH, 6, 6, 1);
	cell(2, READER, 9, 9, 1);
	cell_at(TABLE, 1, WRITER, 1, 1, 1);
	cell_at(TABLE, 3, RECEIVER, 3, 3, 1);
	writer_end(&writer, steps);
	read_recording();
	assert_null(transfers_judge(&transfers, &pairs, &recording, 0, order));
	assert_int_equal(transfers_find(&transfers, THROUGH, READER)->lack,
			 TRANSFER_NONE);
}

/* Another thread has put the address there once more: it is there still. */
static void another_thread_may_have_put_it_back_there(void **state)
{
	(void)state;
	runs(1);
	STEP(SENDS, VARIABLE, OBJECT);
	STEP(SENDS, SLOT, OBJECT);
	stops();
	runs(2);
	STEP(RELAYS, SLOT, OBJECT, VARIABLE, OBJECT);
	STEP(SENDS, OTHER, OBJECT);
	stops();
	runs(1);
	STEP(RECEIVES, OTHER, OBJECT, STACK, STACK);
	STEP(WRITES, FIELD, 7);
	STEP(SENDS, SLOT + 8, OBJECT);
	stops();
	runs(2);
	receive_and_use(SLOT + 8, OBJECT);
	stops();
	cell(1, THROUGH, 6, 6, 1);
	cell(2, READER, 9, 9, 1);
	cell_at(VARIABLE, 1, WRITER, 1, 1, 1);
	cell_at(VARIABLE, 2, RECEIVER, 9, 9, 1);
	writer_end(&writer, steps);
	read_recording();
	assert_null(transfers_judge(&transfers, &pairs, &recording, 0, order));
	assert_int_equal(transfers_find(&transfers, THROUGH, READER)->lack,
			 TRANSFER_NONE);
}

/* Of a vector that was stored, the first word is another one by now. */
static void or_it_is_the_second_word_of_a_vector(void **state)
{
	(void)state;
	runs(1);
	STEP(STORES_16, VARIABLE);
	STEP(SENDS, SLOT, OBJECT);
	STEP(SENDS, VARIABLE, 0);
	stops();
	runs(2);
	STEP(RELAYS, SLOT, OBJECT, OTHER, OBJECT);
	stops();
	runs(1);
	STEP(RECEIVES, OTHER, OBJECT, STACK, STACK);
	STEP(WRITES, FIELD, 7);
	STEP(SENDS, SLOT + 8, OBJECT);
	stops();
	runs(2);
	receive_and_use(SLOT + 8, OBJECT);
	stops();
	cell(1, THROUGH, 6, 6, 1);
	cell(2, READER, 9, 9, 1);
	cell_at(VARIABLE, 1, VECTOR, 1, 1, 1);
	cell_at(VARIABLE, 3, RECEIVER, 2, 4, 2);
	cell_at(VARIABLE + 8, 1, VECTOR, 1, 1, 1);
	cell_at(VARIABLE + 8, 3, RECEIVER, 2, 4, 2);
	writer_end(&writer, steps);
	read_recording();
	assert_null(transfers_judge(&transfers, &pairs, &recording, 0, order));
	assert_int_equal(transfers_find(&transfers, THROUGH, READER)->lack,
			 TRANSFER_NONE);
}

/* It was made ready for its first use; who reads it there has the address. */
static void but_not_what_is_in_the_object_itself(void **state)
{
	(void)state;
	block_at(1, OBJECT, BLOCK);
	runs(1);
	STEP(STORES_16, OBJECT + 16);
	STEP(SENDS, VARIABLE, OBJECT);
	STEP(SENDS, VARIABLE, 0);
	STEP(SENDS, SLOT, OBJECT);
	stops();
	runs(2);
	STEP(RELAYS, SLOT, OBJECT, OTHER, OBJECT);
	stops();
	runs(1);
	STEP(RECEIVES, OTHER, OBJECT, STACK, STACK);
	STEP(WRITES, FIELD, 7);
	STEP(SENDS, SLOT + 8, OBJECT);
	stops();
	runs(2);
	receive_and_use(SLOT + 8, OBJECT);
	stops();
	cell(1, THROUGH, 7, 7, 1);
	cell(2, READER, 10, 10, 1);
	cell_at(OBJECT + 16, 1, VECTOR, 1, 1, 1);
	cell_at(OBJECT + 16, 3, RECEIVER, 5, 5, 1);
	cell_at(VARIABLE, 1, WRITER, 2, 3, 2);
	cell_at(VARIABLE, 3, RECEIVER, 3, 3, 1);
	writer_end(&writer, steps);
	read_recording();
	assert_null(transfers_judge(&transfers, &pairs, &recording, 0, order));
	assert_int_equal(transfers_find(&transfers, THROUGH, READER)->lack,
			 TRANSFER_ORDERED);
}

/* A reader whose later stack has no cell. */
static void a_reader_may_come_again_without_a_cell(void **state)
{
	const struct trace_end end = { .sequence = 7, .dropped_cells = 1 };

	(void)state;
	runs(3);
	STEP(RECEIVES, OTHER, 0, STACK, STACK);
	stops();
	runs(1);
	STEP(SENDS, OTHER, OBJECT);
	stops();
	runs(3);
	STEP(RECEIVES, OTHER, OBJECT, STACK, STACK);
	stops();
	runs(1);
	writes_and_sends();
	stops();
	runs(2);
	receive_and_use(SLOT, OBJECT);
	stops();
	cell(1, WRITER, 4, 4, 1);
	cell(2, READER, 7, 7, 1);
	cell_at(OTHER, 1, WRITER, 2, 2, 1);
	cell_at(OTHER, 3, RECEIVER, 1, 1, 1);
	writer_chunk(&writer, TRACE_END, &end, sizeof(end), NULL, 0);
	fflush(writer.file);
	assert_int_equal(judge_again(0)->lack, TRANSFER_NONE);
}

/* As before, but that thread has read there before in another block only. */
static void but_not_in_another_block(void **state)
{
	const struct trace_end end = { .sequence = 8, .dropped_cells = 1 };

	(void)state;
	runs(1);
	STEP(SENDS, OTHER, 0);
	stops();
	runs(3);
	STEP(RECEIVES, OTHER, 0, STACK, STACK);
	stops();
	runs(1);
	STEP(SENDS, OTHER, 0);
	STEP(SENDS, OTHER, OBJECT); /* by a stack that has no cell */
	writes_and_sends();
	stops();
	runs(2);
	receive_and_use(SLOT, OBJECT);
	stops();
	cell(1, WRITER, 5, 5, 1);
	cell(2, READER, 8, 8, 1);
	block_at(1, OTHER, BLOCK);
	cell_at(OTHER, 1, WRITER, 1, 1, 1);
	cell_at(OTHER, 3, RECEIVER, 2, 2, 1);
	block_at(2, OTHER, BLOCK);
	cell_at(OTHER, 1, WRITER, 3, 3, 1);
	writer_chunk(&writer, TRACE_END, &end, sizeof(end), NULL, 0);
	fflush(writer.file);
	assert_int_equal(judge_again(0)->lack, TRANSFER_ORDERED);
}

static void another_thread_may_have_sent_it_before(void **state)
{
	(void)state;
	runs(3);
	STEP(SENDS, SLOT, OBJECT);
	stops();
	runs(1);
	writes_and_sends();
	stops();
	runs(2);
	receive_and_use(SLOT, OBJECT);
	stops();
	assert_tried(2, 5);
}

static void another_address_of_the_block_may_have_been_sent(void **state)
{
	(void)state;
	runs(1);
	STEP(SENDS, SLOT, OBJECT + 16);
	writes_and_sends();
	stops();
	runs(2);
	receive_and_use(SLOT, OBJECT);
	stops();
	assert_tried(2, 5);
}

/* What is stored in it after that is the receiver's own. */
static void a_container_that_was_received_orders_nothing(void **state)
{
	(void)state;
	runs(1);
	STEP(SENDS, FIELD, 7);
	STEP(SENDS, SLOT, CONTAINER);
	stops();
	runs(2);
	STEP(RECYCLES, SLOT, CONTAINER, CONTAINER, OBJECT, CONTAINER, OBJECT);
	STEP(USES, FIELD, 0);
	stops();
	assert_tried(1, 4);
}

static void nor_does_one_that_was_freed(void **state)
{
	(void)state;
	runs(1);
	STEP(SENDS, FIELD, 7);
	event(TRACE_HEAP, CONTAINER, 0, 0);
	STEP(SENDS, OTHER, 0);
	stops();
	runs(2);
	STEP(SENDS, STACK, 1);
	event(TRACE_HEAP, 0, CONTAINER, 32);
	STEP(REUSES, CONTAINER, OBJECT, CONTAINER, OBJECT);
	STEP(USES, FIELD, 0);
	stops();
	assert_tried(1, 5);
}

static void dropped_executions_are_lost(void **state)
{
	const struct trace_stream_end end = { .thread = 1, .dropped = 9 };

	(void)state;
	steps = 9;
	runs(1);
	STEP(SENDS, FIELD, 6);
	stops();
	runs(3);
	STEP(SENDS, SLOT, 0);
	stops();
	runs(1);
	writes_and_sends();
	stops();
	writer_chunk(&writer, TRACE_STREAM_END, &end, sizeof(end), NULL, 0);
	runs(2);
	receive_and_use(SLOT, OBJECT);
	stops();
	cell(1, WRITER, 1, 12, 2);
	cell(2, READER, 15, 15, 1);
	assert_int_equal(judge()->lack, TRANSFER_LOST);
}

/* Thread 2 takes what is in the slot, and then the object goes through it. */
static const struct transfer_pair *judge_in_window(uint64_t window,
						   bool of_last)
{
	runs(1);
	for (uint64_t i = 0; i < 20; i++)
		STEP(SENDS, OTHER + 0x1000 * i, 0x123456 * i);
	stops();
	runs(2);
	STEP(SENDS, SLOT, 0);
	stops();
	runs(1);
	writes_and_sends();
	stops();
	transfers.window = of_last ? packer.head.size : window;
	runs(2);
	receive_and_use(SLOT, OBJECT);
	stops();
	cell(1, WRITER, 22, 22, 1);
	cell(2, READER, 25, 25, 1);
	return judge();
}

static void a_window_of_all_has_all(void **state)
{
	(void)state;
	assert_int_equal(judge_in_window(1 << 20, false)->lack,
			 TRANSFER_ORDERED);
}

static void what_is_in_the_window_orders(void **state)
{
	(void)state;
	assert_int_equal(judge_in_window(0, true)->lack, TRANSFER_ORDERED);
}

static void what_is_before_it_does_not(void **state)
{
	(void)state;
	assert_int_equal(judge_in_window(8, false)->lack, TRANSFER_NONE);
}

/* As `judge_in_window', of the registers: no writes are left out. */
static const struct transfer_pair *judge_in_registers(uint64_t bytes)
{
	runs(1);
	writes_and_sends();
	for (uint64_t i = 0; i < 20; i++)
		STEP(SENDS, OTHER + 0x1000 * i, 0x123456 * i);
	stops();
	runs(2);
	receive_and_use(SLOT, OBJECT);
	stops();
	transfers.registers = bytes > 0 ? bytes : packer.head.size;
	cell(1, WRITER, 1, 1, 1);
	cell(2, READER, 24, 24, 1);
	return judge();
}

/*
 * Another thread puts the address there and takes it out again, while the sender
 * has it: in a superblock, or in two.
 */
static const struct transfer_pair *judge_put_and_taken(bool at_once)
{
	runs(1);
	STEP(SENDS, VARIABLE, OBJECT);
	STEP(SENDS, SLOT, OBJECT);
	STEP(SENDS, VARIABLE, 0);
	stops();
	runs(2);
	STEP(RELAYS, SLOT, OBJECT, OTHER, OBJECT);
	stops();
	runs(1);
	STEP(RECEIVES, OTHER, OBJECT, STACK, STACK);
	stops();
	runs(2);
	if (at_once) {
		STEP(SENDS_TWICE, VARIABLE, OBJECT, VARIABLE, 0);
		STEP(ALLOCATED);
	} else {
		STEP(SENDS, VARIABLE, OBJECT);
		STEP(SENDS, VARIABLE, 0);
	}
	stops();
	runs(1);
	STEP(WRITES, FIELD, 7);
	STEP(SENDS, SLOT + 8, OBJECT);
	stops();
	runs(2);
	receive_and_use(SLOT + 8, OBJECT);
	stops();
	cell(1, THROUGH, 8, 8, 1);
	cell(2, READER, 11, 11, 1);
	cell_at(VARIABLE, 1, WRITER, 1, 3, 2);
	cell_at(VARIABLE, 2, WRITER, 6, 7, 2);
	cell_at(VARIABLE, 3, RECEIVER, 2, 4, 2);
	writer_end(&writer, steps);
	read_recording();
	assert_null(transfers_judge(&transfers, &pairs, &recording, 0, order));
	return transfers_find(&transfers, THROUGH, READER);
}

static void it_may_be_put_there_and_taken_out(void **state)
{
	(void)state;
	assert_int_equal(judge_put_and_taken(false)->lack, TRANSFER_NONE);
}

static void in_one_superblock_too(void **state)
{
	(void)state;
	assert_int_equal(judge_put_and_taken(true)->lack, TRANSFER_NONE);
}

/*
 * The thread links the object to a container, and sends that. Thread 2 takes the object
 * from there, and sends it to thread 1; it clears the link first, or leaves it.
 */
static void links_object(uint32_t thread, bool clears)
{
	runs(thread);
	STEP(SENDS, LINK, OBJECT);
	STEP(SENDS, SLOT, CONTAINER);
	stops();
	cell_at(LINK, thread, WRITER, 1, 1, 1);
	runs(2);
	STEP(RECEIVES, SLOT, CONTAINER, STACK, STACK);
	STEP(USES, LINK, OBJECT);
	cell_at(LINK, 2, READER, 4, 4, 1);
	if (clears) {
		STEP(WRITES, LINK, 0);
		cell_at(LINK, 2, THROUGH, 5, 5, 1);
	}
	STEP(WRITES, OTHER, OBJECT);
	stops();
}

/* Thread 1 has the object back, writes to it and sends it; thread 2 uses it. */
static void goes_round_again(void)
{
	runs(1);
	STEP(RECEIVES, OTHER, OBJECT, STACK, STACK);
	STEP(WRITES, FIELD, 7);
	STEP(SENDS, SLOT + 8, OBJECT);
	stops();
	cell(1, THROUGH, steps - 1, steps - 1, 1);
	runs(2);
	receive_and_use(SLOT + 8, OBJECT);
	stops();
	cell(2, READER, steps, steps, 1);
}

static enum transfer_lack judge_round(void)
{
	writer_end(&writer, steps);
	read_recording();
	assert_null(transfers_judge(&transfers, &pairs, &recording, 0, order));
	return transfers_find(&transfers, THROUGH, READER)->lack;
}

static void a_link_may_be_cleared_before_the_object_comes_back(void **state)
{
	(void)state;
	links_object(1, true);
	goes_round_again();
	assert_int_equal(judge_round(), TRANSFER_ORDERED);
}

/*
 * Thread 2 sends the container on with the link in it: who gets it in another run may
 * load that before it is overwritten.
 */
static void but_not_while_the_container_goes_on(void **state)
{
	(void)state;
	links_object(1, false);
	runs(2);
	STEP(SENDS, SLOT + 24, CONTAINER);
	stops();
	goes_round_again();
	runs(1);
	STEP(RECYCLES, SLOT + 24, CONTAINER, LINK, 0, LINK, 0);
	stops();
	assert_int_equal(judge_round(), TRANSFER_NONE);
}

static void nor_if_it_is_read_while_the_object_is_back(void **state)
{
	(void)state;
	links_object(1, false);
	runs(2);
	STEP(USES, LINK, OBJECT);
	stops();
	cell_at(LINK, 2, READER, 4, steps, 2);
	goes_round_again();
	assert_int_equal(judge_round(), TRANSFER_NONE);
}

static void nor_if_it_is_there_until_it_is_read_later(void **state)
{
	(void)state;
	links_object(1, false);
	goes_round_again();
	runs(2);
	STEP(RECEIVES, SLOT, CONTAINER, STACK, STACK);
	STEP(USES, LINK, OBJECT);
	stops();
	cell_at(LINK, 2, READER, 4, steps, 2);
	assert_int_equal(judge_round(), TRANSFER_NONE);
}

/* Thread 1 has not stored it anywhere. */
static void an_earlier_owner_may_have_left_it_there(void **state)
{
	(void)state;
	links_object(3, false);
	goes_round_again();
	assert_int_equal(judge_round(), TRANSFER_NONE);
}

static void or_may_not_have_left_it(void **state)
{
	(void)state;
	links_object(3, true);
	goes_round_again();
	assert_int_equal(judge_round(), TRANSFER_ORDERED);
}

/* Of an allocation of no bytes no address was stored. */
static void a_block_of_no_bytes_is_looked_for_once(void **state)
{
	(void)state;
	block_at(1, OBJECT, 0);
	links_object(3, false);
	goes_round_again();
	judge_round();
}

/*
 * Thread 1 links the object twice, and writes to it in between; thread 2 has the
 * container from before that, and may load the link at any time.
 */
static void a_link_that_is_written_again_may_be_loaded_before(void **state)
{
	(void)state;
	runs(1);
	STEP(SENDS, LINK, OBJECT);
	STEP(SENDS, SLOT, CONTAINER);
	STEP(WRITES, FIELD, 7);
	STEP(SENDS, LINK, OBJECT);
	stops();
	runs(2);
	STEP(RECEIVES, SLOT, CONTAINER, STACK, STACK);
	STEP(USES, LINK, OBJECT);
	STEP(WRITES, OTHER, OBJECT);
	receive_and_use(OTHER, OBJECT);
	stops();
	cell(1, THROUGH, 3, 3, 1);
	cell(2, READER, 9, 9, 1);
	cell_at(LINK, 1, WRITER, 1, 4, 2);
	cell_at(LINK, 2, READER, 6, 6, 1);
	assert_int_equal(judge_round(), TRANSFER_NONE);
}

/* Of one of its instructions, there are executions of which nothing was asked. */
static void a_pair_with_too_many_accesses_is_not_ordered(void **state)
{
	(void)state;
	pairs.cells_left_out = 1;
	assert_true(map_set(&pairs.left_out, READER, 1));
	runs(1);
	writes_and_sends();
	stops();
	runs(2);
	receive_and_use(SLOT, OBJECT);
	stops();
	cell(1, WRITER, 1, 1, 1);
	cell(2, READER, 4, 4, 1);
	assert_int_equal(judge()->lack, TRANSFER_LOST);
}

static void registers_are_tracked_in_their_window(void **state)
{
	(void)state;
	assert_int_equal(judge_in_registers(0)->lack, TRANSFER_ORDERED);
}

static void not_before_it(void **state)
{
	(void)state;
	assert_int_equal(judge_in_registers(1)->lack, TRANSFER_NONE);
}

static void of_two_words_in_a_load_none_is_known_to_be_used(void **state)
{
	(void)state;
	runs(1);
	STEP(SENDS, SLOT, OBJECT);
	STEP(SENDS, FIELD, 7);
	STEP(SENDS, SLOT + 8, OBJECT + 16);
	stops();
	runs(2);
	STEP(LOADS_16, SLOT);
	STEP(USES, FIELD, 0);
	stops();
	assert_tried(2, 5);
}

static void a_conditional_move_may_not_have_taken_it(void **state)
{
	(void)state;
	runs(1);
	writes_and_sends();
	stops();
	runs(2);
	STEP(CHOOSES, SLOT, OBJECT);
	STEP(USES, FIELD, 0);
	stops();
	assert_tried(1, 4);
}

#define TEST(name) \
	cmocka_unit_test_setup_teardown(name, set_up_each, tear_down_each)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_hand_over_orders_what_came_before_it),
		TEST(what_comes_after_it_is_not_ordered),
		TEST(all_executions_are_to_be_ordered),
		TEST(a_way_back_is_a_hand_over_too),
		TEST(every_execution_is_to_be_in_the_recording),
		TEST(a_recording_without_an_end_orders_nothing),
		TEST(nor_does_one_that_lacks_memory_for_cells),
		TEST(nor_does_one_that_lacks_events),
		TEST(nor_does_one_that_another_process_ended),
		TEST(executions_without_a_cell_count),
		TEST(but_those_of_other_blocks_do_not),
		TEST(of_a_crowded_granule_executions_are_lost),
		TEST(a_pair_with_too_many_accesses_is_not_ordered),
		TEST(a_pair_is_ordered_in_all_recordings),
		TEST(a_second_use_by_another_pointer_is_asked_for),
		TEST(it_may_have_been_in_a_variable_before),
		TEST(or_in_memory_that_others_had_read),
		TEST(but_not_in_memory_that_they_read_afterwards),
		TEST(nor_where_they_only_write),
		TEST(blocks_may_be_of_any_size),
		TEST(it_may_be_in_either_of_two_blocks),
		TEST(it_may_have_been_in_a_vector),
		TEST(or_in_its_second_word),
		TEST(but_not_in_one_that_they_read_afterwards),
		TEST(nor_in_the_object_itself),
		TEST(what_another_one_has_replaced_was_sent),
		TEST(what_came_back_counts_from_then_on),
		TEST(it_may_be_in_a_variable_from_an_earlier_round),
		TEST(but_not_if_that_has_something_else_by_now),
		TEST(nor_if_it_was_taken_out_after_the_object_came),
		TEST(whoever_has_taken_it_out),
		TEST(but_not_what_an_exchange_has_left),
		TEST(between_a_load_and_a_store_others_may_look),
		TEST(so_may_it_be_in_memory_that_others_had_read),
		TEST(another_thread_may_have_put_it_back_there),
		TEST(it_may_be_put_there_and_taken_out),
		TEST(in_one_superblock_too),
		TEST(or_it_is_the_second_word_of_a_vector),
		TEST(a_link_may_be_cleared_before_the_object_comes_back),
		TEST(but_not_while_the_container_goes_on),
		TEST(nor_if_it_is_read_while_the_object_is_back),
		TEST(nor_if_it_is_there_until_it_is_read_later),
		TEST(an_earlier_owner_may_have_left_it_there),
		TEST(or_may_not_have_left_it),
		TEST(a_block_of_no_bytes_is_looked_for_once),
		TEST(a_link_that_is_written_again_may_be_loaded_before),
		TEST(but_not_what_is_in_the_object_itself),
		TEST(a_reader_may_come_again_without_a_cell),
		TEST(but_not_in_another_block),
		TEST(another_thread_may_have_sent_it_before),
		TEST(another_address_of_the_block_may_have_been_sent),
		TEST(a_container_that_was_received_orders_nothing),
		TEST(nor_does_one_that_was_freed),
		TEST(dropped_executions_are_lost),
		TEST(a_window_of_all_has_all),
		TEST(what_is_in_the_window_orders),
		TEST(what_is_before_it_does_not),
		TEST(registers_are_tracked_in_their_window),
		TEST(not_before_it),
		TEST(of_two_words_in_a_load_none_is_known_to_be_used),
		TEST(a_conditional_move_may_not_have_taken_it),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
