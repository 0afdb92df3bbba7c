/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * src/hunt/executed.c and executed-writes.c: steps of two threads, as a recorder
 * would write them, forwards, backwards, and the last write to their bytes.
 */
#include "hunt/executed.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "hunt/recording.h"
#include "recorder/packer.h"
#include "trace-writer.h"

enum { DATA = 0x10000, SLOT = 0x20000, STACK = 0x7000 };

static struct writer writer;
static struct packer packer;
static struct recording recording;
static struct executed *executed;

/*
 * Superblock 1: mov [rdi], rsi; mov rax, [rdi + 8]; jz: left after the first one
 * at exit 0. Superblock 2: cmpxchg [rdi], rsi.
 */
static const struct {
	struct trace_slot slots[2];
	struct trace_exit exits[2];
	uint8_t lengths[3];
	unsigned char code[9];
} __attribute__((packed)) behind_1 = {
	.slots = { { .size = 8,
		     .flags = TRACE_WRITES,
		     .address = { .source = TRACE_FROM_WORD },
		     .value = { .source = TRACE_FROM_WORD } },
		   { .instruction = 2,
		     .size = 4,
		     .flags = TRACE_READS,
		     .address = { .source = TRACE_FROM_ADDRESS, .offset = 8 },
		     .value = { .source = TRACE_FROM_VALUE,
				.of = 0,
				.offset = 1 } } },
	.exits = { { .instructions = 2, .slots = 1, .words = 2 },
		   { .instructions = 3, .slots = 2, .words = 2 } },
	.lengths = { 3, 2, 4 },
};
static const struct {
	struct trace_slot slots[2];
	struct trace_exit exits[1];
	uint8_t lengths[1];
	unsigned char code[5];
} __attribute__((packed)) behind_2 = {
	.slots = { { .size = 8,
		     .flags = TRACE_READS | TRACE_ATOMIC,
		     .address = { .source = TRACE_FROM_WORD },
		     .value = { .source = TRACE_FROM_WORD } },
		   { .size = 8,
		     .flags = TRACE_WRITES | TRACE_ATOMIC,
		     .conditional = 1,
		     .address = { .source = TRACE_FROM_ADDRESS },
		     .value = { .source = TRACE_FROM_WORD } } },
	.exits = { { .instructions = 1, .slots = 2, .words = 4 } },
	.lengths = { 5 },
};

static void superblocks(void)
{
	struct trace_superblock head = { .id = 1,
					 .size = 9,
					 .place = { 1, 0, 0x100 },
					 .address = 0x1100,
					 .instructions = 3,
					 .slots = 2,
					 .exits = 2,
					 .words = 2 };

	writer_chunk(&writer, TRACE_SUPERBLOCK, &head, sizeof(head), &behind_1,
		     sizeof(behind_1));
	head = (struct trace_superblock){ .id = 2,
					  .size = 5,
					  .place = { 1, 0, 0x200 },
					  .address = 0x1200,
					  .instructions = 1,
					  .slots = 2,
					  .exits = 1,
					  .words = 4 };
	writer_chunk(&writer, TRACE_SUPERBLOCK, &head, sizeof(head), &behind_2,
		     sizeof(behind_2));
}

static void step(uint32_t id, uint32_t exit, uint32_t count,
		 const uint64_t *words)
{
	packer_step(&packer, &(struct packer_step){ .id = id,
						    .exit = exit,
						    .count = count + 1,
						    .instructions = 1,
						    .accesses = 1,
						    .words = words });
}

static void store_to(uint64_t address, uint64_t value, uint32_t exit)
{
	const uint64_t words[] = { address, value };

	step(1, exit, 2, words);
}

static void swap_at(uint64_t address, uint64_t value, bool done)
{
	const uint64_t words[] = { address, 0, value, done };

	step(2, 0, 4, words);
}

static void resume(uint64_t steps)
{
	const uint64_t numbers[] = { steps, 0 };

	packer_event(&packer, TRACE_RESUMED, numbers);
}

static void chunk(void)
{
	packer_end(&packer);
	writer_chunk(&writer, TRACE_STREAM, &packer.head, sizeof(packer.head),
		     packer.bytes, packer.head.size);
}

/*
 * Thread 1: steps 1 and 2, then 5, 6 in another chunk, a block of DATA's that
 * ends, and 7. Thread 2: 3 and 4, and bytes that it receives at SLOT + 64.
 */
