/* SPDX-License-Identifier: GPL-3.0-or-later */
/* src/hunt/trace-file.c: whole, cut-off and wrong traces. */
#include "hunt/trace-file.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "hunt/trace-events.h"
#include "hunt/trace-packed.h"

static char folder[32], path[48];
static unsigned char bytes[4096];
static size_t size;

static int set_up(void **state)
{
	struct trace_header header = {
		.magic = TRACE_MAGIC,
		.version = TRACE_VERSION,
		.recorder = TRACE_BY_VALGRIND,
		.pid = 42,
	};

	(void)state;
	strcpy(folder, "/tmp/racewatch-test.XXXXXX");
	assert_non_null(mkdtemp(folder));
	snprintf(path, sizeof(path), "%s/trace", folder);
	memset(bytes, 0, sizeof(bytes));
	memcpy(bytes, &header, sizeof(header));
	size = sizeof(header);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	unlink(path);
	rmdir(folder);
	return 0;
}

static void append(const void *data, size_t n)
{
	assert_true(size + n <= sizeof(bytes));
	if (n > 0)
		memcpy(bytes + size, data, n);
	size += n;
}

static void add_chunk(uint32_t type, const void *data, size_t n,
		      const void *behind, size_t more)
{
	struct trace_chunk chunk = { type, (uint32_t)(n + more) };

	append(&chunk, sizeof(chunk));
	append(data, n);
	append(behind, more);
	size = (size + 7) & ~(size_t)7;
}

static void add_end(void)
{
	struct trace_end end = { .sequence = 7 };

	add_chunk(TRACE_END, &end, sizeof(end), NULL, 0);
}

static void write_file(void)
{
	FILE *file = fopen(path, "w");

	assert_non_null(file);
	assert_int_equal(fwrite(bytes, 1, size, file), size);
	assert_int_equal(fclose(file), 0);
}

static void open_file(struct trace_file *trace)
{
	write_file();
	assert_null(trace_file_open(path, trace));
}

static void assert_type(struct trace_file *trace, uint32_t type)
{
	struct trace_item item;

	assert_null(trace_file_next(trace, &item));
	if (type == 0)
		assert_null(item.payload);
	else
		assert_int_equal(item.type, type);
}

static void assert_refused(struct error *err, const char *wanted)
{
	assert_non_null(err);
	assert_int_equal(err->kind, ERROR_FORMAT);
	assert_non_null(strstr(error_message(err), path));
	assert_non_null(strstr(error_message(err), wanted));
	error_free(err);
}

static void assert_too_short(void)
{
	struct trace_file trace;
	struct trace_item item;

	open_file(&trace);
	assert_refused(trace_file_next(&trace, &item), "the chunk at byte 40");
	trace_file_close(&trace);
}

static void chunks_come_in_order_with_what_is_behind(void **state)
{
	struct trace_program program = { .argc = 1 };
	struct trace_cell cell = { .address = 0x1000, .mask = 0xf0 };
	struct trace_file trace;
	struct trace_item item;

	(void)state;
	add_chunk(TRACE_PROGRAM, &program, sizeof(program), "/bin/a\0a", 9);
	add_chunk(TRACE_CELL, &cell, sizeof(cell), NULL, 0);
	add_end();
	open_file(&trace);
	assert_int_equal(trace.header.pid, 42);
	assert_null(trace_file_next(&trace, &item));
	assert_int_equal(item.type, TRACE_PROGRAM);
	assert_string_equal(item.behind, "/bin/a");
	assert_null(trace_file_next(&trace, &item));
	assert_int_equal(item.type, TRACE_CELL);
	assert_memory_equal(item.payload, &cell, sizeof(cell));
	assert_type(&trace, TRACE_END);
	assert_true(trace.ended);
	assert_type(&trace, 0);
	trace_file_rewind(&trace);
	assert_type(&trace, TRACE_PROGRAM);
	trace_file_close(&trace);
}

/* Two cells: flags, thread, descriptor, ordinal, first, lockset. */
static const char two_cells[] = "\0\1\2\0\6\0"
				"\0\3\2\0\2\0";

static void assert_cell(struct trace_file *trace, uint32_t thread,
			uint64_t first)
{
	struct trace_item item;
	const struct trace_cell *cell;

	assert_null(trace_file_next(trace, &item));
	assert_int_equal(item.type, TRACE_CELL);
	assert_int_equal(item.size, sizeof(*cell));
	cell = item.payload;
	assert_int_equal(cell->address, 0x1000);
	assert_int_equal(cell->block, 9);
	assert_int_equal(cell->thread, thread);
	assert_int_equal(cell->first, first);
}

