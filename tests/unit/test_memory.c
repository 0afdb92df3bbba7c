/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A tracee's memory: read at the end of a mapping, and its text written, by
 * file and by ptrace(2).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "headless.h"

#include "sys/memory.h"

enum { PAGE = 4096 };

struct fixture {
	uint32_t *ready;
	uint8_t *pages; /* two, readable and executable; the third has gone */
	pid_t pid;
	struct memory memory;
};

static void body(void *arg)
{
	tracee_tell(arg, 1);
	for (;;)
		pause();
}

static int setup(void **state)
{
	struct fixture *fixture = calloc(1, sizeof(*fixture));

	fixture->ready = tracee_share(sizeof(*fixture->ready));
	fixture->pages = mmap(NULL, 3 * PAGE, PROT_READ | PROT_WRITE,
			      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	for (int i = 0; i < 2 * PAGE; i++)
		fixture->pages[i] = (uint8_t)(i * 7);
	munmap(fixture->pages + 2 * PAGE, PAGE);
	mprotect(fixture->pages, 2 * PAGE, PROT_READ | PROT_EXEC);
	fixture->pid = tracee_fork(body, fixture->ready);
	tracee_await(fixture->ready, 1);
	tracee_seize(fixture->pid);
	memory_init(&fixture->memory, fixture->pid);
	*state = fixture;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *fixture = *state;

	memory_deinit(&fixture->memory);
	tracee_kill(fixture->pid);
	munmap(fixture->pages, 2 * PAGE);
	munmap(fixture->ready, sizeof(*fixture->ready));
	free(fixture);
	return 0;
}

static void a_read_ends_with_its_mapping(void **state)
{
	struct fixture *fixture = *state;
	uint64_t end = (uintptr_t)fixture->pages + 2 * PAGE;
	uint8_t bytes[64] = { 0 };
	size_t size = 77;
	struct error *err;

	assert_ok(memory_read(&fixture->memory, end - 20, bytes, 64, &size));
	assert_int_equal(size, 20);
	assert_memory_equal(bytes, fixture->pages + 2 * PAGE - 20, 20);
	size = 77;
	err = memory_read(&fixture->memory, end, bytes, 64, &size);
	assert_non_null(err);
	assert_int_equal(size, 77);
	error_free(err);
}

static void check_written(struct fixture *fixture, pid_t stopped)
{
	uint64_t address = (uintptr_t)fixture->pages + PAGE - 5;
	uint8_t bytes[2 * PAGE];
	size_t size;

	/* across two pages, beginning and ending within a word */
	assert_ok(memory_write_text(&fixture->memory, stopped, address,
				    "0123456789", 10));
	/* ours are a copy that stays as it was */
	assert_int_equal(fixture->pages[PAGE - 5], (uint8_t)((PAGE - 5) * 7));
	assert_ok(memory_read(&fixture->memory, (uintptr_t)fixture->pages,
			      bytes, sizeof(bytes), &size));
	assert_int_equal(size, sizeof(bytes));
	assert_memory_equal(bytes, fixture->pages, PAGE - 5);
	assert_memory_equal(bytes + PAGE - 5, "0123456789", 10);
	assert_memory_equal(bytes + PAGE + 5, fixture->pages + PAGE + 5,
			    PAGE - 5);
}

static void text_without_write_permission_is_written(void **state)
{
	check_written(*state, 0);
}

static void without_the_file_it_is_written_by_ptrace(void **state)
{
	struct fixture *fixture = *state;
	struct error *err;

	memory_deinit(&fixture->memory);
	assert_int_equal(fixture->memory.fd, -1);
	err = memory_write_text(&fixture->memory, 0, (uintptr_t)fixture->pages,
				"x", 1);
	assert_non_null(err);
	error_free(err);
	check_written(fixture, fixture->pid);
}

static void nothing_is_written_where_nothing_is_mapped(void **state)
{
	struct fixture *fixture = *state;
	uint64_t end = (uintptr_t)fixture->pages + 2 * PAGE;
	pid_t stopped[] = { 0, fixture->pid };

	for (int i = 0; i < 2; i++) {
		struct error *err = memory_write_text(&fixture->memory,
						      stopped[i], end, "x", 1);

		assert_non_null(err);
		error_free(err);
	}
}

static void of_a_process_that_is_gone_nothing_is_read(void **state)
{
	struct fixture *fixture = *state;
	struct error *err;
	uint8_t byte;
	size_t size;

	tracee_kill(fixture->pid);
	err = memory_read(&fixture->memory, (uintptr_t)fixture->pages, &byte, 1,
			  &size);
	assert_non_null(err);
	error_free(err);
	err = memory_write_text(&fixture->memory, fixture->pid,
				(uintptr_t)fixture->pages, "x", 1);
	assert_ptr_equal(err, error_gone);
	memory_reopen(&fixture->memory, fixture->pid);
	assert_int_equal(fixture->memory.fd, -1);
}

static void memory_is_that_of_a_thread_that_lives(void **state)
{
	struct headless it = headless_start();
	uint64_t text = (uintptr_t)&headless_thread;
	struct memory memory;
	uint8_t byte = 0, now = 0;
	size_t size;

	(void)state;
	memory_init(&memory, it.pid);
	assert_ok(memory_read(&memory, text, &byte, 1, &size));
	assert_int_equal(byte, *(const uint8_t *)(uintptr_t)text);
	byte ^= 1;
	assert_ok(memory_write_text(&memory, 0, text, &byte, 1));
	assert_ok(memory_read(&memory, text, &now, 1, &size));
	assert_int_equal(now, byte);
	memory_deinit(&memory);
	headless_end(&it);
}

static void what_is_not_mapped_is_not_refused(void **state)
{
	struct fixture *fixture = *state;
	uint64_t page = (uintptr_t)fixture->pages;
	struct error *err;

	memory_deinit(&fixture->memory);
	err = memory_write_text(&fixture->memory, 0, page, "x", 1);
	assert_true(error_catch(err, ERROR_REFUSED));
	err = memory_write_text(&fixture->memory, 0, page + 2 * PAGE, "x", 1);
	assert_true(error_catch(err, ERROR_OTHER));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_read_ends_with_its_mapping),
		TEST(text_without_write_permission_is_written),
		TEST(without_the_file_it_is_written_by_ptrace),
		TEST(nothing_is_written_where_nothing_is_mapped),
		TEST(what_is_not_mapped_is_not_refused),
		cmocka_unit_test(memory_is_that_of_a_thread_that_lives),
		TEST(of_a_process_that_is_gone_nothing_is_read),
	};

	return cmocka_run_group_tests_name("memory", tests, NULL, NULL);
}
