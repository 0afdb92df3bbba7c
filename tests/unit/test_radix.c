/* SPDX-License-Identifier: GPL-3.0-or-later */
/* src/base/radix.c: order, equal numbers, and numbers of all lengths. */
#include "base/radix.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/rng.h"

struct item {
	uint32_t place;
	uint64_t number;
};

static void fill(struct vec *vec, size_t count, uint64_t mask)
{
	struct rng rng;

	rng_init(&rng, count);
	for (uint32_t i = 0; i < count; i++) {
		const struct item item = { i, rng_next(&rng) & mask };

		assert_true(vec_push(vec, &item));
	}
}

/* By number, then by where it was: what a stable sort leaves. */
static int compare(const void *left, const void *right)
{
	const struct item *a = left, *b = right;

	if (a->number != b->number)
		return a->number < b->number ? -1 : 1;
	return a->place < b->place ? -1 : a->place > b->place;
}

static void check(size_t count, uint64_t mask)
{
	struct vec vec = VEC_INIT(struct item), wanted = VEC_INIT(struct item);

	fill(&vec, count, mask);
	fill(&wanted, count, mask);
	if (count > 0)
		qsort(wanted.items, count, wanted.size, compare);
	assert_true(radix_sort(&vec, offsetof(struct item, number)));
	assert_int_equal(vec.count, count);
	for (size_t i = 0; i < count; i++)
		assert_int_equal(compare(vec_at(&vec, i), vec_at(&wanted, i)),
				 0);
	vec_deinit(&vec);
	vec_deinit(&wanted);
}

static void items_come_in_order_and_equal_ones_as_they_were(void **state)
{
	(void)state;
	check(0, UINT64_MAX);
	check(1, UINT64_MAX);
	check(2, 1);
	check(5000, 0);
	check(5000, 0xff);
	check(5000, UINT64_C(0x3fffff000));
	check(5000, UINT64_C(0xffff000000000000));
	check(5000, UINT64_MAX);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			items_come_in_order_and_equal_ones_as_they_were),
	};

	return cmocka_run_group_tests_name("radix", tests, NULL, NULL);
}
