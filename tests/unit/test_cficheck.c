/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * src/image/cficheck.c: what libunwind may run.
 */
#include "image/cficheck.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "image/ehframe.h"

/* def_cfa rsp+8; the return address at cfa-8 */
#define INITIAL "\x0c\x07\x08\x90\x01"

#define CHECK(initial, own) \
	check(initial, sizeof(initial) - 1, own, sizeof(own) - 1, 16)

static enum cfi_verdict check(const char *initial, size_t initial_size,
			      const char *own, size_t own_size,
			      uint64_t return_register)
{
	struct eh_program program = {
		.initial = (const uint8_t *)initial,
		.initial_size = initial_size,
		.own = (const uint8_t *)own,
		.own_size = own_size,
		.return_register = return_register,
	};

	return cfi_check(&program);
}

static void what_compilers_write(void **state)
{
	(void)state;
	assert_int_equal(CHECK(INITIAL, ""), CFI_PLAIN);
	/* advance, def_cfa_offset 16, offset rbp, def_cfa_register rbp */
	assert_int_equal(CHECK(INITIAL, "\x41\x0e\x10\x86\x02\x43\x0d\x06"),
			 CFI_PLAIN);
	/* remember_state, def_cfa rsp 8, restore_state, nops */
	assert_int_equal(CHECK(INITIAL, "\x0a\x0c\x07\x08\x41\x0b\0\0"),
			 CFI_PLAIN);
	/* the PLT: breg7 8 breg16 0 lit15 and lit11 ge lit3 shl plus */
	assert_int_equal(CHECK(INITIAL, "\x0f\x0b\x77\x08\x80\x00\x3f\x1a\x3b"
					"\x2a\x33\x24\x22"),
			 CFI_PLAIN);
	/* of a signal: cfa and r8 by breg7 160 deref, breg7 40 */
	assert_int_equal(CHECK(INITIAL, "\x0f\x04\x77\xa0\x01\x06\x10\x08\x02"
					"\x77\x28"),
			 CFI_PLAIN);
	/* an FDE says it all in glibc's trampoline */
	assert_int_equal(CHECK("", "\x0f\x02\x77\x08"), CFI_PLAIN);
	/* the return address is undefined */
	assert_int_equal(CHECK(INITIAL, "\x07\x10"), CFI_PLAIN);
}

static void what_libunwind_does_not_check(void **state)
{
	(void)state;
	/* no CFA at all, or one that is forgotten again */
	assert_int_equal(CHECK("", ""), CFI_FOREIGN);
	assert_int_equal(CHECK("\x0a" INITIAL "\x0b", ""), CFI_FOREIGN);
	assert_int_equal(CHECK("", "\x0e\x10"), CFI_FOREIGN);
	assert_int_equal(CHECK("", "\x0a" INITIAL "\x0b"), CFI_FOREIGN);
	assert_int_equal(CHECK("", "\x41" INITIAL), CFI_FOREIGN);
	/* register 6 is in register 100; register 17 */
	assert_int_equal(CHECK(INITIAL, "\x09\x06\x64"), CFI_FOREIGN);
	assert_int_equal(CHECK(INITIAL, "\x91\x01"), CFI_FOREIGN);
	/* the return address is in register 40 */
	assert_int_equal(check(INITIAL, sizeof(INITIAL) - 1, "", 0, 40),
			 CFI_FOREIGN);
	/* val_offset, whose operands it would run */
	assert_int_equal(CHECK(INITIAL, "\x14\x06\x02"), CFI_FOREIGN);
	/* a loop: skip -3 */
	assert_int_equal(CHECK(INITIAL, "\x0f\x03\x2f\xfd\xff"), CFI_FOREIGN);
	/* more is restored than was remembered */
	assert_int_equal(CHECK(INITIAL, "\x0b"), CFI_FOREIGN);
}

static void too_many_states(void **state)
{
	char own[1000];

	(void)state;
	memset(own, 0x0a, sizeof(own));
	assert_int_equal(check(INITIAL, sizeof(INITIAL) - 1, own, sizeof(own),
			       16),
			 CFI_FOREIGN);
}

static void cut_short(void **state)
{
	(void)state;
	assert_int_equal(CHECK(INITIAL, "\x0e"), CFI_FOREIGN);
	assert_int_equal(CHECK(INITIAL, "\x0e\x80\x80\x80"), CFI_FOREIGN);
	assert_int_equal(CHECK(INITIAL, "\x04\x01\x02\x03"), CFI_FOREIGN);
	assert_int_equal(CHECK(INITIAL, "\x0f\x09\x77\x08"), CFI_FOREIGN);
	assert_int_equal(CHECK(INITIAL, "\x0f\x01\x77"), CFI_FOREIGN);
	/* eleven bytes of one number */
	assert_int_equal(CHECK(INITIAL, "\x0e\x80\x80\x80\x80\x80\x80\x80\x80"
					"\x80\x80\x01"),
			 CFI_FOREIGN);
}

static void divisions(void **state)
{
	(void)state;
	/* const8s INT64_MIN, const1s -1, div */
	assert_int_equal(CHECK(INITIAL, "\x0f\x0c\x0f\0\0\0\0\0\0\0\x80\x09"
					"\xff\x1b"),
			 CFI_HARMFUL);
	/* also behind what is foreign, and in the CIE */
	assert_int_equal(CHECK(INITIAL, "\x14\x06\x02\x10\x06\x01\x1b"),
			 CFI_HARMFUL);
	assert_int_equal(CHECK("\x0f\x01\x1b", ""), CFI_HARMFUL);
	/* an operand of that value is none */
	assert_int_equal(CHECK(INITIAL, "\x0f\x02\x77\x1b"), CFI_PLAIN);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_compilers_write),
		cmocka_unit_test(what_libunwind_does_not_check),
		cmocka_unit_test(too_many_states),
		cmocka_unit_test(cut_short),
		cmocka_unit_test(divisions),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