static void streams(void)
{
	static const uint64_t part[] = { SLOT + 64, 16, 99 };
	static const uint64_t moved[] = { 0, 4, 1, 0, 16, 1 };
	static const uint64_t heap[] = { DATA, 0, 0 };

	packer_begin(&packer, 1, 1, 0);
	store_to(DATA, 7, 1);
	swap_at(SLOT, DATA, true);
	chunk();
	packer_begin(&packer, 2, 3, 2);
	store_to(STACK, 8, 0);
	swap_at(SLOT, 1, false);
	packer_event(&packer, TRACE_MOVED_PART, part);
	packer_event(&packer, TRACE_MOVED, moved);
	chunk();
	packer_begin(&packer, 1, 5, 4);
	store_to(STACK + 64, 1, 1);
	store_to(DATA + 4, 9, 1);
	packer_event(&packer, TRACE_HEAP, heap);
	resume(0);
	store_to(STACK + 128, 2, 1);
	chunk();
}

static int set_up(void **state)
{
	(void)state;
	writer_begin(&writer);
	writer_thread(&writer, 1, 0, 0, 0, 0, 0, 0);
	writer_thread(&writer, 2, 1, 0, 0, 0, 0, 0);
	superblocks();
	streams();
	writer_end(&writer, 10);
	assert_null(recording_open(writer.path, &recording));
	assert_null(executed_create(&recording, &executed));
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	executed_destroy(executed);
	recording_close(&recording);
	writer_remove(&writer);
	return 0;
}

static void totals_are_those_of_the_chunks(void **state)
{
	const struct executed_totals *totals = executed_totals(executed);

	(void)state;
	assert_int_equal(totals->steps, 7);
	assert_int_equal(totals->threads, 2);
	assert_int_equal(totals->superblocks, 2);
	assert_int_equal(totals->dropped, 0);
}

static void a_step_has_the_accesses_up_to_its_exit(void **state)
{
	const struct translated *first = executed_superblock(executed, 1);
	const uint64_t words[] = { DATA, 0xfffffffff };
	struct translated_access accesses[2];

	(void)state;
	assert_int_equal(translated_count(first, 0), 1);
	assert_int_equal(translated_count(first, 1), 2);
	translated_accesses(first, 1, words, accesses);
	assert_int_equal(accesses[0].address, DATA);
	assert_int_equal(accesses[0].value, 0xfffffffff);
	assert_int_equal(accesses[1].address, DATA + 8);
	/* of 4 bytes */
	assert_int_equal(accesses[1].value, 0);
	assert_int_equal(translated_address(first, 2), 0x1105);
	assert_null(executed_superblock(executed, 3));
}

static void a_thread_is_read_backwards_across_chunks(void **state)
{
	static const uint64_t numbers[] = { 7, 6, 6, 5, 2, 1 };
	struct executed_cursor cursor;
	bool moved;

	(void)state;
	assert_null(executed_seek(executed, 1, 100, &cursor, &moved));
	assert_true(moved);
	for (size_t i = 0; i < 6; i++) {
		assert_true(moved);
		assert_int_equal(executed_step(&cursor)->number, numbers[i]);
		assert_null(executed_previous(&cursor, &moved));
	}
	assert_false(moved);
	assert_int_equal(executed_words(&cursor)[0], DATA);
	for (size_t i = 0; i < 5; i++) {
		assert_null(executed_next(&cursor, &moved));
		assert_true(moved);
	}
	assert_int_equal(executed_step(&cursor)->number, 7);
	assert_null(executed_next(&cursor, &moved));
	assert_false(moved);
	executed_cursor_deinit(&cursor);
}

static void steps_are_found_by_number(void **state)
{
	struct executed_cursor cursor;
	bool found;

	(void)state;
	/* thread 1 did not execute step 4: the one before is its second */
	assert_null(executed_seek(executed, 1, 4, &cursor, &found));
	assert_true(found);
	assert_int_equal(executed_step(&cursor)->number, 2);
	executed_cursor_deinit(&cursor);
	assert_null(executed_seek(executed, 2, 2, &cursor, &found));
	assert_false(found);
	executed_cursor_deinit(&cursor);
	assert_null(executed_seek(executed, 9, 2, &cursor, &found));
	assert_false(found);
	executed_cursor_deinit(&cursor);
}

