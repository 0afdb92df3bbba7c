/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * tally: figures by program.
 */
#include "session/tally.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static void runs_of_a_program_are_added_up(void **state)
{
	struct vec tallies = VEC_INIT(struct run_program);
	const struct run_program one = { NULL, 1, 4, 10, 6, 1 };
	const struct run_program two = { NULL, 2, 3, 5, 5, 0 };
	const struct run_program *tally;

	(void)state;
	assert_true(tally_add(&tallies, "/bin/a", &one));
	assert_true(tally_add(&tallies, "/bin/b", &two));
	assert_true(tally_add(&tallies, "/bin/a", &two));
	assert_int_equal(tallies.count, 2);
	tally = vec_at(&tallies, tally_find(&tallies, "/bin/a"));
	assert_int_equal(tally->processes, 3);
	assert_int_equal(tally->threads, 4);
	assert_int_equal(tally->samples, 15);
	assert_int_equal(tally->samples_stalled, 11);
	assert_int_equal(tally->races, 1);
	tally_deinit(&tallies);
}

static void the_most_samples_come_first(void **state)
{
	struct vec tallies = VEC_INIT(struct run_program);

	(void)state;
	tally_add(&tallies, "/c", &(struct run_program){ .samples = 1 });
	tally_add(&tallies, "/b", &(struct run_program){ .samples = 1 });
	tally_add(&tallies, "/d", &(struct run_program){ .samples = 2 });
	tally_sort(&tallies);
	assert_int_equal(tally_find(&tallies, "/d"), 0);
	assert_int_equal(tally_find(&tallies, "/b"), 1);
	assert_int_equal(tally_find(&tallies, "/c"), 2);
	tally_deinit(&tallies);
}

static void one_thread_without_samples_is_not_told(void **state)
{
	(void)state;
	assert_false(tally_is_told(&(struct run_program){ .threads = 1 }));
	assert_true(tally_is_told(&(struct run_program){ .threads = 2 }));
	/* of memory that processes share */
	assert_true(tally_is_told(
		&(struct run_program){ .threads = 1, .samples = 1 }));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(runs_of_a_program_are_added_up),
		cmocka_unit_test(the_most_samples_come_first),
		cmocka_unit_test(one_thread_without_samples_is_not_told),
	};

	return cmocka_run_group_tests_name("tally", tests, NULL, NULL);
}
