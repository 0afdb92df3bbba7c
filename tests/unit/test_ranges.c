/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Sets of addresses, against a plain look at all ranges, and how much work they
 * are.
 */
#include "image/ranges.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/rng.h"
#include "base/vec.h"

enum { ROUNDS = 300, ADDRESSES = 256 };

static void add(struct vec *ranges, uint64_t start, uint64_t end)
{
	struct code_range range = { start, end };

	assert_true(vec_push(ranges, &range));
}

static bool plain_overlap(const struct vec *ranges, uint64_t start,
			  uint64_t end)
{
	for (size_t i = 0; i < ranges->count; i++) {
		const struct code_range *range = vec_at(ranges, i);

		if (range->start < end && range->end > start)
			return true;
	}
	return false;
}

static void fill(struct rng *rng, struct vec *ranges, struct vec *copy)
{
	uint64_t count = rng_below(rng, 20);

	for (uint64_t i = 0; i < count; i++) {
		uint64_t start = rng_below(rng, ADDRESSES);
		uint64_t end = start + 1 + rng_below(rng, 30);

		add(ranges, start, end);
		add(copy, start, end);
	}
}

static void they_hold_what_they_held(void **state)
{
	struct rng rng;

	(void)state;
	rng_init(&rng, 1);
	for (int round = 0; round < ROUNDS; round++) {
		struct vec ranges = VEC_INIT(struct code_range);
		struct vec copy = VEC_INIT(struct code_range);
		size_t cursor = 0;

		fill(&rng, &ranges, &copy);
		ranges_unite(&ranges);
		for (uint64_t at = 0; at < ADDRESSES + 40; at++) {
			uint64_t end = at + 1 + rng_below(&rng, 40);
			size_t before = cursor;

			assert_int_equal(ranges_hold(&ranges, at),
					 plain_overlap(&copy, at, at + 1));
			assert_int_equal(ranges_overlap(&ranges, &cursor, at,
							end),
					 plain_overlap(&copy, at, end));
			/* no range is looked at again that was passed */
			assert_true(cursor >= before);
			assert_true(cursor <= ranges.count);
		}
		vec_deinit(&ranges);
		vec_deinit(&copy);
	}
}

static void none_overlap_or_touch(void **state)
{
	struct vec ranges = VEC_INIT(struct code_range);

	(void)state;
	add(&ranges, 30, 40);
	add(&ranges, 10, 20);
	add(&ranges, 20, 30);
	add(&ranges, 50, 60);
	add(&ranges, 12, 15);
	ranges_unite(&ranges);
	assert_int_equal(ranges.count, 2);
	assert_int_equal(((struct code_range *)vec_at(&ranges, 0))->start, 10);
	assert_int_equal(((struct code_range *)vec_at(&ranges, 0))->end, 40);
	vec_deinit(&ranges);
}

static void later_ones_count_too(void **state)
{
	struct vec ranges = VEC_INIT(struct code_range);
	size_t cursor = 0;

	(void)state;
	assert_false(ranges_overlap(&ranges, &cursor, 0, 10));
	add(&ranges, 10, 20);
	assert_true(ranges_overlap(&ranges, &cursor, 15, 30));
	assert_false(ranges_overlap(&ranges, &cursor, 20, 30));
	vec_deinit(&ranges);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(they_hold_what_they_held),
		cmocka_unit_test(none_overlap_or_touch),
		cmocka_unit_test(later_ones_count_too),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
