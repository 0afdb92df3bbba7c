/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Which pages are in memory.
 */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include "sys/pagemap.h"

enum { MANY = 70 };

#define BIT(n) (UINT64_C(1) << (n))

static void an_entry_tells_the_state(void **state)
{
	(void)state;
	assert_int_equal(pagemap_state(0), PAGE_ABSENT);
	assert_int_equal(pagemap_state(BIT(63) | 0x1234), PAGE_PRIVATE);
	assert_int_equal(pagemap_state(BIT(63) | BIT(57)), PAGE_PRIVATE);
	assert_int_equal(pagemap_state(BIT(63) | BIT(61)), PAGE_OF_FILE);
	/* swapped out; on its way from one place in memory to another */
	assert_int_equal(pagemap_state(BIT(62)), PAGE_PRIVATE);
	assert_int_equal(pagemap_state(BIT(62) | BIT(61)), PAGE_ABSENT);
	/* a marker of userfaultfd(2) where no page was */
	assert_int_equal(pagemap_state(BIT(62) | BIT(57)), PAGE_ABSENT);
}

static void states_are_those_of_the_pages(void **state)
{
	int fd = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
	enum page_state states[MANY];
	char *pages = mmap(NULL, (size_t)MANY * PAGEMAP_PAGE,
			   PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
			   -1, 0);

	(void)state;
	assert_true(fd >= 0);
	madvise(pages, (size_t)MANY * PAGEMAP_PAGE, MADV_NOHUGEPAGE);
	for (size_t i = 0; i < MANY; i += 3)
		pages[i * PAGEMAP_PAGE + 5] = 1;
	/* more than are read at once, from within a page */
	pagemap_states(fd, (uintptr_t)pages + 77, states, MANY);
	for (size_t i = 0; i < MANY; i++)
		assert_int_equal(states[i], i % 3 ? PAGE_ABSENT : PAGE_PRIVATE);
	pagemap_states(-1, (uintptr_t)pages, states, 1);
	assert_int_equal(states[0], PAGE_ABSENT);
	munmap(pages, (size_t)MANY * PAGEMAP_PAGE);
	close(fd);
}

static void a_page_of_shared_memory_is_of_a_file(void **state)
{
	int fd = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
	enum page_state states[1];
	char *page = mmap(NULL, PAGEMAP_PAGE, PROT_READ | PROT_WRITE,
			  MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	(void)state;
	page[0] = 1;
	pagemap_states(fd, (uintptr_t)page, states, 1);
	assert_int_equal(states[0], PAGE_OF_FILE);
	munmap(page, PAGEMAP_PAGE);
	close(fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_entry_tells_the_state),
		cmocka_unit_test(states_are_those_of_the_pages),
		cmocka_unit_test(a_page_of_shared_memory_is_of_a_file),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
