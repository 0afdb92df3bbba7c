/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The pages of an instance.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "tracee.h"

#include "replay/pagecache.h"
#include "sys/memory.h"

enum { PAGE = 4096, COUNT = 200 };

struct fixture {
	struct pagecache cache;
	struct memory memory; /* of this very process */
	struct replay_source source;
	uint8_t *pages; /* COUNT; each third is not mapped */
};

static bool is_there(size_t i)
{
	return i % 3 != 1;
}

static int setup(void **state)
{
	struct fixture *fixture = calloc(1, sizeof(*fixture));

	pagecache_init(&fixture->cache);
	memory_init(&fixture->memory, getpid());
	fixture->source.memory = &fixture->memory;
	fixture->pages = mmap(NULL, COUNT * PAGE, PROT_READ | PROT_WRITE,
			      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	for (size_t i = 0; i < COUNT; i++) {
		memset(fixture->pages + i * PAGE, (int)i, PAGE);
		if (!is_there(i))
			munmap(fixture->pages + i * PAGE, PAGE);
	}
	*state = fixture;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *fixture = *state;

	pagecache_deinit(&fixture->cache);
	memory_deinit(&fixture->memory);
	for (size_t i = 0; i < COUNT; i++) {
		if (is_there(i))
			munmap(fixture->pages + i * PAGE, PAGE);
	}
	free(fixture);
	return 0;
}

static uint64_t page_at(const struct fixture *fixture, size_t i)
{
	return (uintptr_t)fixture->pages + i * PAGE;
}

static void fetch_all(struct fixture *fixture)
{
	uint64_t wanted[COUNT];

	/* from the last to the first, which is no order of theirs */
	for (size_t i = 0; i < COUNT; i++)
		wanted[i] = page_at(fixture, COUNT - 1 - i);
	assert_ok(pagecache_fetch(&fixture->cache, &fixture->source, wanted,
				  COUNT));
}

static void check_all(struct fixture *fixture)
{
	for (size_t i = 0; i < COUNT; i++) {
		struct cached_page *page =
			pagecache_find(&fixture->cache, page_at(fixture, i));

		assert_int_equal(page != NULL, is_there(i));
		if (!page)
			continue;
		assert_int_equal(page->address, page_at(fixture, i));
		assert_int_equal(page->bytes[0], (uint8_t)i);
		assert_int_equal(page->bytes[PAGE - 1], (uint8_t)i);
	}
}

static void what_can_be_read_is_there(void **state)
{
	struct fixture *fixture = *state;
	size_t used;

	fetch_all(fixture);
	check_all(fixture);
	used = fixture->cache.used;
	/* and stays: it is as it was first */
	memset(fixture->pages, 0x77, PAGE);
	fetch_all(fixture);
	assert_int_equal(fixture->cache.used, used);
	check_all(fixture);
}

static void cleared_it_is_used_again(void **state)
{
	struct fixture *fixture = *state;
	size_t memory;

	fetch_all(fixture);
	memory = fixture->cache.pages.count;
	for (int i = 0; i < 5; i++) {
		pagecache_clear(&fixture->cache);
		assert_null(
			pagecache_find(&fixture->cache, page_at(fixture, 0)));
		fetch_all(fixture);
		check_all(fixture);
	}
	assert_int_equal(fixture->cache.pages.count, memory);
}

static void one_page_asked_for_twice_is_one(void **state)
{
	struct fixture *fixture = *state;
	uint64_t wanted[] = { page_at(fixture, 3), page_at(fixture, 1),
			      page_at(fixture, 3), page_at(fixture, 5) };

	assert_ok(
		pagecache_fetch(&fixture->cache, &fixture->source, wanted, 4));
	assert_int_equal(fixture->cache.used, 2);
	assert_int_equal(pagecache_find(&fixture->cache, wanted[3])->bytes[9],
			 5);
}

struct hidden {
	unsigned int calls;
	uint64_t page; /* the last one */
};

static void hide(void *data, uint64_t page, uint8_t *bytes)
{
	struct hidden *hidden = data;

	hidden->calls++;
	hidden->page = page;
	bytes[PAGE - 1] = 0xa3;
}

static void breakpoints_are_hidden(void **state)
{
	struct fixture *fixture = *state;
	struct hidden hidden = { 0 };
	uint64_t wanted = page_at(fixture, 3);
	const struct cached_page *page;

	fixture->source.hide = hide;
	fixture->source.data = &hidden;
	assert_ok(
		pagecache_fetch(&fixture->cache, &fixture->source, &wanted, 1));
	page = pagecache_find(&fixture->cache, wanted);
	assert_int_equal(hidden.calls, 1);
	assert_int_equal(hidden.page, wanted);
	assert_int_equal(page->bytes[PAGE - 2], 3);
	assert_int_equal(page->bytes[PAGE - 1], 0xa3);
	/* the program has it still */
	assert_int_equal(fixture->pages[3 * PAGE + PAGE - 1], 3);
}

static bool remember(void *data, uint64_t page, uint8_t *bytes)
{
	memset(bytes, 0x5a, PAGE);
	return page == *(uint64_t *)data;
}

static void what_cannot_be_read_may_be_known(void **state)
{
	struct fixture *fixture = *state;
	uint64_t wanted[] = { page_at(fixture, 1), page_at(fixture, 3),
			      page_at(fixture, 4) };

	fixture->source.read = remember;
	fixture->source.data = &wanted[0];
	assert_ok(
		pagecache_fetch(&fixture->cache, &fixture->source, wanted, 3));
	assert_int_equal(pagecache_find(&fixture->cache, wanted[0])->bytes[7],
			 0x5a);
	assert_int_equal(pagecache_find(&fixture->cache, wanted[1])->bytes[7],
			 3);
	assert_null(pagecache_find(&fixture->cache, wanted[2]));
}

static void what_is_added_stays(void **state)
{
	struct fixture *fixture = *state;
	struct hidden hidden = { 0 };
	uint64_t wanted = page_at(fixture, 3);
	uint8_t bytes[PAGE] = { 0x55 };
	const struct cached_page *page;

	fixture->source.hide = hide;
	fixture->source.data = &hidden;
	assert_ok(pagecache_add(&fixture->cache, &fixture->source, wanted,
				bytes));
	bytes[0] = 0x66;
	assert_ok(pagecache_add(&fixture->cache, &fixture->source, wanted,
				bytes));
	assert_ok(
		pagecache_fetch(&fixture->cache, &fixture->source, &wanted, 1));
	page = pagecache_find(&fixture->cache, wanted);
	assert_int_equal(page->bytes[0], 0x55);
	assert_int_equal(page->bytes[PAGE - 1], 0xa3);
	assert_int_equal(hidden.calls, 1);
	assert_int_equal(fixture->cache.used, 1);
}

static void bytes_are_read_across_pages(void **state)
{
	struct fixture *fixture = *state;
	uint8_t bytes[2 * PAGE];

	fetch_all(fixture);
	assert_true(pagecache_read(&fixture->cache,
				   page_at(fixture, 2) + PAGE - 3, bytes, 5));
	assert_memory_equal(bytes, "\x02\x02\x02\x03\x03", 5);
	assert_false(pagecache_read(&fixture->cache,
				    page_at(fixture, 3) + PAGE - 3, bytes, 5));
	assert_false(pagecache_read(&fixture->cache, 0, bytes, 1));
}

static void zeros_take_the_place_of_a_page(void **state)
{
	struct fixture *fixture = *state;
	struct cached_page *page = NULL;
	uint8_t none[PAGE] = { 0 };

	fetch_all(fixture);
	pagecache_clear(&fixture->cache);
	assert_ok(pagecache_add_zeros(&fixture->cache, page_at(fixture, 1),
				      &page));
	assert_memory_equal(page->bytes, none, PAGE);
	assert_ptr_equal(pagecache_find(&fixture->cache, page_at(fixture, 1)),
			 page);
}

#define FIXTURE_TEST(test) \
	cmocka_unit_test_setup_teardown(test, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		FIXTURE_TEST(what_can_be_read_is_there),
		FIXTURE_TEST(cleared_it_is_used_again),
		FIXTURE_TEST(one_page_asked_for_twice_is_one),
		FIXTURE_TEST(breakpoints_are_hidden),
		FIXTURE_TEST(what_cannot_be_read_may_be_known),
		FIXTURE_TEST(what_is_added_stays),
		FIXTURE_TEST(bytes_are_read_across_pages),
		FIXTURE_TEST(zeros_take_the_place_of_a_page),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
