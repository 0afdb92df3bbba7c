/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * src/x86/call.c: whether a call ends where an address is, and where calls lead.
 */
#include "x86/call.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#define ENDS_IN_CALL(...)                                  \
	x86_ends_in_call((const uint8_t[]){ __VA_ARGS__ }, \
			 sizeof((const uint8_t[]){ __VA_ARGS__ }))

static void calls_are_told_by_their_bytes(void **state)
{
	(void)state;
	/* call 0x1234 */
	assert_true(ENDS_IN_CALL(0x90, 0x90, 0xe8, 0x34, 0x12, 0, 0));
	/* call *%rax; *%r12; *(%rax); *(%rsp); *0x8(%rax); *0x8(%rsp) */
	assert_true(ENDS_IN_CALL(0x90, 0x90, 0x90, 0x90, 0x90, 0xff, 0xd0));
	assert_true(ENDS_IN_CALL(0x90, 0x90, 0x90, 0x90, 0x41, 0xff, 0xd4));
	assert_true(ENDS_IN_CALL(0x90, 0x90, 0x90, 0x90, 0x90, 0xff, 0x10));
	assert_true(ENDS_IN_CALL(0x90, 0x90, 0x90, 0x90, 0xff, 0x14, 0x24));
	assert_true(ENDS_IN_CALL(0x90, 0x90, 0x90, 0x90, 0xff, 0x50, 0x08));
	assert_true(ENDS_IN_CALL(0x90, 0x90, 0x90, 0xff, 0x54, 0x24, 0x08));
	/* call *0x1234(%rip); *0x1234(%rax); *0x1234(%rsp); *0x1234(,%rax,8) */
	assert_true(ENDS_IN_CALL(0x90, 0xff, 0x15, 0x34, 0x12, 0, 0));
	assert_true(ENDS_IN_CALL(0x90, 0xff, 0x90, 0x34, 0x12, 0, 0));
	assert_true(ENDS_IN_CALL(0xff, 0x94, 0x24, 0x34, 0x12, 0, 0));
	assert_true(ENDS_IN_CALL(0xff, 0x14, 0xc5, 0x34, 0x12, 0, 0));
	/* where the text begins there */
	assert_true(ENDS_IN_CALL(0xff, 0xd0));
}

static void other_code_is_no_call(void **state)
{
	(void)state;
	/* jmp *%rax; jmp 0x1234; push (%rax); nops; ret */
	assert_false(ENDS_IN_CALL(0x90, 0x90, 0x90, 0x90, 0x90, 0xff, 0xe0));
	assert_false(ENDS_IN_CALL(0x90, 0x90, 0xe9, 0x34, 0x12, 0, 0));
	assert_false(ENDS_IN_CALL(0x90, 0x90, 0x90, 0x90, 0x90, 0xff, 0x30));
	assert_false(ENDS_IN_CALL(0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90));
	/* call *0x8(%rax), with a byte too many and one too few */
	assert_false(ENDS_IN_CALL(0x90, 0x90, 0x90, 0xff, 0x50, 0x08, 0x90));
	assert_false(ENDS_IN_CALL(0x90, 0x90, 0x90, 0x90, 0x90, 0xff, 0x50));
	assert_false(ENDS_IN_CALL(0xe8, 0x34, 0x12, 0));
	assert_false(x86_ends_in_call(NULL, 0));
}

static void targets_of_calls_are_told(void **state)
{
	static const uint8_t bytes[] = {
		0xe8, 0x0b, 0,	  0,	0, /* 0x1000: call 0x1010 */
		0x90, 0xe9, 0xf5, 0xff, 0xff, 0xff, /* 0x1006: jmp 0x1000 */
		0xeb, 0x02, /* a short jump leads to the function itself */
		0xff, 0xd0, /* call *%rax */
		0xe8, 0,    0,	  0, /* cut off */
	};
	uint64_t target = 0;
	size_t at = 0;

	(void)state;
	assert_true(
		x86_next_callee(bytes, sizeof(bytes), 0x1000, &at, &target));
	assert_int_equal(target, 0x1010);
	assert_true(
		x86_next_callee(bytes, sizeof(bytes), 0x1000, &at, &target));
	assert_int_equal(target, 0x1000);
	assert_false(
		x86_next_callee(bytes, sizeof(bytes), 0x1000, &at, &target));
	assert_false(
		x86_next_callee(bytes, sizeof(bytes), 0x1000, &at, &target));
	at = 0;
	assert_false(x86_next_callee(NULL, 0, 0x1000, &at, &target));
}

static void functions_whose_address_is_loaded_are_told(void **state)
{
	static const uint8_t bytes[] = {
		0x48, 0x8d, 0x15, 0x09, 0, 0, 0, /* lea 0x1010(%rip), %rdx */
		0x48, 0x8d, 0x57, 0x08, /* lea 8(%rdi), %rdx */
		0xba, 0x40, 0x10, 0x40, 0, /* mov $0x401040, %edx */
		0x48, 0x8d, 0x15, 0x09, 0, /* cut off */
	};
	uint64_t target = 0;
	size_t at = 0;

	(void)state;
	assert_true(
		x86_next_callee(bytes, sizeof(bytes), 0x1000, &at, &target));
	assert_int_equal(target, 0x1010);
	assert_true(
		x86_next_callee(bytes, sizeof(bytes), 0x1000, &at, &target));
	assert_int_equal(target, 0x401040);
	assert_false(
		x86_next_callee(bytes, sizeof(bytes), 0x1000, &at, &target));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(calls_are_told_by_their_bytes),
		cmocka_unit_test(other_code_is_no_call),
		cmocka_unit_test(targets_of_calls_are_told),
		cmocka_unit_test(functions_whose_address_is_loaded_are_told),
	};

	return cmocka_run_group_tests_name("call", tests, NULL, NULL);
}