static void packed_cells_come_one_by_one(void **state)
{
	struct trace_cells cells = { .address = 0x1000,
				     .block = 9,
				     .count = 2 };
	struct trace_cells none = { .address = 0x2000 };
	struct trace_file trace;

	(void)state;
	add_chunk(TRACE_CELLS, &none, sizeof(none), NULL, 0);
	add_chunk(TRACE_CELLS, &cells, sizeof(cells), two_cells, 12);
	add_end();
	open_file(&trace);
	assert_cell(&trace, 1, 3);
	trace_file_rewind(&trace);
	assert_cell(&trace, 1, 3);
	assert_cell(&trace, 3, 4);
	assert_type(&trace, TRACE_END);
	trace_file_close(&trace);
}

static void packed_cells_that_are_too_few_are_refused(void **state)
{
	struct trace_cells cells = { .address = 0x1000,
				     .block = 9,
				     .count = 3 };
	struct trace_file trace;
	struct trace_item item;

	(void)state;
	add_chunk(TRACE_CELLS, &cells, sizeof(cells), two_cells, 12);
	open_file(&trace);
	assert_cell(&trace, 1, 3);
	assert_cell(&trace, 3, 4);
	assert_refused(trace_file_next(&trace, &item), "the chunk at byte 40");
	trace_file_close(&trace);
}

static void unknown_types_are_passed_over(void **state)
{
	struct trace_file trace;

	(void)state;
	add_chunk(1000, "what", 4, NULL, 0);
	add_end();
	open_file(&trace);
	assert_type(&trace, TRACE_END);
	trace_file_close(&trace);
}

static void cut_off_anywhere_is_an_end_that_is_none(void **state)
{
	struct trace_unload unload = { .module = 1 };
	size_t first = size, second, whole;

	(void)state;
	add_chunk(TRACE_UNLOAD, &unload, sizeof(unload), NULL, 0);
	second = size;
	add_end();
	whole = size;
	for (size = first; size < whole; size++) {
		struct trace_file trace;

		open_file(&trace);
		if (size >= second)
			assert_type(&trace, TRACE_UNLOAD);
		assert_type(&trace, 0);
		assert_false(trace.ended);
		trace_file_close(&trace);
	}
	size = whole;
}

static void text_without_its_end_is_refused(void **state)
{
	struct trace_program program = { .argc = 2 };

	(void)state;
	add_chunk(TRACE_PROGRAM, &program, sizeof(program), "/bin/a\0a", 9);
	assert_too_short();
}

static void array_that_is_too_short_is_refused(void **state)
{
	struct trace_lockset lockset = { .id = 1, .count = 2 };
	struct trace_lock lock = { .kind = TRACE_MUTEX };

	(void)state;
	add_chunk(TRACE_LOCKSET, &lockset, sizeof(lockset), &lock,
		  sizeof(lock));
	assert_too_short();
}

static void stack_that_is_too_deep_is_refused(void **state)
{
	struct trace_descriptor descriptor = { .depth = TRACE_STACK_MAX + 1 };
	struct trace_place places[TRACE_STACK_MAX + 1] = { { 0 } };

	(void)state;
	add_chunk(TRACE_DESCRIPTOR, &descriptor, sizeof(descriptor), places,
		  sizeof(places));
	assert_too_short();
}

static void structure_that_is_too_short_is_refused(void **state)
{
	struct trace_cell cell = { .mask = 1 };

	(void)state;
	add_chunk(TRACE_CELL, &cell, sizeof(cell) - 8, NULL, 0);
	assert_too_short();
}

static void other_files_are_no_traces(void **state)
{
	struct trace_file trace;

	(void)state;
	size = 0;
	write_file();
	assert_refused(trace_file_open(path, &trace), "is not a trace");
	append("#!/bin/sh\nexit 0 # of a length that a header has\n", 50);
	write_file();
	assert_refused(trace_file_open(path, &trace), "is not a trace");
}

static void other_versions_are_refused(void **state)
{
	struct trace_file trace;

	(void)state;
	bytes[8] = TRACE_VERSION + 1;
	write_file();
	assert_refused(trace_file_open(path, &trace), "of version 4, not 3");
}

static void missing_file_is_an_error_with_its_name(void **state)
{
	struct trace_file trace;
	struct error *err = trace_file_open(path, &trace);

	(void)state;
	assert_non_null(err);
	assert_non_null(strstr(error_message(err), path));
	error_free(err);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(chunks_come_in_order_with_what_is_behind),
		TEST(packed_cells_come_one_by_one),
		TEST(packed_cells_that_are_too_few_are_refused),
		TEST(unknown_types_are_passed_over),
		TEST(cut_off_anywhere_is_an_end_that_is_none),
		TEST(text_without_its_end_is_refused),
		TEST(array_that_is_too_short_is_refused),
		TEST(stack_that_is_too_deep_is_refused),
		TEST(structure_that_is_too_short_is_refused),
		TEST(other_files_are_no_traces),
		TEST(other_versions_are_refused),
		TEST(missing_file_is_an_error_with_its_name),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
