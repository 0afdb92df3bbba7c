/* SPDX-License-Identifier: GPL-3.0-or-later */
/* src/report/value.c: bytes as the number their type makes of them. */
#include "report/value.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

static void value_is(const char *expected, uint64_t bits, uint32_t size,
		     const char *type)
{
	struct strbuf buf = { 0 };
	uint8_t bytes[8];

	memcpy(bytes, &bits, sizeof(bytes));
	value_add(&buf, bytes, size, type);
	assert_string_equal(strbuf_text(&buf), expected);
	strbuf_deinit(&buf);
}

static void unsigned_without_a_type(void **state)
{
	(void)state;
	value_is("255", 0xff, 1, NULL);
	value_is("65535", 0xffff, 2, NULL);
	value_is("100", 100, 8, "struct shard");
	value_is("4294836224", 0xfffe0000, 4, NULL);
	value_is("9223372036854775808", UINT64_C(1) << 63, 8, NULL);
}

/* A counter of a program without debug information that went below zero. */
static void both_ways_where_the_sign_is_not_known(void **state)
{
	(void)state;
	value_is("18446744073709533478 (-18138)", (uint64_t)-18138, 8, NULL);
	value_is("18446744073709551615 (-1)", UINT64_MAX, 8, "count_t");
	value_is("4294967295 (-1)", 0xffffffff, 4, NULL);
	value_is("18446744073709551615", UINT64_MAX, 8, "long unsigned int");
	value_is("4294967295", 0xffffffff, 4, "volatile uint32_t");
}

static void signed_where_the_type_is(void **state)
{
	(void)state;
	value_is("-1", 0xff, 1, "signed char");
	value_is("-2", 0xfffe, 2, "short");
	value_is("-1", 0xffffffff, 4, "int");
	value_is("-1", UINT64_MAX, 8, "const volatile long");
	value_is("-9223372036854775808", UINT64_C(1) << 63, 8, "int64_t");
	value_is("2147483647", 0x7fffffff, 4, "i32");
}

/* One byte of an int has no sign. */
static void part_of_a_type_is_unsigned(void **state)
{
	(void)state;
	value_is("255", 0xff, 1, "int");
	value_is("4294967295", 0xffffffff, 4, "double");
}

static void floating_point_in_few_digits(void **state)
{
	double tenth = 0.1, third = 1.0 / 3;
	float half = 0.1f;
	uint64_t bits;
	uint32_t low;

	(void)state;
	memcpy(&bits, &tenth, sizeof(bits));
	value_is("0.1", bits, 8, "double");
	memcpy(&bits, &third, sizeof(bits));
	value_is("0.3333333333333333", bits, 8, "f64");
	memcpy(&low, &half, sizeof(low));
	value_is("0.1", low, 4, "float");
	value_is("nan", UINT64_C(0x7ff8000000000000), 8, "double");
}

static void pointers_in_hexadecimal(void **state)
{
	(void)state;
	value_is("0x7f0000001000", 0x7f0000001000, 8, "struct shard *");
	value_is("0x0", 0, 8, "char *");
}

static void other_sizes_as_bytes_in_order(void **state)
{
	(void)state;
	value_is("010203", 0x030201, 3, NULL);
	value_is("", 0, 0, NULL);
	assert_true(value_is_number(8));
	assert_false(value_is_number(3));
	assert_false(value_is_number(16));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(unsigned_without_a_type),
		cmocka_unit_test(both_ways_where_the_sign_is_not_known),
		cmocka_unit_test(signed_where_the_type_is),
		cmocka_unit_test(part_of_a_type_is_unsigned),
		cmocka_unit_test(floating_point_in_few_digits),
		cmocka_unit_test(pointers_in_hexadecimal),
		cmocka_unit_test(other_sizes_as_bytes_in_order),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
