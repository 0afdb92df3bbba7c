/* SPDX-License-Identifier: GPL-3.0-or-later */
/* src/base/vec.c: growth, removal with and without order. */
#include "base/vec.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static void fill(struct vec *vec, int n)
{
	for (int i = 0; i < n; i++)
		assert_true(vec_push(vec, &i));
}

static int item(const struct vec *vec, size_t i)
{
	return *(int *)vec_at(vec, i);
}

static void push_keeps_order_while_growing(void **state)
{
	struct vec vec = VEC_INIT(int);

	(void)state;
	fill(&vec, 1000);
	assert_int_equal(vec.count, 1000);
	for (int i = 0; i < 1000; i++)
		assert_int_equal(item(&vec, (size_t)i), i);
	vec_deinit(&vec);
}

static void append_gives_a_zeroed_item_after_reuse(void **state)
{
	struct vec vec = VEC_INIT(int);
	int *added;

	(void)state;
	fill(&vec, 3);
	vec_clear(&vec);
	for (int i = 0; i < 3; i++) {
		added = vec_append(&vec);
		assert_non_null(added);
		assert_int_equal(*added, 0);
		*added = 7;
	}
	vec_deinit(&vec);
}

static void remove_keeps_order(void **state)
{
	struct vec vec = VEC_INIT(int);

	(void)state;
	fill(&vec, 4);
	vec_remove(&vec, 1);
	assert_int_equal(vec.count, 3);
	assert_int_equal(item(&vec, 0), 0);
	assert_int_equal(item(&vec, 1), 2);
	assert_int_equal(item(&vec, 2), 3);
	vec_remove(&vec, 2);
	assert_int_equal(vec.count, 2);
	assert_int_equal(item(&vec, 1), 2);
	vec_deinit(&vec);
}

static void remove_first_keeps_the_others(void **state)
{
	struct vec vec = VEC_INIT(int);

	(void)state;
	for (int i = 0; i < 5; i++)
		assert_true(vec_push(&vec, &i));
	vec_remove_first(&vec, 0);
	assert_int_equal(vec.count, 5);
	vec_remove_first(&vec, 3);
	assert_int_equal(vec.count, 2);
	assert_int_equal(*(int *)vec_at(&vec, 0), 3);
	assert_int_equal(*(int *)vec_at(&vec, 1), 4);
	vec_remove_first(&vec, 2);
	assert_int_equal(vec.count, 0);
	vec_deinit(&vec);
}

static void remove_swap_moves_the_last(void **state)
{
	struct vec vec = VEC_INIT(int);

	(void)state;
	fill(&vec, 4);
	vec_remove_swap(&vec, 1);
	assert_int_equal(vec.count, 3);
	assert_int_equal(item(&vec, 1), 3);
	vec_remove_swap(&vec, 2);
	assert_int_equal(vec.count, 2);
	vec_deinit(&vec);
}

static void deinit_leaves_an_empty_usable_vector(void **state)
{
	struct vec vec = VEC_INIT(int);

	(void)state;
	fill(&vec, 10);
	vec_deinit(&vec);
	assert_int_equal(vec.count, 0);
	fill(&vec, 2);
	assert_int_equal(item(&vec, 1), 1);
	vec_deinit(&vec);
}

static void reserve_refuses_what_cannot_be(void **state)
{
	struct vec vec = VEC_INIT(int);

	(void)state;
	assert_true(vec_reserve(&vec, 100));
	assert_true(vec.capacity >= 100);
	assert_false(vec_reserve(&vec, SIZE_MAX));
	assert_false(vec_reserve(&vec, SIZE_MAX / 2));
	vec_deinit(&vec);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(push_keeps_order_while_growing),
		cmocka_unit_test(append_gives_a_zeroed_item_after_reuse),
		cmocka_unit_test(remove_keeps_order),
		cmocka_unit_test(remove_first_keeps_the_others),
		cmocka_unit_test(remove_swap_moves_the_last),
		cmocka_unit_test(deinit_leaves_an_empty_usable_vector),
		cmocka_unit_test(reserve_refuses_what_cannot_be),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
