/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Numbers as a person writes them.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/decimal.h"

static void assert_decimal(double number, const char *expected)
{
	char text[DECIMAL_SIZE];

	decimal_format(number, text);
	assert_string_equal(text, expected);
}

static void as_few_digits_as_it_takes(void **state)
{
	(void)state;
	assert_decimal(40, "40");
	assert_decimal(0.5, "0.5");
	assert_decimal(0, "0");
	assert_decimal(100, "100");
	/* a share, in percent */
	assert_decimal(100 * 0.07, "7");
}

static void no_exponent(void **state)
{
	(void)state;
	assert_decimal(0.00001, "0.00001");
	assert_decimal(1e9, "1000000000");
	assert_decimal(1e300, "1000000000000000052504760255204");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(as_few_digits_as_it_takes),
		cmocka_unit_test(no_exponent),
	};

	return cmocka_run_group_tests_name("decimal", tests, NULL, NULL);
}
