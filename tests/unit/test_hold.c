/* SPDX-License-Identifier: GPL-3.0-or-later */
/* src/hunt/hold.c: the time a thread is held. */
#include "hunt/hold.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

enum { MS = 1000000 };

static void computing_is_scaled_and_sleep_is_not(void **state)
{
	(void)state;
	assert_int_equal(hunt_hold_ns(0, 0, 40), 10 * MS);
	assert_int_equal(hunt_hold_ns(40 * MS, 0, 40), 12 * MS);
	assert_int_equal(hunt_hold_ns(90 * MS, 50 * MS, 40), 62 * MS);
	/* no more can be slept than there is */
	assert_int_equal(hunt_hold_ns(5 * MS, 50 * MS, 40), 15 * MS);
}

static void a_recorder_makes_nothing_faster(void **state)
{
	(void)state;
	assert_int_equal(hunt_hold_ns(10 * MS, 0, 1), 30 * MS);
	assert_int_equal(hunt_hold_ns(10 * MS, 0, 0.01), 30 * MS);
	assert_int_equal(hunt_hold_ns(10 * MS, 0, 0), 30 * MS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(computing_is_scaled_and_sleep_is_not),
		cmocka_unit_test(a_recorder_makes_nothing_faster),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
