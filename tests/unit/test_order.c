/* SPDX-License-Identifier: GPL-3.0-or-later */
/* src/hunt/order.c: what creations and joins order, and what they do not. */
#include "hunt/order.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "hunt/recording.h"
#include "trace-writer.h"

static struct writer writer;
static struct recording recording;
static struct order *order;

static int begin(void **state)
{
	(void)state;
	writer_begin(&writer);
	writer_thread(&writer, 1, 0, 0, 0, 0, 0, 0);
	return 0;
}

static void make(void)
{
	writer_end(&writer, 1000);
	assert_null(recording_open(writer.path, &recording));
	assert_null(order_create(&recording, &order));
	assert_false(order_is_limited(order));
}

static int end(void **state)
{
	(void)state;
	order_destroy(order);
	order = NULL;
	recording_close(&recording);
	writer_remove(&writer);
	return 0;
}

static void before(uint32_t thread, uint64_t sequence, uint32_t other,
		   uint64_t from)
{
	assert_true(order_before(order, thread, sequence, other, from));
	assert_false(order_before(order, other, from, thread, sequence));
}

static void unordered(uint32_t thread, uint64_t sequence, uint32_t other,
		      uint64_t from)
{
	assert_false(order_before(order, thread, sequence, other, from));
	assert_false(order_before(order, other, from, thread, sequence));
}

static void a_thread_orders_itself(void **state)
{
	(void)state;
	make();
	before(1, 3, 1, 4);
}

/* 1 creates 2 at 10 and 3 at 20, and joins 2 at 30. */
static void creations_and_joins(void **state)
{
	(void)state;
	writer_thread(&writer, 2, 1, 0, 10, 30, 1, 0);
	writer_thread(&writer, 3, 1, 1, 20, 0, 0, 0);
	make();
	before(1, 10, 2, 15);
	unordered(1, 11, 2, 15);
	before(1, 11, 3, 25);
	/* by time alone 2 has ended, but 3 did not join it */
	unordered(2, 15, 3, 999);
	before(2, 29, 1, 31);
	unordered(2, 29, 1, 30);
	unordered(3, 25, 1, 999);
}

/* 2 creates 3, 3 creates 4; 3 joins 4, 1 joins 3 and creates 5. */
static void what_is_ordered_through_others(void **state)
{
	(void)state;
	writer_thread(&writer, 2, 1, 0, 10, 0, 0, 0);
	writer_thread(&writer, 3, 2, 0, 20, 60, 1, 0);
	writer_thread(&writer, 4, 3, 0, 30, 50, 3, 0);
	writer_thread(&writer, 5, 1, 1, 70, 0, 0, 0);
	make();
	before(1, 9, 4, 35);
	before(2, 19, 4, 35);
	unordered(2, 21, 4, 35);
	before(4, 45, 3, 55);
	before(4, 45, 1, 65);
	before(4, 45, 5, 75);
	unordered(2, 21, 5, 75);
	before(2, 19, 5, 75);
}

/* Without accesses between them the file has the order. */
static void a_join_before_a_creation_with_one_number(void **state)
{
	(void)state;
	writer_thread(&writer, 2, 1, 0, 10, 0, 0, 0);
	writer_thread(&writer, 2, 1, 0, 10, 30, 1, 0);
	writer_thread(&writer, 3, 1, 1, 30, 0, 0, 0);
	make();
	before(2, 25, 3, 31);
}

static void a_creation_before_a_join_with_one_number(void **state)
{
	(void)state;
	writer_thread(&writer, 2, 1, 0, 10, 0, 0, 0);
	writer_thread(&writer, 3, 1, 1, 30, 0, 0, 0);
	writer_thread(&writer, 2, 1, 0, 10, 30, 1, 0);
	make();
	unordered(2, 25, 3, 31);
}

static void too_many_threads_are_not_ordered(void **state)
{
	(void)state;
	for (uint32_t i = 0; i < ORDER_THREADS_MAX; i++)
		writer_thread(&writer, i + 2, 1, i, 10, 0, 0, 0);
	writer_end(&writer, 1000);
	assert_null(recording_open(writer.path, &recording));
	assert_null(order_create(&recording, &order));
	assert_true(order_is_limited(order));
	unordered(1, 5, 2, 15);
	before(1, 5, 1, 15);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_thread_orders_itself),
		TEST(creations_and_joins),
		TEST(what_is_ordered_through_others),
		TEST(a_join_before_a_creation_with_one_number),
		TEST(a_creation_before_a_join_with_one_number),
		TEST(too_many_threads_are_not_ordered),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
