/* SPDX-License-Identifier: GPL-3.0-or-later */
/* src/base/hash.c: the vectors that FNV's authors publish. */
#include "base/hash.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static void known_values(void **state)
{
	(void)state;
	assert_int_equal(hash_text(""), UINT64_C(0xcbf29ce484222325));
	assert_int_equal(hash_text("a"), UINT64_C(0xaf63dc4c8601ec8c));
	assert_int_equal(hash_text("foobar"), UINT64_C(0x85944171f73967e8));
	assert_int_equal(hash_bytes("foobar", 6), hash_text("foobar"));
	assert_int_equal(hash_bytes("\0", 1), UINT64_C(0xaf63bd4c8601b7df));
}

static void a_salt_makes_another(void **state)
{
	(void)state;
	assert_int_equal(hash_salted("a", 0), hash_text("a"));
	assert_int_not_equal(hash_salted("a", 1), hash_text("a"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(known_values),
		cmocka_unit_test(a_salt_makes_another),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
