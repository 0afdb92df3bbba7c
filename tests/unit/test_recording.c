/* SPDX-License-Identifier: GPL-3.0-or-later */
/* src/hunt/recording.c: traces in memory; wrong ones; times. */
#include "hunt/recording.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/error.h"
#include "trace-writer.h"

static struct writer writer;
static struct recording recording;

static int begin(void **state)
{
	(void)state;
	recording = (struct recording){ .program = NULL };
	writer_begin(&writer);
	writer_thread(&writer, 1, 0, 0, 0, 0, 0, 0);
	return 0;
}

static int end(void **state)
{
	(void)state;
	recording_close(&recording);
	writer_remove(&writer);
	return 0;
}

static void open_trace(void)
{
	struct error *err = recording_open(writer.path, &recording);

	if (err)
		fail_msg("%s", error_message(err));
}

static void threads_have_paths(void **state)
{
	(void)state;
	writer_thread(&writer, 2, 1, 0, 1, 0, 0, 0);
	writer_thread(&writer, 3, 1, 1, 2, 0, 0, 0);
	writer_thread(&writer, 4, 3, 7, 3, 0, 0, 0);
	/* again, when it has ended */
	writer_thread(&writer, 3, 1, 1, 2, 8, 1, 0);
	writer_end(&writer, 10);
	open_trace();
	assert_false(recording.cut);
	assert_int_equal(recording.threads.count, 4);
	assert_string_equal(recording_thread(&recording, 1)->path, "0");
	assert_string_equal(recording_thread(&recording, 2)->path, "0.0");
	assert_string_equal(recording_thread(&recording, 4)->path, "0.1.7");
	assert_int_equal(recording_thread(&recording, 3)->raw.joined, 8);
}

/* "./program" was executed, or a script. */
static void the_executable_is_the_first_module(void **state)
{
	const struct trace_program program = { .argc = 1 };
	static const char as_given[] = "./script\0./script";

	(void)state;
	writer_chunk(&writer, TRACE_PROGRAM, &program, sizeof(program),
		     as_given, sizeof(as_given));
	writer_end(&writer, 10);
	open_trace();
	assert_string_equal(recording.program, WRITER_PROGRAM);
}

/* As by QEMU, which tells the loader's module first. */
static void a_module_that_was_executed_is_the_executable(void **state)
{
	const struct trace_program program = { .argc = 1 };
	static const struct trace_module module = { .id = 2, .low = 0xa000 };
	static const char executed[] = "/bin/later\0later";

	(void)state;
	writer_chunk(&writer, TRACE_PROGRAM, &program, sizeof(program),
		     executed, sizeof(executed));
	writer_chunk(&writer, TRACE_MODULE, &module, sizeof(module), executed,
		     strlen(executed) + 1);
	writer_end(&writer, 10);
	open_trace();
	assert_string_equal(recording.program, "/bin/later");
}

/* A cell that is written again replaces what was written before. */
static void the_last_cell_counts(void **state)
{
	struct trace_cell cell = writer_cell(64, 1, 1, 5);
	const struct trace_cell *read;

	(void)state;
	writer_descriptor(&writer, 1, TRACE_READS, 0x1100, NULL, 0);
	cell.count = 2;
	writer_add(&writer, &cell);
	cell.address = 8;
	writer_add(&writer, &cell);
	cell.address = 64;
	cell.count = 9;
	cell.last = 60;
	writer_add(&writer, &cell);
	writer_end(&writer, 100);
	open_trace();
	assert_int_equal(recording.cells.count, 2);
	read = vec_at(&recording.cells, 0);
	assert_int_equal(read->address, 8);
	read = vec_at(&recording.cells, 1);
	assert_int_equal(read->count, 9);
	assert_int_equal(read->last, 60);
}

