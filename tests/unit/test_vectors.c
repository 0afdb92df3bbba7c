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

static void instructions_for_numbers_leave_them(void **state)
{
	static const struct {
		const char *what;
		uint8_t bytes[15];
		bool left;
	} all[] = {
		{ "mov %eax, (%rdi)", { 0x89, 0x07 }, true },
		{ "lock addq $1, (%rdi)",
		  { 0xf0, 0x48, 0x83, 0x07, 0x01 },
		  true },
		{ "movzwl (%rdi), %eax", { 0x0f, 0xb7, 0x07 }, true },
		{ "movsbq (%rdi), %rax", { 0x48, 0x0f, 0xbe, 0x07 }, true },
		{ "lock cmpxchg %ecx, (%rdi)",
		  { 0xf0, 0x0f, 0xb1, 0x0f },
		  true },
		{ "lock xadd %eax, (%rdi)", { 0xf0, 0x0f, 0xc1, 0x07 }, true },
		{ "jne", { 0x0f, 0x85, 0, 0, 0, 0 }, true },
		{ "movups (%rdi), %xmm0", { 0x0f, 0x10, 0x07 }, false },
		{ "movq %xmm0, %rax", { 0x66, 0x48, 0x0f, 0x7e, 0xc0 }, false },
		{ "movss (%rdi), %xmm0", { 0xf3, 0x0f, 0x10, 0x07 }, false },
		{ "pshufb", { 0x66, 0x0f, 0x38, 0x00, 0xc1 }, false },
		{ "cmpps", { 0x0f, 0xc2, 0xc1, 0x00 }, false },
		{ "fxrstor (%rdi)", { 0x0f, 0xae, 0x0f }, false },
		{ "emms", { 0x0f, 0x77 }, false },
		{ "fldl (%rdi)", { 0xdd, 0x07 }, false },
		{ "fwait", { 0x9b, 0x90 }, false },
		{ "vzeroupper", { 0xc5, 0xf8, 0x77 }, false },
		{ "vpxor", { 0xc4, 0xe1, 0xf9, 0xef, 0xc0 }, false },
		{ "kmov, vmovdqu64", { 0x62, 0xf1, 0xfe, 0x48 }, false },
		{ "wrpkru", { 0x0f, 0x01, 0xef }, false },
	};
	static const uint8_t prefixes[15] = { 0x66, 0x66, 0x66, 0x66, 0x66,
					      0x66, 0x66, 0x66, 0x66, 0x66,
					      0x66, 0x66, 0x66, 0x66, 0x66 };

	(void)state;
	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		if (vectors_are_left(all[i].bytes, sizeof(all[i].bytes)) !=
		    all[i].left)
			fail_msg("%s", all[i].what);
	}
	assert_false(vectors_are_left(prefixes, sizeof(prefixes)));
	assert_false(vectors_are_left(prefixes, 0));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(low_bytes_are_those_of_the_whole_register),
		cmocka_unit_test(a_part_that_is_not_in_use_is_zero),
		cmocka_unit_test(a_short_area_has_none),
		cmocka_unit_test(instructions_for_numbers_leave_them),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
