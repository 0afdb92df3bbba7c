/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Vector registers in an XSAVE area that is put together here: its legacy region,
 * which is the same on every processor (SDM volume 1, 13.4.1).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "x86/vectors.h"

enum {
	AREA = 576,
	IN_USE = 512, /* XSTATE_BV */
	XMM = 160,
	X87 = 1,
	SSE = 2,
};

/* Each byte of the registers is another one. */
static void fill(uint8_t area[AREA], uint64_t in_use)
{
	memset(area, 0, AREA);
	for (int i = 0; i < 256; i++)
		area[XMM + i] = (uint8_t)(i + 1);
	memcpy(area + IN_USE, &in_use, sizeof(in_use));
}

static void low_bytes_are_those_of_the_whole_register(void **state)
{
	uint8_t area[AREA];
	struct x86_vectors vectors;

	(void)state;
	fill(area, SSE);
	vectors_read(area, sizeof(area), &vectors);
	assert_true(vectors.known);
	for (unsigned int i = 0; i < 16; i++) {
		uint64_t low = vectors_low(area, sizeof(area), i);

		assert_memory_equal(&low, vectors.reg[i], sizeof(low));
		assert_memory_equal(&low, area + XMM + 16 * i, sizeof(low));
	}
}

static void a_part_that_is_not_in_use_is_zero(void **state)
{
	uint8_t area[AREA];
	struct x86_vectors vectors;

	(void)state;
	fill(area, X87);
	vectors_read(area, sizeof(area), &vectors);
	assert_true(vectors.known);
	for (unsigned int i = 0; i < 16; i++) {
		assert_int_equal(vectors_low(area, sizeof(area), i), 0);
		assert_int_equal(vectors.reg[i][0], 0);
	}
}

static void a_short_area_has_none(void **state)
{
	uint8_t area[AREA];
	struct x86_vectors vectors;

	(void)state;
	fill(area, SSE);
	vectors_read(area, sizeof(area) - 1, &vectors);
	assert_false(vectors.known);
	assert_int_equal(vectors_low(area, sizeof(area) - 1, 0), 0);
	assert_int_equal(vectors_low(area, 0, 0), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(low_bytes_are_those_of_the_whole_register),
		cmocka_unit_test(a_part_that_is_not_in_use_is_zero),
		cmocka_unit_test(a_short_area_has_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