static void clocks_give_times(void **state)
{
	const struct trace_clock clocks[] = {
		{ .sequence = 20, .ns = 1000, .busy_ns = 300 },
		{ .sequence = 10, .ns = 100, .busy_ns = 100 },
	};
	struct recording_time time;

	(void)state;
	for (int i = 0; i < 2; i++)
		writer_chunk(&writer, TRACE_CLOCK, &clocks[i],
			     sizeof(clocks[i]), NULL, 0);
	writer_end(&writer, 40);
	open_trace();
	assert_int_equal(recording_time(&recording, 5).ns, 50);
	time = recording_time(&recording, 15);
	assert_int_equal(time.ns, 550);
	assert_int_equal(time.busy_ns, 200);
	/* the last number is the end's, at 40 ms */
	assert_int_equal(recording_time(&recording, 40).ns, 40000000);
	assert_int_equal(recording_time(&recording, 4000).ns, 40000000);
}

static void is_refused(const char *words)
{
	struct error *err = recording_open(writer.path, &recording);

	assert_non_null(err);
	assert_int_equal(err->kind, ERROR_FORMAT);
	assert_non_null(strstr(error_message(err), writer.path));
	if (!strstr(error_message(err), words))
		fail_msg("'%s' lacks '%s'", error_message(err), words);
	error_free(err);
}

static void unknown_ids_are_refused(void **state)
{
	struct trace_cell cell = writer_cell(8, 1, 1, 5);

	(void)state;
	for (int i = 0; i < 6; i++) {
		static const char *const words[] = {
			"thread 9 is not",     "thread 2 is not",
			"descriptor 1 is not", "lockset 5 is not",
			"block 6 is not",      "module 8 is not",
		};
		struct trace_descriptor descriptor = { .id = 1,
						       .place.module = 8 };

		begin(NULL);
		cell.lockset = i == 3 ? 5 : 0;
		cell.block = i == 4 ? 6 : 0;
		if (i == 0)
			writer_thread(&writer, 2, 9, 0, 1, 0, 0, 0);
		if (i == 1)
			writer_thread(&writer, 2, 2, 0, 1, 0, 0, 0);
		if (i == 3 || i == 4)
			writer_descriptor(&writer, 1, TRACE_READS, 1, NULL, 0);
		if (i == 5)
			writer_chunk(&writer, TRACE_DESCRIPTOR, &descriptor,
				     sizeof(descriptor), NULL, 0);
		writer_add(&writer, &cell);
		writer_end(&writer, 10);
		is_refused(words[i]);
		is_refused(": byte ");
		end(NULL);
	}
}

/* Paths would have no end. */
static void a_circle_of_parents_is_refused(void **state)
{
	(void)state;
	writer_thread(&writer, 2, 1, 0, 1, 0, 0, 0);
	writer_thread(&writer, 1, 2, 0, 1, 0, 0, 0);
	writer_end(&writer, 10);
	is_refused("another parent of thread 1");
}

/* Wherever it was cut, it is read as far as it goes. */
static void any_beginning_is_read(void **state)
{
	struct trace_cell cell = writer_cell(8, 1, 1, 5);
	long whole;

	(void)state;
	writer_descriptor(&writer, 1, TRACE_READS, 0x1100, NULL, 0);
	writer_add(&writer, &cell);
	whole = ftell(writer.file);
	writer_end(&writer, 10);
	for (long size = whole; size >= (long)sizeof(struct trace_header);
	     size--) {
		assert_int_equal(truncate(writer.path, size), 0);
		open_trace();
		assert_true(recording.cut);
		assert_int_equal(recording.cells.count, size == whole);
		recording_close(&recording);
	}
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(threads_have_paths),
		TEST(the_executable_is_the_first_module),
		TEST(a_module_that_was_executed_is_the_executable),
		TEST(the_last_cell_counts),
		TEST(clocks_give_times),
		cmocka_unit_test(unknown_ids_are_refused),
		TEST(a_circle_of_parents_is_refused),
		TEST(any_beginning_is_read),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
