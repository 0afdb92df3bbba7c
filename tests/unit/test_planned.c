/* SPDX-License-Identifier: GPL-3.0-or-later */
/* src/hunt/planned.c: the runs that a hunt has still to make. */
#include "hunt/planned.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "base/clock.h"

static const uint64_t ms = CLOCK_NS_PER_MS;

static struct planned planned;

static int setup(void **state)
{
	(void)state;
	planned = (struct planned){ .to_alone = 0 };
	return 0;
}

/* A run of several sides: how many of these are over, and how many are tried alone. */
static void ran_together(int over, int to_alone, int again, uint64_t ns)
{
	for (int i = 0; i < over; i++)
		planned_tried(&planned, false, true, false);
	for (int i = 0; i < to_alone; i++)
		planned_tried(&planned, false, false, true);
	for (int i = 0; i < again; i++)
		planned_tried(&planned, false, false, false);
	planned_ran(&planned, false, ns);
}

static void ran_alone(bool over, uint64_t ns)
{
	planned_tried(&planned, true, over, !over);
	planned_ran(&planned, true, ns);
}

static void left_are(const struct planned_sides *sides, double runs, double ns)
{
	struct planned_rest rest = planned_rest(&planned, sides);

	assert_true(rest.runs > runs - 1e-6 && rest.runs < runs + 1e-6);
	assert_true(rest.ns > ns - 1 && rest.ns < ns + 1);
}

static void before_the_first_run_it_goes_by_the_batch(void **state)
{
	(void)state;
	left_are(&(struct planned_sides){ .pending = 64, .batch = 32 }, 2, -1);
	left_are(
		&(struct planned_sides){
			.pending = 64, .batch = 32, .busy = 32, .running = 1 },
		1, -1);
	left_are(&(struct planned_sides){ .pending = 0, .batch = 4 }, 0, -1);
}

static void sides_that_a_run_settles_take_no_other(void **state)
{
	(void)state;
	ran_together(8, 0, 0, 100 * ms);
	left_are(&(struct planned_sides){ .pending = 16, .batch = 32 }, 2,
		 200 * (double)ms);
}

/* A quarter of a run of 8 is tried alone: one such run for each. */
static void what_is_tried_alone_has_runs_of_its_own(void **state)
{
	(void)state;
	ran_together(6, 2, 0, 100 * ms);
	left_are(&(struct planned_sides){ .pending = 10, .alone = 2 }, 1 + 4,
		 500 * (double)ms);
	ran_alone(true, 40 * ms);
	left_are(&(struct planned_sides){ .pending = 9, .alone = 1 }, 1 + 3,
		 (100 + 3 * 40) * (double)ms);
	/* half of them have settled their side */
	ran_alone(false, 40 * ms);
	left_are(&(struct planned_sides){ .pending = 1, .alone = 1 }, 2,
		 80 * (double)ms);
}

static void a_side_that_was_missed_goes_into_another_run(void **state)
{
	(void)state;
	ran_together(2, 0, 6, 100 * ms);
	left_are(&(struct planned_sides){ .pending = 6 }, 3, 300 * (double)ms);
}

static void half_of_a_run_that_is_being_made_is_left(void **state)
{
	(void)state;
	ran_together(8, 0, 0, 100 * ms);
	left_are(&(struct planned_sides){ .pending = 16,
					  .busy = 8,
					  .running = 1 },
		 1, 150 * (double)ms);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(
			before_the_first_run_it_goes_by_the_batch, setup),
		cmocka_unit_test_setup(sides_that_a_run_settles_take_no_other,
				       setup),
		cmocka_unit_test_setup(what_is_tried_alone_has_runs_of_its_own,
				       setup),
		cmocka_unit_test_setup(
			a_side_that_was_missed_goes_into_another_run, setup),
		cmocka_unit_test_setup(half_of_a_run_that_is_being_made_is_left,
				       setup),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
