/* SPDX-License-Identifier: GPL-3.0-or-later */
/* src/hunt/function-hash.c: which changes of a function count. */
#include "hunt/function-hash.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <string.h>

#include <cmocka.h>

#include "base/error.h"
#include "x86/decode.h"

/*
 * mov x(%rip),%rax; lea y(%rip),%rdi; call f; vmovss z(%rip),%xmm0;
 * lock xadd %eax,w(%rip); test %eax,%eax; je +2; mov $7,%ebx; jmp g
 */
static const uint8_t code[] = {
	0x48, 0x8b, 0x05, 1,  2,    3,	  4,	0x48, 0x8d, 0x3d,
	5,    6,    7,	  8,  0xe8, 9,	  10,	11,   12,   0xc5,
	0xfa, 0x10, 0x05, 13, 14,   15,	  16,	0xf0, 0x0f, 0xc1,
	0x05, 17,   18,	  19, 20,   0x85, 0xc0, 0x74, 0x05, 0xbb,
	7,    0,    0,	  0,  0xe9, 21,	  22,	23,   24,
};

/* Bytes of distances: of each, where it begins. */
static const size_t distances[] = { 3, 10, 15, 23, 31, 45 };

static struct decoder *decoder;

static int begin(void **state)
{
	(void)state;
	return decoder_create(&decoder) ? -1 : 0;
}

static int end(void **state)
{
	(void)state;
	decoder_destroy(decoder);
	return 0;
}

static uint64_t hash_with(size_t at, uint8_t byte, uint64_t start)
{
	uint8_t bytes[sizeof(code)];

	memcpy(bytes, code, sizeof(code));
	bytes[at] ^= byte;
	return function_hash(decoder, bytes, sizeof(bytes), start);
}

static bool is_distance(size_t at)
{
	for (size_t i = 0; i < sizeof(distances) / sizeof(*distances); i++) {
		if (at >= distances[i] && at < distances[i] + 4)
			return true;
	}
	return false;
}

static void distances_do_not_count(void **state)
{
	uint64_t hash = hash_with(0, 0, 0x1000);

	(void)state;
	assert_int_not_equal(hash, 0);
	for (size_t i = 0; i < sizeof(code); i++) {
		if (is_distance(i))
			assert_int_equal(hash_with(i, 0x40, 0x1000), hash);
	}
	assert_int_equal(hash_with(0, 0, 0x777000), hash);
}

static void everything_else_counts(void **state)
{
	uint64_t hash = hash_with(0, 0, 0x1000);

	(void)state;
	for (size_t i = 0; i < sizeof(code); i++) {
		if (!is_distance(i) && hash_with(i, 1, 0x1000) == hash)
			fail_msg("byte %zu is not looked at", i);
	}
}

/* A branch within the function. */
static void where_a_branch_goes_counts(void **state)
{
	(void)state;
	assert_int_not_equal(hash_with(38, 0, 0x1000),
			     hash_with(38, 2, 0x1000));
}

static void anything_is_hashed(void **state)
{
	uint8_t bytes[64];

	(void)state;
	for (unsigned int first = 0; first < 256; first++) {
		for (size_t size = 1; size < sizeof(bytes); size += 3) {
			memset(bytes, 0xff, sizeof(bytes));
			bytes[0] = (uint8_t)first;
			assert_int_not_equal(
				function_hash(decoder, bytes, size, 0x1000), 0);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(distances_do_not_count),
		cmocka_unit_test(everything_else_counts),
		cmocka_unit_test(where_a_branch_goes_counts),
		cmocka_unit_test(anything_is_hashed),
	};

	return cmocka_run_group_tests(tests, begin, end);
}
