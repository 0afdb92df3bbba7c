/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Pages that any race of a program may use, of this one.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include "replay/pagecache.h"
#include "replay/seeds.h"
#include "sanitized.h"
#include "sys/mapping.h"

enum { MANY = 64 };

/* More than is taken of it; it has bytes in the file. */
static char large[MANY][REPLAY_PAGE] __attribute__((aligned(REPLAY_PAGE))) = {
	"large",
};
static char zeros[MANY][REPLAY_PAGE] __attribute__((aligned(REPLAY_PAGE)));

static struct replay_hints find(void)
{
	struct replay_hints hints = { .count = 1, .pages = { 1 } };
	struct mappings mappings;

	mappings_init(&mappings, getpid());
	seeds_find(&mappings, &hints);
	mappings_deinit(&mappings);
	return hints;
}

static bool has(const struct replay_hints *hints, const void *address)
{
	return replay_hints_have(
		hints, replay_hint(0, replay_page_of((uintptr_t)address)));
}

static size_t count(const struct replay_hints *hints, const char *pages)
{
	size_t n = 0;

	for (int i = 0; i < MANY; i++)
		n += has(hints, pages + (size_t)i * REPLAY_PAGE);
	return n;
}

static void the_first_pages_of_each_module_are(void **state)
{
	struct replay_hints hints = find();

	(void)state;
	if (SANITIZED)
		skip();
	assert_in_range(hints.count, 1, REPLAY_HINTS_MAX);
	assert_in_range(count(&hints, large[0]), 1, SEEDS_DATA);
	assert_in_range(count(&hints, zeros[0]), 1, SEEDS_ZEROS);
	/* of the C library, too, if there was room */
	assert_true(has(&hints, stdout) || hints.count == REPLAY_HINTS_MAX);
}

static void other_memory_is_not(void **state)
{
	char *anonymous = mmap(NULL, REPLAY_PAGE, PROT_READ | PROT_WRITE,
			       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int file = memfd_create("data", MFD_CLOEXEC);
	char *private = mmap(NULL, REPLAY_PAGE, PROT_READ | PROT_WRITE,
			     MAP_PRIVATE, file, 0);
	char *shared = mmap(NULL, REPLAY_PAGE, PROT_READ | PROT_WRITE,
			    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	struct replay_hints hints;

	(void)state;
	assert_true(anonymous != MAP_FAILED && shared != MAP_FAILED &&
		    private != MAP_FAILED);
	hints = find();
	assert_false(has(&hints, anonymous));
	assert_false(has(&hints, shared));
	/* a file that has no code before it */
	assert_false(has(&hints, private));
	assert_false(has(&hints, &hints));
	munmap(anonymous, REPLAY_PAGE);
	munmap(shared, REPLAY_PAGE);
	munmap(private, REPLAY_PAGE);
	close(file);
}

static void of_a_process_that_has_ended_there_are_none(void **state)
{
	struct mappings mappings;
	struct replay_hints hints = { .count = 1 };

	(void)state;
	mappings_init(&mappings, -1);
	seeds_find(&mappings, &hints);
	mappings_deinit(&mappings);
	assert_int_equal(hints.count, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_first_pages_of_each_module_are),
		cmocka_unit_test(other_memory_is_not),
		cmocka_unit_test(of_a_process_that_has_ended_there_are_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
