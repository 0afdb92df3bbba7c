/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * src/base/hash.c: the vectors that FNV's authors publish, and what a hash of
 * large things must notice.
 */
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

/* Whatever bit of whatever byte is another, and how many there are. */
static void blocks_depend_on_every_bit(void **state)
{
	enum { MOST = 100 };
	uint8_t bytes[MOST] = { 0 };

	(void)state;
	for (size_t size = 0; size < MOST; size++) {
		uint64_t hash = hash_blocks(bytes, size);

		assert_int_equal(hash_blocks(bytes, size), hash);
		assert_int_not_equal(hash_blocks(bytes, size + 1), hash);
		for (size_t bit = 0; bit < size * 8; bit++) {
			bytes[bit / 8] ^= (uint8_t)(1 << bit % 8);
			assert_int_not_equal(hash_blocks(bytes, size), hash);
			bytes[bit / 8] ^= (uint8_t)(1 << bit % 8);
		}
	}
}

/* What a simple sum would not see. */
static void blocks_depend_on_order(void **state)
{
	uint64_t words[16] = { 0 };
	uint64_t hashes[16];

	(void)state;
	for (size_t i = 0; i < 16; i++) {
		words[i] = UINT64_C(1) << 63;
		hashes[i] = hash_blocks(words, sizeof(words));
		words[i] = 0;
		for (size_t k = 0; k < i; k++)
			assert_int_not_equal(hashes[i], hashes[k]);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(known_values),
		cmocka_unit_test(a_salt_makes_another),
		cmocka_unit_test(blocks_depend_on_every_bit),
		cmocka_unit_test(blocks_depend_on_order),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
