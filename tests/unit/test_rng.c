/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * src/base/rng.c. The first numbers of seed 1 come from a separate program
 * after the paper: they must never change, or a --seed means something else.
 */
#include "base/rng.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static void seed_1_gives_these_numbers(void **state)
{
	static const uint64_t expected[] = {
		UINT64_C(0xb3f2af6d0fc710c5),
		UINT64_C(0x853b559647364cea),
		UINT64_C(0x92f89756082a4514),
	};
	struct rng rng;

	(void)state;
	rng_init(&rng, 1);
	for (size_t i = 0; i < sizeof(expected) / sizeof(expected[0]); i++)
		assert_int_equal(rng_next(&rng), expected[i]);
}

static void below_stays_below(void **state)
{
	static const uint64_t bounds[] = {
		1,
		2,
		3,
		1000,
		UINT64_C(1) << 63,
		(UINT64_C(1) << 63) + 1,
		UINT64_MAX,
	};
	struct rng rng;

	(void)state;
	rng_init(&rng, 2);
	assert_int_equal(rng_below(&rng, 0), 0);
	for (size_t i = 0; i < sizeof(bounds) / sizeof(bounds[0]); i++)
		for (int n = 0; n < 1000; n++)
			assert_true(rng_below(&rng, bounds[i]) < bounds[i]);
}

/* 12000 draws of 6: each within five standard deviations (41) of 2000. */
static void below_is_even(void **state)
{
	unsigned int counts[6] = { 0 };
	struct rng rng;

	(void)state;
	rng_init(&rng, 3);
	for (int n = 0; n < 12000; n++)
		counts[rng_below(&rng, 6)]++;
	for (int i = 0; i < 6; i++)
		assert_in_range(counts[i], 2000 - 5 * 41, 2000 + 5 * 41);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(seed_1_gives_these_numbers),
		cmocka_unit_test(below_stays_below),
		cmocka_unit_test(below_is_even),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
