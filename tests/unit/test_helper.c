/* SPDX-License-Identifier: GPL-3.0-or-later */
/* src/conflict/helper.c: functions without a name that locks call. */
#include "conflict/helper.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/error.h"
#include "image/elftext.h"
#include "x86/decode.h"

/*
 * Never called. The names that locks have here are local to this program; the
 * helpers have local labels, so that only CFI knows them.
 */
__asm__(".pushsection .text\n"
	".type g_mutex_test_lock, @function\n"
	"g_mutex_test_lock:\n"
	"	call .Lcalled\n"
	"	jmp .Ljumped\n"
	".size g_mutex_test_lock, . - g_mutex_test_lock\n"
	".type test_other, @function\n"
	"test_other:\n"
	"	call .Lothers\n"
	"	ret\n"
	".size test_other, . - test_other\n"
	".Lcalled: .cfi_startproc\n nop\n ret\n .cfi_endproc\n"
	".Ljumped: .cfi_startproc\n nop\n ret\n .cfi_endproc\n"
	".Lothers: .cfi_startproc\n nop\n ret\n .cfi_endproc\n"
	".popsection\n"
	".pushsection .data.rel.ro, \"aw\"\n"
	".globl helper_called, helper_jumped, helper_others\n"
	"helper_called: .quad .Lcalled\n"
	"helper_jumped: .quad .Ljumped\n"
	"helper_others: .quad .Lothers\n"
	".popsection\n");
extern const uint64_t helper_called, helper_jumped, helper_others;

/* Where the linker has put the ELF header: what the file's addresses lack. */
extern const char __ehdr_start[];

static bool synchronizes(uint64_t address)
{
	const struct elf_function *function;
	struct decoder *decoder;
	struct elftext *text;
	uint64_t start, end;
	bool found;

	assert_null(decoder_create(&decoder));
	assert_null(elftext_open("/proc/self/exe", "this", &text));
	elftext_extent(text, &start, &end);
	address -= (uint64_t)(uintptr_t)__ehdr_start - start;
	function = elftext_function_at(text, address);
	assert_non_null(function);
	assert_int_equal(function->start, address);
	found = helper_synchronizes(decoder, text, function);
	elftext_close(text);
	decoder_destroy(decoder);
	return found;
}

static void a_lock_calls_it(void **state)
{
	(void)state;
	assert_true(synchronizes(helper_called));
}

static void a_lock_ends_in_it(void **state)
{
	(void)state;
	assert_true(synchronizes(helper_jumped));
}

static void others_call_it(void **state)
{
	(void)state;
	assert_false(synchronizes(helper_others));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_lock_calls_it),
		cmocka_unit_test(a_lock_ends_in_it),
		cmocka_unit_test(others_call_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
