/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The scheduling as a whole, by simulation; see simulate.h.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "simulate.h"

static void equal_seeds_give_equal_runs(void **state)
{
	struct simulate_plan plan = simulate_plans[0];
	struct simulate_result first, second;

	(void)state;
	plan.seconds = 0.2;
	simulate(&plan, SIMULATE_GUIDED, 1, &first);
	simulate(&plan, SIMULATE_GUIDED, 1, &second);
	assert_memory_equal(&first, &second, sizeof(first));
	simulate(&plan, SIMULATE_GUIDED, 2, &second);
	assert_memory_not_equal(&first, &second, sizeof(first));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(equal_seeds_give_equal_runs),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
