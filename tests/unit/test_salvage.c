/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * src/recorder/salvage.c: a writer that was stopped anywhere, and is gone on with. Each test leaves one as it would be, and has one more chunk written;
 * the trace has to be all whole chunks.
 */
#include "recorder/salvage.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/error.h"
#include "hunt/trace-events.h"
#include "hunt/trace-file.h"
#include "hunt/trace-format.h"
#include "recorder/writer.h"

enum { CHUNKS = 3 };

static char folder[] = "/tmp/racewatch-salvage.XXXXXX";
static struct writer writer;

static void write_thread(uint32_t id)
{
	const struct trace_thread thread = { .id = id };

	writer_chunk(&writer, TRACE_THREAD, &thread, sizeof(thread), NULL, 0);
}

static int begin(void **state)
{
	const struct writer_process process = { .recorder = TRACE_BY_VALGRIND,
						.pid = 42 };

	(void)state;
	strcpy(folder + sizeof(folder) - 7, "XXXXXX");
	if (!mkdtemp(folder))
		return -1;
	writer = (struct writer){ .fd = -1 };
	if (!writer_open(&writer, folder, &process))
		return -1;
	for (uint32_t id = 1; id <= CHUNKS; id++)
		write_thread(id);
	return 0;
}

static int end(void **state)
{
	(void)state;
	writer_deinit(&writer);
	unlink(writer.path);
	return rmdir(folder);
}

/* Go on, and read it: the threads 1, 2, 3 and 4, and nothing after them. */
static void is_whole(void)
{
	struct trace_file trace;
	struct trace_item item;
	uint32_t next = 1;

	salvage_writer(&writer);
	write_thread(CHUNKS + 1);
	writer_close(&writer);
	assert_false(writer.failed);
	assert_null(trace_file_open(writer.path, &trace));
	while (!trace_file_next(&trace, &item) && item.payload) {
		const struct trace_thread *thread = item.payload;

		assert_int_equal(item.type, TRACE_THREAD);
		assert_int_equal(thread->id, next++);
	}
	assert_int_equal(trace.at, trace.size);
	assert_int_equal(next, CHUNKS + 2);
	trace_file_close(&trace);
}

/* Bytes of a chunk that is not whole. */
static void tear(size_t size)
{
	memset(writer.buffer + writer.used, 0xa5, size);
	writer.used += size;
}

static void nothing_is_torn(void **state)
{
	(void)state;
	is_whole();
}

static void a_chunk_is_torn_in_the_buffer(void **state)
{
	(void)state;
	tear(20);
	is_whole();
}

static void a_chunk_is_torn_in_the_file(void **state)
{
	(void)state;
	tear(20);
	writer_flush(&writer);
	tear(30);
	is_whole();
}

static void the_file_has_more_than_was_counted(void **state)
{
	(void)state;
	tear(20);
	assert_int_equal(write(writer.fd, writer.buffer, writer.used),
			 writer.used);
	is_whole();
}

static void the_buffer_has_what_was_counted(void **state)
{
	size_t used = writer.used;

	(void)state;
	writer_flush(&writer);
	writer.used = used;
	is_whole();
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(nothing_is_torn),
		TEST(a_chunk_is_torn_in_the_buffer),
		TEST(a_chunk_is_torn_in_the_file),
		TEST(the_file_has_more_than_was_counted),
		TEST(the_buffer_has_what_was_counted),
	};

	return cmocka_run_group_tests_name("salvage", tests, NULL, NULL);
}
