/* SPDX-License-Identifier: GPL-3.0-or-later */
/* src/hunt/ordered.c: the lock that put a side in order with its partners. */
#include "hunt/ordered.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "report/target-record.h"
#include "sample-recorded.h"
#include "x86/access.h"

static struct hunt_side side;

static int begin(void **state)
{
	struct recorded_access *held;

	(void)state;
	hunt_side_init(&side);
	held = sample_recorded_access(&side.recorded, 1, ACCESS_READ, "0.1",
				      "look", 10, 0x1100);
	held->held = true;
	sample_recorded_access(&side.recorded, 2, ACCESS_WRITE, "0.2", "add",
			       20, 0x1200);
	return 0;
}

static int end(void **state)
{
	(void)state;
	hunt_side_deinit(&side);
	return 0;
}

static struct recorded_access *access_at(size_t i)
{
	return vec_at(&side.recorded.accesses, i);
}

static void both_take(const char *name, unsigned int kind)
{
	sample_recorded_lock(access_at(0), name, kind);
	sample_recorded_lock(access_at(1), name, kind);
}

static struct recorded_lock *lock_of(size_t i)
{
	return vec_at(&access_at(i)->locks, 0);
}

static void is_ordered_by(const char *wanted)
{
	char *text = ordered_by_lock(&side);

	if (wanted)
		assert_string_equal(text, wanted);
	else
		assert_null(text);
	free(text);
}

static void without_locks_it_is_not_known(void **state)
{
	(void)state;
	is_ordered_by(NULL);
	sample_recorded_lock(access_at(0), "m", RECORDED_MUTEX);
	is_ordered_by(NULL);
}

static void a_lock_of_both_is_named(void **state)
{
	(void)state;
	both_take("m", RECORDED_MUTEX);
	is_ordered_by("their common mutex `m`");
}

static void one_without_a_name_has_its_address(void **state)
{
	(void)state;
	both_take(NULL, RECORDED_SPIN);
	is_ordered_by("their common spinlock at 0x10c0c0");
}

static void readers_do_not_exclude_each_other(void **state)
{
	(void)state;
	both_take("l", RECORDED_RWLOCK);
	is_ordered_by(NULL);
	lock_of(1)->shared = false;
	is_ordered_by("their common rwlock `l`");
}

static void another_lock_is_none(void **state)
{
	(void)state;
	both_take("m", RECORDED_MUTEX);
	lock_of(1)->address++;
	is_ordered_by(NULL);
}

static void the_threads_own_accesses_and_reads_do_not_count(void **state)
{
	(void)state;
	both_take("m", RECORDED_MUTEX);
	access_at(1)->access = ACCESS_READ;
	is_ordered_by(NULL);
	access_at(1)->access = ACCESS_WRITE;
	access_at(1)->thread_path[2] = '1';
	is_ordered_by(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(without_locks_it_is_not_known,
						begin, end),
		cmocka_unit_test_setup_teardown(a_lock_of_both_is_named, begin,
						end),
		cmocka_unit_test_setup_teardown(
			one_without_a_name_has_its_address, begin, end),
		cmocka_unit_test_setup_teardown(
			readers_do_not_exclude_each_other, begin, end),
		cmocka_unit_test_setup_teardown(another_lock_is_none, begin,
						end),
		cmocka_unit_test_setup_teardown(
			the_threads_own_accesses_and_reads_do_not_count, begin,
			end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
