/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Live-outs of two schedules, compared. Pure: no process runs.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/error.h"
#include "replay/liveout.h"
#include "replay/orders.h"
#include "replay/processor-parts.h"

static const uint64_t HEAP = 0x500000, OTHER = 0x700000, STACK = 0x900000;

struct fixture {
	struct processor processor;
	struct replay_outcome a, b;
	struct vec found;
};

static int setup(void **state)
{
	const uint64_t pages[] = { HEAP, OTHER, STACK };
	struct fixture *fixture = calloc(1, sizeof(*fixture));
	struct cached_page *page;

	pagecache_init(&fixture->processor.spaces[0].cache);
	for (int i = 0; i < 3; i++)
		assert_null(pagecache_add_zeros(
			&fixture->processor.spaces[0].cache, pages[i], &page));
	outcome_init(&fixture->a);
	outcome_init(&fixture->b);
	fixture->found.size = sizeof(struct liveout);
	*state = fixture;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *fixture = *state;

	pagecache_deinit(&fixture->processor.spaces[0].cache);
	outcome_deinit(&fixture->a);
	outcome_deinit(&fixture->b);
	vec_deinit(&fixture->found);
	free(fixture);
	return 0;
}

/* The page as the schedule left it, with these bytes at the offset. */
static void write_at(struct replay_outcome *outcome, uint64_t page,
		     size_t offset, const char *bytes)
{
	struct outcome_page *it = vec_append(&outcome->pages);

	it->address = page;
	memcpy(it->bytes + offset, bytes, strlen(bytes));
}

static void compare(struct fixture *fixture, size_t expected)
{
	assert_null(liveout_compare(&fixture->processor, &fixture->a,
				    &fixture->b, &fixture->found));
	assert_int_equal(fixture->found.count, expected);
}

static void assert_found(const struct fixture *fixture, size_t i,
			 uint64_t address, uint64_t size)
{
	const struct liveout *liveout = vec_at(&fixture->found, i);

	assert_int_equal(liveout->address, address);
	assert_int_equal(liveout->size, size);
}

static void equal_outcomes_differ_nowhere(void **state)
{
	struct fixture *fixture = *state;

	compare(fixture, 0);
	write_at(&fixture->a, HEAP, 8, "same");
	write_at(&fixture->b, HEAP, 8, "same");
	compare(fixture, 0);
}

static void runs_of_bytes_are_one(void **state)
{
	struct fixture *fixture = *state;

	write_at(&fixture->a, HEAP, 4092, "abcd");
	write_at(&fixture->b, HEAP, 4092, "aXYd");
	write_at(&fixture->a, OTHER, 0, "12345");
	write_at(&fixture->b, OTHER, 0, "x23x5");
	compare(fixture, 3);
	assert_found(fixture, 0, HEAP + 4093, 2);
	assert_found(fixture, 1, OTHER, 1);
	assert_found(fixture, 2, OTHER + 3, 1);
}

static void a_page_that_one_left_alone_is_as_captured(void **state)
{
	struct fixture *fixture = *state;

	write_at(&fixture->a, HEAP, 1, "a");
	write_at(&fixture->b, OTHER, 2, "bb");
	compare(fixture, 2);
	assert_found(fixture, 0, HEAP + 1, 1);
	assert_found(fixture, 1, OTHER + 2, 2);
}

static void set_rsp(struct fixture *fixture, int thread, uint64_t a, uint64_t b)
{
	fixture->a.contexts[thread].regs.gpr[X86_RSP] = a;
	fixture->b.contexts[thread].regs.gpr[X86_RSP] = b;
}

static void what_is_below_the_stack_pointer_is_dead(void **state)
{
	struct fixture *fixture = *state;

	fixture->processor.instance.threads[1].stack_low = STACK;
	set_rsp(fixture, 1, STACK + 100, STACK + 100);
	write_at(&fixture->a, STACK, 98, "dddd");
	compare(fixture, 1);
	assert_found(fixture, 0, STACK + 100, 2);
}

static void in_both_it_must_be(void **state)
{
	struct fixture *fixture = *state;

	fixture->processor.instance.threads[0].stack_low = STACK;
	set_rsp(fixture, 0, STACK + 100, STACK + 96);
	write_at(&fixture->a, STACK, 94, "dddddd");
	compare(fixture, 1);
	assert_found(fixture, 0, STACK + 96, 4);
}

static void of_an_unknown_stack_64_kilobytes_are_dead(void **state)
{
	struct fixture *fixture = *state;

	set_rsp(fixture, 0, STACK + 65536 + 10, STACK + 65536 + 10);
	write_at(&fixture->a, STACK, 8, "dddd");
	compare(fixture, 1);
	assert_found(fixture, 0, STACK + 8, 2);
}

#define FIXTURE_TEST(test) \
	cmocka_unit_test_setup_teardown(test, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		FIXTURE_TEST(equal_outcomes_differ_nowhere),
		FIXTURE_TEST(runs_of_bytes_are_one),
		FIXTURE_TEST(a_page_that_one_left_alone_is_as_captured),
		FIXTURE_TEST(what_is_below_the_stack_pointer_is_dead),
		FIXTURE_TEST(in_both_it_must_be),
		FIXTURE_TEST(of_an_unknown_stack_64_kilobytes_are_dead),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
