/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * src/hunt/transfer-window.c: how far back the last bytes of each thread reach.
 * Thread 1 executes ten steps, then thread 2, then thread 1 again.
 */
#include "transfer-trace.h"

#include "hunt/executed.h"
#include "hunt/transfer-window.h"

static struct executed *executed;
static uint64_t sizes[3]; /* bytes of the chunks */

static void steps_of(uint32_t thread, uint64_t *ret_size)
{
	runs(thread);
	for (uint64_t i = 0; i < 10; i++)
		STEP(SENDS, SLOT + 0x1000 * i * i, OBJECT * i);
	stops();
	*ret_size = packer.head.size;
}

static int set_up_each(void **state)
{
	int ret = trace_set_up(state);

	steps_of(1, &sizes[0]);
	steps_of(2, &sizes[1]);
	steps_of(1, &sizes[2]);
	writer_end(&writer, steps);
	assert_null(recording_open(writer.path, &recording));
	assert_null(executed_create(&recording, &executed));
	return ret;
}

static int tear_down_each(void **state)
{
	executed_destroy(executed);
	recording_close(&recording);
	return trace_tear_down(state);
}

static uint64_t since(uint64_t bytes, uint64_t now)
{
	uint64_t ret = 1000;

	assert_null(transfer_window_since(executed, bytes, now, &ret));
	return ret;
}

static void without_one_there_is_no_limit(void **state)
{
	(void)state;
	assert_int_equal(since(0, 31), 0);
	assert_int_equal(since(0, 1), 0);
}

static void what_fits_is_all_there(void **state)
{
	(void)state;
	assert_int_equal(since(sizes[0] + sizes[2], 31), 0);
	assert_int_equal(since(sizes[0] + sizes[2] - 1, 31), 2);
}

/* Of both, the later one: before it, one of them may have stored anything. */
static void the_thread_that_has_least_counts(void **state)
{
	(void)state;
	assert_true(sizes[1] > 10);
	/* thread 1 has its last ten, and thread 2 all of its own */
	assert_int_equal(since(sizes[2], 31), 11);
	/* half of the last ten */
	assert_int_equal(since((sizes[2] + 1) / 2, 31), 26);
	assert_int_equal(since(1, 31), 31);
}

static void of_one_thread_the_others_do_not_count(void **state)
{
	uint64_t ret;

	(void)state;
	assert_null(transfer_window_of(executed, 2, 1, 31, &ret));
	assert_int_equal(ret, 21);
	assert_null(transfer_window_of(executed, 1, sizes[2], 31, &ret));
	assert_int_equal(ret, 11);
	assert_null(transfer_window_of(executed, 1, 0, 31, &ret));
	assert_int_equal(ret, 0);
	/* one that has executed nothing */
	assert_null(transfer_window_of(executed, 3, 1, 31, &ret));
	assert_int_equal(ret, 0);
}

/* What is executed later is not there yet. */
static void it_ends_with_the_step(void **state)
{
	(void)state;
	assert_int_equal(since(sizes[0], 21), 0);
	assert_int_equal(since(sizes[0], 11), 0);
	assert_int_equal(since((sizes[0] + 1) / 2, 11), 6);
	/* thread 2 has its last five then */
	assert_int_equal(since((sizes[1] + 1) / 2, 21), 16);
	assert_int_equal(since(1, 1), 0);
	/* in the middle of a chunk, half of it was executed */
	assert_int_equal(since(sizes[0] / 2 + 1, 6), 0);
	assert_int_equal(since(sizes[0] / 4 + 1, 6), 4);
}

#define TEST(name) \
	cmocka_unit_test_setup_teardown(name, set_up_each, tear_down_each)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(without_one_there_is_no_limit),
		TEST(what_fits_is_all_there),
		TEST(the_thread_that_has_least_counts),
		TEST(of_one_thread_the_others_do_not_count),
		TEST(it_ends_with_the_step),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