static struct executed_write last_write(uint64_t address, uint64_t size,
					uint64_t before)
{
	struct executed_write write;

	assert_null(
		executed_last_write(executed, address, size, before, &write));
	return write;
}

static void the_last_write_is_one_that_wrote(void **state)
{
	struct executed_write write = last_write(SLOT, 8, 100);

	(void)state;
	/* the compare-and-swap of thread 2 in step 4 failed */
	assert_int_equal(write.kind, EXECUTED_STORE);
	assert_int_equal(write.thread, 1);
	assert_int_equal(write.number, 2);
	assert_int_equal(write.place, 1);
	assert_true(write.has_value);
	assert_int_equal(write.value, DATA);
	assert_int_equal(last_write(SLOT, 8, 2).kind, EXECUTED_NONE);
}

static void a_write_of_some_of_the_bytes_counts(void **state)
{
	struct executed_write write = last_write(DATA + 4, 1, 6);

	(void)state;
	assert_int_equal(write.number, 1);
	write = last_write(DATA + 3, 2, 7);
	/* before the block was freed, step 6 wrote one of them */
	assert_int_equal(last_write(DATA + 8, 4, 7).number, 6);
	assert_int_equal(last_write(DATA + 12, 4, 100).kind, EXECUTED_NONE);
}

static void system_calls_and_the_heap_write_too(void **state)
{
	struct executed_write write = last_write(SLOT + 72, 8, 100);

	(void)state;
	assert_int_equal(write.kind, EXECUTED_MOVED);
	assert_int_equal(write.thread, 2);
	assert_int_equal(write.address, SLOT + 64);
	assert_int_equal(write.size, 16);
	assert_int_equal(last_write(SLOT + 72, 8, 4).kind, EXECUTED_NONE);
	write = last_write(DATA, 8, 7);
	assert_int_equal(write.kind, EXECUTED_HEAP);
	assert_int_equal(write.thread, 1);
	assert_int_equal(last_write(DATA, 8, 6).number, 1);
}

static void writes_are_found_one_after_the_other(void **state)
{
	static const struct {
		enum executed_write_kind kind;
		uint64_t number;
	} expected[] = {
		/* the block that ends has step 6's number, and comes after it */
		{ EXECUTED_HEAP, 6 },
		{ EXECUTED_STORE, 6 },
		{ EXECUTED_STORE, 1 },
		{ EXECUTED_NONE, 0 },
	};
	struct executed_write last = { .kind = EXECUTED_STORE, .number = 100 };

	(void)state;
	for (size_t i = 0; i < sizeof(expected) / sizeof(*expected); i++) {
		struct executed_write write;

		assert_null(executed_write_before(executed, DATA, 8, &last,
						  &write));
		assert_int_equal(write.kind, expected[i].kind);
		assert_int_equal(write.number, expected[i].number);
		last = write;
	}
}

/* A superblock whose exit has more words than its slots take. */
static void what_contradicts_itself_is_refused(void **state)
{
	struct trace_superblock head = { .id = 9,
					 .size = 5,
					 .instructions = 1,
					 .slots = 2,
					 .exits = 1,
					 .words = 3 };
	struct executed *other = NULL;
	struct recording wrong;
	struct error *err;

	(void)state;
	tear_down(NULL);
	writer_begin(&writer);
	writer_thread(&writer, 1, 0, 0, 0, 0, 0, 0);
	writer_chunk(&writer, TRACE_SUPERBLOCK, &head, sizeof(head), &behind_2,
		     sizeof(behind_2));
	writer_end(&writer, 10);
	assert_null(recording_open(writer.path, &wrong));
	err = executed_create(&wrong, &other);
	assert_non_null(err);
	assert_non_null(strstr(error_message(err), "contradicts"));
	error_free(err);
	recording_close(&wrong);
	writer_remove(&writer);
	set_up(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(totals_are_those_of_the_chunks),
		cmocka_unit_test(a_step_has_the_accesses_up_to_its_exit),
		cmocka_unit_test(a_thread_is_read_backwards_across_chunks),
		cmocka_unit_test(steps_are_found_by_number),
		cmocka_unit_test(the_last_write_is_one_that_wrote),
		cmocka_unit_test(a_write_of_some_of_the_bytes_counts),
		cmocka_unit_test(system_calls_and_the_heap_write_too),
		cmocka_unit_test(writes_are_found_one_after_the_other),
		cmocka_unit_test(what_contradicts_itself_is_refused),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
