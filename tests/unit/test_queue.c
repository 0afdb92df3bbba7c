/* SPDX-License-Identifier: GPL-3.0-or-later */
/* src/schedule/queue.c: order, room, and what is taken out of the middle. */
#include "schedule/queue.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static void push(struct queue *queue, uint64_t id, uint32_t program)
{
	const struct wire_site site = { .id = id,
					.address = 0x1000 * id,
					.program = program };

	assert_true(queue_push(queue, &site));
}

static void the_first_comes_out_first(void **state)
{
	struct queue queue = { .count = 0 };

	(void)state;
	/* more than once round */
	for (uint64_t i = 1; i <= 3 * QUEUE_MAX; i++) {
		push(&queue, i, 1);
		push(&queue, i, 2);
		assert_int_equal(queue_pop(&queue).id, i);
		assert_int_equal(queue_pop(&queue).program, 2);
	}
	assert_int_equal(queue.count, 0);
	queue_deinit(&queue);
}

static void one_may_go_before_all_others(void **state)
{
	const struct wire_site first = { .id = 9 };
	struct queue queue = { .count = 0 };

	(void)state;
	for (uint64_t i = 1; i < QUEUE_MAX; i++)
		push(&queue, i, 1);
	assert_true(queue_push_first(&queue, &first));
	assert_false(queue_push_first(&queue, &first));
	assert_int_equal(queue_pop(&queue).id, 9);
	for (uint64_t i = 1; i < QUEUE_MAX; i++)
		assert_int_equal(queue_pop(&queue).id, i);
	assert_int_equal(queue.count, 0);
	queue_deinit(&queue);
}

/* What was taken out is not lost when its place is used again. */
static void the_last_of_those_goes_first(void **state)
{
	struct queue queue = { .count = 0 };
	struct wire_site taken;

	(void)state;
	push(&queue, 1, 1);
	assert_true(queue_push_first(&queue, &(struct wire_site){ .id = 2 }));
	assert_true(queue_push_first(&queue, &(struct wire_site){ .id = 3 }));
	taken = queue_pop(&queue);
	assert_true(queue_push_first(&queue, &(struct wire_site){ .id = 4 }));
	assert_int_equal(taken.id, 3);
	assert_int_equal(queue_pop(&queue).id, 4);
	assert_int_equal(queue_pop(&queue).id, 2);
	assert_int_equal(queue_pop(&queue).id, 1);
	queue_deinit(&queue);
}

static void a_full_one_takes_no_more(void **state)
{
	const struct wire_site site = { .id = 1 };
	struct queue queue = { .count = 0 };

	(void)state;
	for (uint64_t i = 1; i <= QUEUE_MAX; i++)
		push(&queue, i, 1);
	assert_false(queue_push(&queue, &site));
	queue_pop(&queue);
	assert_true(queue_push(&queue, &site));
	queue_deinit(&queue);
}

static void a_range_of_a_program_is_forgotten(void **state)
{
	const struct wire_range range = { .start = 0x2000,
					  .end = 0x4000,
					  .program = 1 };
	struct queue queue = { .count = 0 };

	(void)state;
	for (uint64_t i = 1; i <= 4; i++)
		push(&queue, i, 1);
	push(&queue, 2, 2);
	queue_forget(&queue, &range);
	assert_int_equal(queue.count, 3);
	assert_int_equal(queue_pop(&queue).id, 1);
	assert_int_equal(queue_pop(&queue).id, 4);
	assert_int_equal(queue_pop(&queue).program, 2);
	queue_deinit(&queue);
}

static void one_is_taken_out_of_the_middle(void **state)
{
	struct wire_site site;
	struct queue queue = { .count = 0 };

	(void)state;
	for (uint64_t i = 1; i <= 3; i++)
		push(&queue, i, 1);
	push(&queue, 2, 5);
	assert_true(queue_has_program(&queue, 5));
	assert_false(queue_has_program(&queue, 6));
	assert_false(queue_take(&queue, 9, &site));
	assert_true(queue_take(&queue, 2, &site));
	assert_int_equal(site.program, 1);
	assert_int_equal(queue.count, 3);
	assert_int_equal(queue_pop(&queue).id, 1);
	assert_int_equal(queue_pop(&queue).id, 3);
	assert_int_equal(queue_pop(&queue).program, 5);
	queue_deinit(&queue);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_first_comes_out_first),
		cmocka_unit_test(one_may_go_before_all_others),
		cmocka_unit_test(the_last_of_those_goes_first),
		cmocka_unit_test(a_full_one_takes_no_more),
		cmocka_unit_test(a_range_of_a_program_is_forgotten),
		cmocka_unit_test(one_is_taken_out_of_the_middle),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
