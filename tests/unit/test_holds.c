/* SPDX-License-Identifier: GPL-3.0-or-later */
/* src/recorder/holds.c: locks in the order in which they were taken. */
#include "recorder/holds.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "recorder/locks.h"

static struct holds holds;

static int set_up(void **state)
{
	(void)state;
	holds_init(&holds);
	return 0;
}

static uint32_t take(uint32_t id, uint64_t address, uint32_t context)
{
	const struct trace_lock lock = { .address = address,
					 .kind = TRACE_MUTEX };

	return holds_take(&holds, id, &lock, context);
}

/* Innermost first: addresses and contexts. */
static void is_held(uint32_t id, const uint32_t (*wanted)[2], uint32_t count)
{
	if (count > 0)
		assert_int_equal(hold_at(&holds, id)->depth, count);
	for (uint32_t i = 0; i < count; i++) {
		const struct hold *hold = hold_at(&holds, id);

		assert_int_equal(hold->lock.address, wanted[i][0]);
		assert_int_equal(hold->context, wanted[i][1]);
		id = hold->outer;
	}
	assert_int_equal(id, 0);
}

static void the_order_and_the_stacks_are_kept(void **state)
{
	uint32_t id = take(take(0, 0x40, 7), 0x10, 8);

	(void)state;
	is_held(id, (const uint32_t[][2]){ { 0x10, 8 }, { 0x40, 7 } }, 2);
	/* the other order, or another stack, is another one */
	assert_int_not_equal(take(take(0, 0x10, 8), 0x40, 7), id);
	assert_int_not_equal(take(take(0, 0x40, 7), 0x10, 9), id);
	assert_int_equal(take(take(0, 0x40, 7), 0x10, 8), id);
}

static void reading_and_writing_differ(void **state)
{
	struct trace_lock lock = { .address = 0x40, .kind = TRACE_RWLOCK };
	uint32_t writing = holds_take(&holds, 0, &lock, 1), reading;

	(void)state;
	lock.shared = true;
	reading = holds_take(&holds, 0, &lock, 1);
	assert_int_not_equal(reading, writing);
	assert_true(hold_at(&holds, reading)->lock.shared);
	assert_false(hold_at(&holds, writing)->lock.shared);
}

static void a_lock_is_released_from_the_midst(void **state)
{
	uint32_t outer = take(0, 0x10, 1);
	uint32_t id = take(take(outer, 0x20, 2), 0x30, 3);

	(void)state;
	id = holds_release(&holds, id, 0x20);
	is_held(id, (const uint32_t[][2]){ { 0x30, 3 }, { 0x10, 1 } }, 2);
	assert_int_equal(holds_release(&holds, id, 0x30), outer);
	assert_int_equal(holds_release(&holds, outer, 0x10), 0);
	/* one that is not held */
	assert_int_equal(holds_release(&holds, outer, 0x99), outer);
	assert_int_equal(holds_release(&holds, 0, 0x99), 0);
}

/* As in locksets: it is held until its first release. */
static void a_recursive_lock_is_held_once(void **state)
{
	uint32_t id = take(0, 0x10, 1);

	(void)state;
	assert_int_equal(take(id, 0x10, 2), id);
}

static void more_locks_than_are_kept_are_left_out(void **state)
{
	uint32_t id = 0, last = 0;

	(void)state;
	for (uint32_t i = 1; i <= LOCKS_HELD_MAX; i++)
		last = id = take(id, i * 8, i);
	assert_int_equal(take(id, 0x1000, 1), last);
}

static void too_many_are_unknown(void **state)
{
	uint32_t id = 0;

	(void)state;
	for (uint32_t i = 0; i <= HOLDS_MAX; i++)
		id = take(0, 8, i);
	assert_int_equal(id, HOLDS_UNKNOWN);
	assert_int_equal(take(id, 16, 1), HOLDS_UNKNOWN);
	assert_int_equal(holds_release(&holds, id, 8), HOLDS_UNKNOWN);
	/* those that are there are still found */
	assert_int_equal(hold_at(&holds, take(0, 8, 3))->context, 3);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(the_order_and_the_stacks_are_kept,
				       set_up),
		cmocka_unit_test_setup(reading_and_writing_differ, set_up),
		cmocka_unit_test_setup(a_lock_is_released_from_the_midst,
				       set_up),
		cmocka_unit_test_setup(a_recursive_lock_is_held_once, set_up),
		cmocka_unit_test_setup(more_locks_than_are_kept_are_left_out,
				       set_up),
		cmocka_unit_test_setup(too_many_are_unknown, set_up),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
