/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Trails to pages that were missed. Pure: no process runs.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "replay/processor-parts.h"
#include "replay/trail.h"

static const uint64_t OBJECT = 0x500000, GLOBAL = 0x700000, MISSED = 0x900000;

struct fixture {
	struct processor processor;
	struct replay_hints hints;
	struct cached_page *object, *global;
};

static int setup(void **state)
{
	struct fixture *fixture = calloc(1, sizeof(*fixture));
	struct pagecache *cache = &fixture->processor.spaces[0].cache;

	pagecache_init(cache);
	assert_null(pagecache_add_zeros(cache, OBJECT, &fixture->object));
	assert_null(pagecache_add_zeros(cache, GLOBAL, &fixture->global));
	fixture->processor.instance.hints = &fixture->hints;
	*state = fixture;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *fixture = *state;

	pagecache_deinit(&fixture->processor.spaces[0].cache);
	free(fixture);
	return 0;
}

static void point(struct cached_page *page, size_t offset, uint64_t to)
{
	memcpy(page->bytes + offset, &to, sizeof(to));
}

static struct replay_trail trail(const struct fixture *fixture, size_t i)
{
	struct replay_trail found = { .behind = 0 };

	assert_true(i < fixture->hints.count);
	assert_false(replay_hint_is_page(fixture->hints.pages[i]));
	replay_trail_of(fixture->hints.pages[i], &found);
	return found;
}

static void a_register_leads_to_the_pointer(void **state)
{
	struct fixture *fixture = *state;
	struct replay_trail found;

	/* number 5 of a structure that rbx of the second thread points to */
	fixture->processor.starts[1].regs.gpr[X86_RBX] = OBJECT + 64;
	point(fixture->object, 64 + 40, MISSED);
	assert_true(trail_learn(&fixture->processor, 0, MISSED + 24));
	assert_int_equal(fixture->hints.count, 1);
	found = trail(fixture, 0);
	assert_true(found.by_register);
	assert_int_equal(found.thread, 1);
	assert_int_equal(found.reg, X86_RBX);
	assert_int_equal(found.offset, 40);
	assert_int_equal(found.behind, 24);
}

static void the_nearest_pointer_goes_first(void **state)
{
	struct fixture *fixture = *state;

	fixture->processor.starts[0].regs.gpr[X86_RDI] = OBJECT;
	point(fixture->object, 8, MISSED - 300);
	point(fixture->object, 16, MISSED - 8);
	/* too far before it, and behind it */
	point(fixture->object, 24, MISSED - 600);
	point(fixture->object, 32, MISSED + 8);
	assert_true(trail_learn(&fixture->processor, 0, MISSED));
	assert_int_equal(fixture->hints.count, 2);
	assert_int_equal(trail(fixture, 0).offset, 16);
	assert_int_equal(trail(fixture, 1).offset, 8);
}

static void a_pointer_in_a_page_that_was_missed_is_known(void **state)
{
	struct fixture *fixture = *state;

	point(fixture->global, 0xfe0, MISSED);
	assert_false(trail_learn(&fixture->processor, 0, MISSED + 8));
	assert_int_equal(fixture->hints.count, 0);
	replay_hints_add(&fixture->hints, replay_hint(0, GLOBAL));
	assert_true(trail_learn(&fixture->processor, 0, MISSED + 8));
	assert_false(trail(fixture, 1).by_register);
	assert_int_equal(trail(fixture, 1).address, GLOBAL + 0xfe0);
	assert_int_equal(trail(fixture, 1).behind, 8);
}

#define FIXTURE_TEST(test) \
	cmocka_unit_test_setup_teardown(test, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		FIXTURE_TEST(a_register_leads_to_the_pointer),
		FIXTURE_TEST(the_nearest_pointer_goes_first),
		FIXTURE_TEST(a_pointer_in_a_page_that_was_missed_is_known),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
