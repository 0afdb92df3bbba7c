/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What a process may do with an address.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "headless.h"

#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include "sys/mapping.h"

enum { PAGE = 4096 };

static void lines_are_parsed(void **state)
{
	struct mapping mapping;

	(void)state;
	assert_true(mapping_parse("00400000-00452000 r-xp 00001000 08:02 17 "
				  "/bin/a b\n",
				  &mapping));
	assert_int_equal(mapping.start, 0x400000);
	assert_int_equal(mapping.end, 0x452000);
	assert_int_equal(mapping.access, MAPPING_READ | MAPPING_EXECUTE);
	assert_false(mapping.stack);
	assert_int_equal(mapping.offset, 0x1000);
	assert_int_equal(mapping.device, UINT64_C(8) << 32 | 2);
	assert_int_equal(mapping.inode, 17);
	assert_true(mapping_parse("7ffc0-7ffd0 rw-s 00000000 00:00 0 "
				  "        [stack]",
				  &mapping));
	assert_int_equal(mapping.access,
			 MAPPING_READ | MAPPING_WRITE | MAPPING_SHARED);
	assert_true(mapping.stack);
	assert_true(
		mapping_parse("1000-2000 ---p 00000000 00:00 0 \n", &mapping));
	assert_int_equal(mapping.access, 0);
	assert_false(mapping.stack || mapping.secret || mapping.clock);
	assert_true(mapping_parse("1000-2000 rw-s 00000000 00:0e 7 "
				  "/secretmem (deleted)\n",
				  &mapping));
	assert_true(mapping.secret);
	assert_true(mapping_parse("1000-2000 r--p 00000000 00:00 0 "
				  "[vvar_vclock]\n",
				  &mapping));
	assert_true(mapping.clock);
	assert_false(mapping.secret);
}

static void other_lines_are_none(void **state)
{
	struct mapping mapping;

	(void)state;
	assert_false(mapping_parse("", &mapping));
	assert_false(
		mapping_parse("00400000 r-xp 00001000 08:02 17", &mapping));
	assert_false(mapping_parse("400000-452000", &mapping));
}

static struct mapping find(struct mappings *mappings, const void *address)
{
	struct mapping mapping = { 0 };
	bool found = false;

	assert_ok(
		mappings_find(mappings, (uintptr_t)address, &mapping, &found));
	assert_true(found);
	return mapping;
}

/* The second page of it, mapped once more, is known for the same memory. */
static void check_same_file(struct mappings *mappings, uint8_t *shared,
			    const struct mapping *mapping)
{
	uint8_t *page = mremap(shared + PAGE, 0, PAGE, MREMAP_MAYMOVE);
	struct mapping other = find(mappings, page);

	assert_true(page != MAP_FAILED && page != shared + PAGE);
	assert_true(mapping->inode != 0);
	assert_int_equal(other.inode, mapping->inode);
	assert_int_equal(other.device, mapping->device);
	assert_int_equal(other.offset, mapping->offset + PAGE);
	munmap(page, PAGE);
}

struct walk {
	unsigned int access; /* that each has */
	uint64_t wanted; /* an address; 0: none, and one is enough */
	uint64_t end; /* of the last one */
	size_t count;
	bool found;
};

static bool walk_each(void *data, const struct mapping *mapping)
{
	struct walk *walk = data;

	assert_int_equal(mapping->access & walk->access, walk->access);
	assert_true(mapping->start >= walk->end);
	assert_true(mapping->end > mapping->start);
	walk->end = mapping->end;
	walk->count++;
	walk->found |= walk->wanted >= mapping->start &&
		       walk->wanted < mapping->end;
	return walk->wanted != 0;
}

/* Those with some access, and not the others; nor more than are wanted. */
static void check_walk(struct mappings *mappings, const uint8_t *shared)
{
	struct walk walks[] = {
		{ .access = MAPPING_EXECUTE, .wanted = (uintptr_t)check_walk },
		{ .access = MAPPING_SHARED | MAPPING_WRITE,
		  .wanted = (uintptr_t)shared },
		{ .wanted = (uintptr_t)shared },
	};
	struct walk first = { .wanted = 0 };

	for (int i = 0; i < 3; i++) {
		assert_ok(mappings_walk(mappings, walks[i].access, walk_each,
					&walks[i]));
		assert_true(walks[i].found);
	}
	assert_true(walks[2].count > walks[0].count + walks[1].count);
	assert_ok(mappings_walk(mappings, 0, walk_each, &first));
	assert_int_equal(first.count, 1);
}

