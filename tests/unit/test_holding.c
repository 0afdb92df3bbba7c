/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Thread paths as they are written; what a run does is for tests/run/hunt.sh. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "hunt/holding.h"

static void paths_are_read(void **state)
{
	struct wire_hunt wire = { .path_length = 7 };

	(void)state;
	assert_true(holding_parse_path("0", &wire));
	assert_int_equal(wire.path_length, 0);
	assert_true(holding_parse_path("0.0", &wire));
	assert_int_equal(wire.path_length, 1);
	assert_int_equal(wire.path[0], 0);
	assert_true(holding_parse_path("0.12.3", &wire));
	assert_int_equal(wire.path_length, 2);
	assert_int_equal(wire.path[0], 12);
	assert_int_equal(wire.path[1], 3);
	assert_true(
		holding_parse_path("0.1.1.1.1.1.1.1.1.1.1.1.1.1.1.1.1", &wire));
	assert_int_equal(wire.path_length, WIRE_PATH_MAX);
}

static void what_is_no_path_is_refused(void **state)
{
	static const char *const wrong[] = {
		"",
		"1",
		"0.",
		"0..1",
		"0.1.",
		"0.-1",
		"0.1x",
		"0 .1",
		"0.a",
		"00",
		"x",
		"0.4294967295",
		"0.1.1.1.1.1.1.1.1.1.1.1.1.1.1.1.1.1",
		"0.99999999999999999999999",
	};
	struct wire_hunt wire = { .path_length = 0 };

	(void)state;
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		assert_false(holding_parse_path(wrong[i], &wire));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(paths_are_read),
		cmocka_unit_test(what_is_no_path_is_refused),
	};

	return cmocka_run_group_tests_name("holding", tests, NULL, NULL);
}
