/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * src/sampling/granules.c: who met whom, in bounded memory.
 */
#include "sampling/granules.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static struct granules granules;
static uint32_t met[GRANULES_MET_MAX];

static size_t add(uint32_t site, int tid, uint64_t address, uint32_t size,
		  enum access_kind kind)
{
	struct granules_event event = {
		.site = site,
		.pid = 100,
		.tid = tid,
		.access = { address, size, (uint8_t)kind },
	};

	return granules_add(&granules, &event, met);
}

static int begin(void **state)
{
	(void)state;
	granules_init(&granules);
	return 0;
}

static int end(void **state)
{
	(void)state;
	granules_deinit(&granules);
	return 0;
}

static void a_write_meets_another_threads_read(void **state)
{
	(void)state;
	assert_int_equal(add(1, 7, 0x1000, 4, ACCESS_READ), 0);
	assert_int_equal(add(2, 8, 0x1000, 4, ACCESS_WRITE), 1);
	assert_int_equal(met[0], 1);
	/* and the other way round; its own is no partner */
	assert_int_equal(add(1, 7, 0x1000, 4, ACCESS_READ), 1);
	assert_int_equal(met[0], 2);
	assert_int_equal(add(3, 8, 0x1000, 4, ACCESS_READ), 0);
}

static void two_reads_are_nothing(void **state)
{
	(void)state;
	add(1, 7, 0x1000, 8, ACCESS_READ);
	assert_int_equal(add(2, 8, 0x1000, 8, ACCESS_READ), 0);
}

static void neighbours_in_a_granule_do_not_meet(void **state)
{
	(void)state;
	add(1, 7, 0x1000, 4, ACCESS_WRITE);
	assert_int_equal(add(2, 8, 0x1004, 4, ACCESS_WRITE), 0);
	assert_int_equal(add(3, 9, 0x1003, 2, ACCESS_READ), 2);
}

static void wide_accesses_meet_once_in_all_granules(void **state)
{
	(void)state;
	add(1, 7, 0x0ffc, 64, ACCESS_WRITE);
	assert_int_equal(add(2, 8, 0x0ffc, 64, ACCESS_READ), 1);
	assert_int_equal(add(3, 8, 0x103b, 1, ACCESS_READ), 1);
	assert_int_equal(add(4, 8, 0x103c, 1, ACCESS_READ), 0);
}

static void processes_have_addresses_of_their_own(void **state)
{
	struct granules_event event = {
		.site = 2,
		.pid = 101,
		.tid = 8,
		.access = { 0x1000, 8, ACCESS_WRITE },
	};

	(void)state;
	add(1, 7, 0x1000, 8, ACCESS_WRITE);
	assert_int_equal(granules_add(&granules, &event, met), 0);
}

static void nonsense_is_passed_over(void **state)
{
	(void)state;
	assert_int_equal(add(1, 7, 0x1000, 0, ACCESS_WRITE), 0);
	assert_int_equal(add(1, 7, 0x1000, 65, ACCESS_WRITE), 0);
	assert_int_equal(add(1, 7, UINT64_MAX - 2, 8, ACCESS_WRITE), 0);
}

/* The last accesses are kept, whatever came before. */
static void the_oldest_make_room(void **state)
{
	(void)state;
	for (uint64_t i = 0; i < 1000000; i++)
		add(1, 7, 0x100000 + 8 * i, 8, ACCESS_WRITE);
	assert_int_equal(add(2, 8, 0x100000, 8, ACCESS_WRITE), 0);
	assert_int_equal(add(2, 8, 0x100000 + 8 * 999999, 8, ACCESS_WRITE), 1);
	/* of one granule too */
	for (uint32_t i = 0; i < GRANULE_ACCESSES; i++)
		add(10 + i, 7, 0x10, 8, ACCESS_WRITE);
	add(20, 7, 0x10, 8, ACCESS_WRITE);
	assert_int_equal(add(2, 8, 0x10, 8, ACCESS_READ), GRANULE_ACCESSES);
	for (int i = 0; i < GRANULE_ACCESSES; i++)
		assert_int_not_equal(met[i], 10);
}

static void what_is_long_ago_does_not_count(void **state)
{
	(void)state;
	add(1, 7, 0x8, 8, ACCESS_WRITE);
	for (uint64_t i = 0; i < GRANULES_AGE; i++)
		add(2, 7, 0x100000, 8, ACCESS_WRITE);
	assert_int_equal(add(3, 8, 0x8, 8, ACCESS_WRITE), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(
			a_write_meets_another_threads_read, begin, end),
		cmocka_unit_test_setup_teardown(two_reads_are_nothing, begin,
						end),
		cmocka_unit_test_setup_teardown(
			neighbours_in_a_granule_do_not_meet, begin, end),
		cmocka_unit_test_setup_teardown(
			wide_accesses_meet_once_in_all_granules, begin, end),
		cmocka_unit_test_setup_teardown(
			processes_have_addresses_of_their_own, begin, end),
		cmocka_unit_test_setup_teardown(nonsense_is_passed_over, begin,
						end),
		cmocka_unit_test_setup_teardown(the_oldest_make_room, begin,
						end),
		cmocka_unit_test_setup_teardown(what_is_long_ago_does_not_count,
						begin, end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