static void check_own(struct mappings *mappings)
{
	uint8_t *pages = mmap(NULL, 3 * PAGE, PROT_NONE,
			      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	uint8_t *shared = tracee_share(2 * PAGE);
	struct mapping mapping;
	bool found = true;

	munmap(pages, PAGE);
	mprotect(pages + 2 * PAGE, PAGE, PROT_READ);
	mapping = find(mappings, pages + PAGE);
	assert_int_equal(mapping.start, (uintptr_t)pages + PAGE);
	assert_int_equal(mapping.access, 0);
	/* nothing is there: the next */
	mapping = find(mappings, pages + 17);
	assert_int_equal(mapping.start, (uintptr_t)pages + PAGE);
	assert_int_equal(find(mappings, pages + 2 * PAGE).access, MAPPING_READ);
	mapping = find(mappings, shared);
	assert_int_equal(mapping.access,
			 MAPPING_READ | MAPPING_WRITE | MAPPING_SHARED);
	check_same_file(mappings, shared, &mapping);
	assert_int_equal(find(mappings, (void *)(uintptr_t)check_own).access,
			 MAPPING_READ | MAPPING_EXECUTE);
	assert_true(find(mappings, &mapping).stack);
	assert_false(find(mappings, shared).stack);
	assert_ok(mappings_find(mappings, UINT64_MAX - PAGE, &mapping, &found));
	assert_false(found);
	check_walk(mappings, shared);
	munmap(pages + PAGE, 2 * PAGE);
	munmap(shared, 2 * PAGE);
}

static void they_are_asked_for(void **state)
{
	struct mappings mappings;

	(void)state;
	mappings_init(&mappings, getpid());
	check_own(&mappings);
	mappings_deinit(&mappings);
}

static void before_linux_6_11_they_are_read(void **state)
{
	struct mappings mappings;

	(void)state;
	mappings_init(&mappings, getpid());
	mappings.no_query = true;
	check_own(&mappings);
	mappings_deinit(&mappings);
}

static void of_a_process_without_its_first_thread_they_are_known(void **state)
{
	struct headless it = headless_start();
	struct mappings mappings;

	(void)state;
	mappings_init(&mappings, it.pid);
	assert_int_equal(find(&mappings, it.shared).access,
			 MAPPING_READ | MAPPING_WRITE | MAPPING_SHARED);
	mappings_deinit(&mappings);
	headless_end(&it);
}

static void what_cannot_be_opened_is_an_error(void **state)
{
	struct mappings mappings = { .fd = -1 };
	struct mapping mapping;
	bool found;
	struct error *err;

	(void)state;
	err = mappings_find(&mappings, 0, &mapping, &found);
	assert_non_null(err);
	assert_int_equal(err->kind, ERROR_REFUSED);
	error_free(err);
	err = mappings_walk(&mappings, 0, walk_each, NULL);
	assert_non_null(err);
	assert_int_equal(err->kind, ERROR_REFUSED);
	error_free(err);
}

static void memory_that_userfaultfd_may_serve_is_told(void **state)
{
	const struct mapping anonymous = { .access = MAPPING_READ };
	const struct mapping shared = { .inode = 7, .access = MAPPING_SHARED };
	const struct mapping file = { .inode = 7, .access = MAPPING_READ };
	int faults;

	(void)state;
	assert_false(mapping_may_be_userfaultfd(getpid(), &anonymous));
	faults = (int)syscall(SYS_userfaultfd, O_CLOEXEC | UFFD_USER_MODE_ONLY);
	if (faults < 0)
		skip();
	assert_true(mapping_may_be_userfaultfd(getpid(), &anonymous));
	assert_true(mapping_may_be_userfaultfd(getpid(), &shared));
	assert_false(mapping_may_be_userfaultfd(getpid(), &file));
	close(faults);
	assert_false(mapping_may_be_userfaultfd(getpid(), &anonymous));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lines_are_parsed),
		cmocka_unit_test(other_lines_are_none),
		cmocka_unit_test(they_are_asked_for),
		cmocka_unit_test(before_linux_6_11_they_are_read),
		cmocka_unit_test(
			of_a_process_without_its_first_thread_they_are_known),
		cmocka_unit_test(what_cannot_be_opened_is_an_error),
		cmocka_unit_test(memory_that_userfaultfd_may_serve_is_told),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
