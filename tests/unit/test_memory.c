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

#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <sys/ioctl.h>
#include <sys/mman.h>

#include "sys/backing.h"
#include "sys/memory.h"

enum { PAGE = 4096, UNSERVED = 3 * PAGE };

struct fixture {
	uint32_t *ready;
	/*
	 * Two, readable and executable; the third has gone, and another one is
	 * behind it.
	 */
	uint8_t *pages;
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
	fixture->pages = mmap(NULL, 4 * PAGE, PROT_READ | PROT_WRITE,
			      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	for (int i = 0; i < 2 * PAGE; i++)
		fixture->pages[i] = (uint8_t)(i * 7);
	memset(fixture->pages + 3 * PAGE, 3, PAGE);
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

	memory_close_file(&fixture->memory);
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

static void pages_are_read_at_once(void **state)
{
	enum { FIRST, GONE, NULL_PAGE, SECOND, ODD };
	struct fixture *fixture = *state;
	uint64_t start = (uintptr_t)fixture->pages;
	static uint8_t bytes[ODD + 70][PAGE];
	struct memory_page pages[ODD + 70] = {
		[FIRST] = { .address = start },
		[GONE] = { .address = start + 2 * PAGE },
		[NULL_PAGE] = { .address = 0 },
		[SECOND] = { .address = start + PAGE },
	};

	for (int i = 0; i < ODD + 70; i++) {
		pages[i].bytes = bytes[i];
		/* more than fit into one call */
		if (i >= ODD)
			pages[i].address = start;
	}
	memory_read_pages(&fixture->memory, pages, ODD + 70);
	assert_true(pages[FIRST].read);
	assert_false(pages[GONE].read);
	assert_false(pages[NULL_PAGE].read);
	assert_true(pages[SECOND].read);
	assert_memory_equal(bytes[FIRST], fixture->pages, PAGE);
	assert_memory_equal(bytes[SECOND], fixture->pages + PAGE, PAGE);
	for (int i = ODD; i < ODD + 70; i++) {
		assert_true(pages[i].read);
		assert_memory_equal(bytes[i], fixture->pages, PAGE);
	}
}

/* Pages near each other have their states from one look, wherever they are asked. */
static void pages_that_lie_together_are_told_apart(void **state)
{
	struct fixture *fixture = *state;
	uint64_t start = (uintptr_t)fixture->pages;
	static uint8_t bytes[5][PAGE];
	struct memory_page pages[] = {
		{ .address = start + PAGE, .bytes = bytes[0] },
		{ .address = start + 64 * PAGE * 1024, .bytes = bytes[1] },
		{ .address = start + 2 * PAGE, .bytes = bytes[2] },
		{ .address = start, .bytes = bytes[3] },
		{ .address = start + PAGE, .bytes = bytes[4] },
	};

	/* what was left there by another use says nothing */
	pages[2].read = pages[0].absent = pages[3].looked = true;
	pages[3].absent = true;
	memory_read_pages(&fixture->memory, pages, 5);
	assert_true(pages[0].read);
	assert_false(pages[2].read);
	assert_true(pages[3].read);
	assert_true(pages[4].read);
	assert_true(pages[2].absent);
	assert_false(pages[0].absent || pages[3].absent || pages[4].absent);
	assert_memory_equal(bytes[0], fixture->pages + PAGE, PAGE);
	assert_memory_equal(bytes[3], fixture->pages, PAGE);
	assert_memory_equal(bytes[4], fixture->pages + PAGE, PAGE);
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

/*
 * Pages of this process whose faults nobody serves: who touches one waits for
 * ever. The first and the third are there. NULL: not allowed.
 */
static uint8_t *unserved_pages(int mode, bool shared, int *ret_faults)
{
	struct uffdio_api api = { .api = UFFD_API };
	struct uffdio_register range = { .mode = (uint64_t)mode };
	int file = shared ? memfd_create("pages", MFD_CLOEXEC) : -1;
	uint8_t *pages;

	assert_true(!shared || ftruncate(file, UNSERVED) == 0);
	pages = mmap(NULL, UNSERVED, PROT_READ | PROT_WRITE,
		     shared ? MAP_SHARED : MAP_PRIVATE | MAP_ANONYMOUS, file,
		     0);
	pages[0] = pages[2 * PAGE] = 7;
	*ret_faults = (int)syscall(SYS_userfaultfd, O_CLOEXEC);
	range.range = (struct uffdio_range){ (uintptr_t)pages, UNSERVED };
	if (*ret_faults < 0 || ioctl(*ret_faults, UFFDIO_API, &api) ||
	    ioctl(*ret_faults, UFFDIO_REGISTER, &range))
		return NULL;
	return pages;
}

static void check_unserved(bool shared)
{
	struct memory memory;
	uint8_t bytes[2 * PAGE] = { 0 };
	size_t size = 77;
	struct error *err;
	int faults;
	uint8_t *pages =
		unserved_pages(UFFDIO_REGISTER_MODE_MISSING, shared, &faults);

	if (!pages)
		skip();
	memory_init(&memory, getpid());
	/* who waits for ever shall end */
	alarm(20);
	assert_ok(
		memory_read(&memory, (uintptr_t)pages, bytes, 2 * PAGE, &size));
	assert_int_equal(size, PAGE);
	assert_int_equal(bytes[0], 7);
	size = 77;
	err = memory_read(&memory, (uintptr_t)pages + PAGE, bytes, 8, &size);
	assert_non_null(err);
	assert_int_equal(size, 77);
	error_free(err);
	err = memory_write_text(&memory, 0, (uintptr_t)pages + PAGE, "x", 1);
	assert_non_null(err);
	error_free(err);
	alarm(0);
	close(faults);
	memory_deinit(&memory);
	munmap(pages, UNSERVED);
}

static void a_page_that_must_be_served_is_not_read(void **state)
{
	(void)state;
	check_unserved(false);
}

static void nor_one_of_shared_memory(void **state)
{
	(void)state;
	check_unserved(true);
}

/* Let the pagemap say of a page that it is in memory. */
static void tell_present(int pagemap, uint64_t address, bool shared)
{
	uint64_t entry = UINT64_C(1) << 63 | (uint64_t)shared << 61;

	assert_int_equal(pwrite(pagemap, &entry, sizeof(entry),
				(off_t)(address / PAGE * sizeof(entry))),
			 sizeof(entry));
}

/* A pagemap that says so of one page, and nothing of any other. */
static int stale_pagemap(uint64_t address, bool shared)
{
	int file = memfd_create("pagemap", MFD_CLOEXEC);

	tell_present(file, address, shared);
	return file;
}

static void check_disappeared(bool shared)
{
	int faults;
	uint8_t *pages =
		unserved_pages(UFFDIO_REGISTER_MODE_MISSING, shared, &faults);
	static uint8_t bytes[PAGE];
	struct memory_page page = { .address = (uintptr_t)pages + PAGE,
				    .bytes = bytes };
	struct memory memory;
	struct error *err;
	size_t size = 77;

	if (!pages)
		skip();
	memory_init(&memory, getpid());
	close(memory.pages);
	memory.pages = stale_pagemap(page.address, shared);
	/* who waits for ever shall end */
	alarm(20);
	memory_read_pages(&memory, &page, 1);
	assert_false(page.absent);
	assert_false(page.read);
	err = memory_read(&memory, page.address, bytes, 8, &size);
	assert_non_null(err);
	error_free(err);
	alarm(0);
	close(faults);
	memory_deinit(&memory);
	munmap(pages, UNSERVED);
}

/* The thread that serves it may be held. */
static void a_page_that_disappears_is_not_waited_for(void **state)
{
	(void)state;
	check_disappeared(false);
	check_disappeared(true);
}

/* As before Linux 6.11. */
static void forget_mappings(struct memory *memory)
{
	backing_destroy(memory->backing);
	memory->backing = NULL;
}

static void check_row_around_unserved(bool mappings)
{
	int faults;
	uint8_t *pages =
		unserved_pages(UFFDIO_REGISTER_MODE_MISSING, false, &faults);
	static uint8_t bytes[UNSERVED];
	struct memory_page row[3];
	struct memory memory;

	if (!pages)
		skip();
	memory_init(&memory, getpid());
	if (!mappings)
		forget_mappings(&memory);
	for (int i = 0; i < 3; i++)
		row[i] = (struct memory_page){
			.address = (uintptr_t)pages + (uint64_t)i * PAGE,
			.bytes = bytes + i * PAGE,
		};
	/* who waits for ever shall end */
	alarm(20);
	memory_read_pages(&memory, row, 3);
	alarm(0);
	for (int i = 0; i < 3; i++)
		assert_int_equal(row[i].read, i != 1);
	assert_int_equal(bytes[0], 7);
	assert_int_equal(bytes[2 * PAGE], 7);
	close(faults);
	memory_deinit(&memory);
	munmap(pages, UNSERVED);
}

static void pages_around_one_that_must_be_served_are_read(void **state)
{
	(void)state;
	check_row_around_unserved(true);
	check_row_around_unserved(false);
}

/* Which of its pages are absent is not asked: what is read is zeros. */
static void private_memory_is_not_looked_at(void **state)
{
	uint8_t *pages = mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE,
			      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	static uint8_t bytes[2 * PAGE];
	struct memory_page row[2];
	struct backing_range range;
	struct memory memory;
	int whole;

	(void)state;
	memory_init(&memory, getpid());
	if (!backing_range(memory.backing, (uintptr_t)pages, &range))
		skip();
	whole = memory.pages;
	pages[0] = 7;
	memset(bytes, 1, sizeof(bytes));
	for (int i = 0; i < 2; i++)
		row[i] = (struct memory_page){
			.address = (uintptr_t)pages + (uint64_t)i * PAGE,
			.bytes = bytes + i * PAGE,
		};
	/* nothing is told by it: all that is looked at there is absent */
	memory.pages = -1;
	memory_read_pages(&memory, row, 2);
	memory.pages = whole;
	assert_false(row[0].absent || row[1].absent);
	assert_true(row[0].read && row[1].read);
	assert_int_equal(bytes[0], 7);
	assert_int_equal(bytes[PAGE], 0);
	memory_deinit(&memory);
	munmap(pages, 2 * PAGE);
}

/* They take one system call; where one has disappeared, those behind it another. */
static void pages_in_a_row_are_read_but_for_one_that_disappears(void **state)
{
	struct fixture *fixture = *state;
	uint64_t start = (uintptr_t)fixture->pages;
	static uint8_t bytes[5][PAGE];
	struct memory_page pages[5];
	int whole = fixture->memory.pages;

	forget_mappings(&fixture->memory);
	fixture->memory.pages = memfd_create("pagemap", MFD_CLOEXEC);
	for (int i = 0; i < 5; i++) {
		/* the last one is not next to the others */
		uint64_t address = i < 4 ? start + (uint64_t)i * PAGE : start;

		pages[i] = (struct memory_page){ .address = address,
						 .bytes = bytes[i] };
		tell_present(fixture->memory.pages, address, false);
	}
	memory_read_pages(&fixture->memory, pages, 5);
	for (int i = 0; i < 5; i++) {
		assert_false(pages[i].absent);
		assert_int_equal(pages[i].read, i != 2);
		if (i != 2)
			assert_memory_equal(bytes[i],
					    (void *)(uintptr_t)pages[i].address,
					    PAGE);
	}
	close(fixture->memory.pages);
	fixture->memory.pages = whole;
}

static void a_page_protected_by_userfaultfd_is_not_written(void **state)
{
	struct uffdio_writeprotect protect = {
		.mode = UFFDIO_WRITEPROTECT_MODE_WP
	};
	struct memory memory;
	struct error *err;
	uint8_t byte = 0;
	size_t size;
	int faults;
	uint8_t *pages =
		unserved_pages(UFFDIO_REGISTER_MODE_WP, false, &faults);

	(void)state;
	if (!pages)
		skip();
	protect.range = (struct uffdio_range){ (uintptr_t)pages, PAGE };
	assert_int_equal(ioctl(faults, UFFDIO_WRITEPROTECT, &protect), 0);
	memory_init(&memory, getpid());
	alarm(20);
	assert_ok(memory_read(&memory, (uintptr_t)pages, &byte, 1, &size));
	assert_int_equal(byte, 7);
	err = memory_write_text(&memory, 0, (uintptr_t)pages, "x", 1);
	assert_non_null(err);
	error_free(err);
	assert_int_equal(pages[0], 7);
	alarm(0);
	close(faults);
	memory_deinit(&memory);
	munmap(pages, 2 * PAGE);
}

/* Never touched, it is zero; a file's page is read from the file. */
static void an_absent_page_that_nobody_serves_is_read(void **state)
{
	int file = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	uint8_t *pages = mmap(NULL, PAGE, PROT_READ | PROT_WRITE,
			      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	const uint8_t *text = mmap(NULL, PAGE, PROT_READ, MAP_PRIVATE, file, 0);
	struct memory memory;
	uint8_t bytes[4] = { 1 };
	size_t size;

	(void)state;
	memory_init(&memory, getpid());
	assert_ok(memory_read(&memory, (uintptr_t)pages, bytes, 1, &size));
	assert_int_equal(bytes[0], 0);
	assert_ok(memory_read(&memory, (uintptr_t)text, bytes, 4, &size));
	assert_memory_equal(bytes, "\177ELF", 4);
	memory_deinit(&memory);
	munmap((void *)text, PAGE);
	munmap(pages, PAGE);
	close(file);
}

static void what_is_not_mapped_is_not_refused(void **state)
{
	struct fixture *fixture = *state;
	uint64_t page = (uintptr_t)fixture->pages;
	struct error *err;

	memory_close_file(&fixture->memory);
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
		cmocka_unit_test(a_page_that_must_be_served_is_not_read),
		cmocka_unit_test(nor_one_of_shared_memory),
		cmocka_unit_test(a_page_that_disappears_is_not_waited_for),
		cmocka_unit_test(pages_around_one_that_must_be_served_are_read),
		cmocka_unit_test(private_memory_is_not_looked_at),
		cmocka_unit_test(
			a_page_protected_by_userfaultfd_is_not_written),
		cmocka_unit_test(an_absent_page_that_nobody_serves_is_read),
		cmocka_unit_test(memory_is_that_of_a_thread_that_lives),
		TEST(pages_are_read_at_once),
		TEST(pages_that_lie_together_are_told_apart),
		TEST(pages_in_a_row_are_read_but_for_one_that_disappears),
		TEST(of_a_process_that_is_gone_nothing_is_read),
	};

	return cmocka_run_group_tests_name("memory", tests, NULL, NULL);
}
