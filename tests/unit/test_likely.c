/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Which pages a thread is likely to use.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "replay/likely.h"
#include "x86/access.h"

static bool has(const struct likely *likely, uint64_t page)
{
	for (size_t i = 0; i < likely->count; i++) {
		if (likely->pages[i] == page)
			return true;
	}
	return false;
}

static struct x86_registers registers(void)
{
	struct x86_registers regs = { .rip = 0x401ffc,
				      .fs_base = 0x7f0000003740 };

	regs.gpr[X86_RSP] = 0x7ffc00005010;
	return regs;
}

static void the_stack_and_the_control_block_are(void **state)
{
	struct x86_registers regs = registers();
	struct likely likely = { .count = 0 };

	(void)state;
	regs.gpr[X86_RSP] = 0x7ffc00005c10;
	likely_add_thread(&likely, &regs);
	assert_int_equal(likely.count, 3);
	assert_true(has(&likely, 0x7ffc00005000));
	assert_true(has(&likely, 0x7ffc00006000)); /* the return address */
	assert_true(has(&likely, 0x7f0000003000));
}

static void what_the_next_call_pushes_is(void **state)
{
	struct x86_registers regs = registers();
	struct likely likely = { .count = 0 };

	(void)state;
	likely_add_thread(&likely, &regs);
	assert_int_equal(likely.count, 3);
	assert_true(has(&likely, 0x7ffc00004000));
	assert_true(has(&likely, 0x7ffc00005000));
}

static void registers_that_point_somewhere_are_once(void **state)
{
	struct x86_registers regs = registers();
	struct likely likely = { .count = 0 };

	(void)state;
	regs.gpr[X86_RAX] = 0x555500001234;
	regs.gpr[X86_R15] = 0x555500001238;
	regs.gpr[X86_RBX] = 0x555500008ff8; /* and the page behind */
	regs.gpr[X86_RCX] = 12; /* a number */
	regs.gpr[X86_RDX] = 0xffffffff80000000; /* of the kernel */
	likely_add_thread(&likely, &regs);
	assert_int_equal(likely.count, 6);
	assert_true(has(&likely, 0x555500001000));
	assert_true(has(&likely, 0x555500008000));
	assert_true(has(&likely, 0x555500009000));
}

static void hints_are_added_and_the_newest_kept(void **state)
{
	struct replay_hints hints = { .count = 2 };
	struct likely likely = { .count = 0 };

	(void)state;
	hints.pages[0] = 0x10000;
	hints.pages[1] = 0x20000;
	hints.pages[2] = 0x30000; /* none */
	likely_add_hints(&likely, &hints, 0);
	assert_int_equal(likely.count, 2);
	assert_true(has(&likely, 0x20000));
	hints.count = REPLAY_HINTS_MAX + 7;
	for (uint64_t i = 0; i < REPLAY_HINTS_MAX; i++)
		hints.pages[i] = 0x100000 + i * 0x1000;
	likely_add_hints(&likely, &hints, 0);
	assert_int_equal(likely.count, 2 + REPLAY_HINTS_MAX);
}

static void a_hint_is_remembered_once(void **state)
{
	struct replay_hints hints = { .count = 0 };

	(void)state;
	for (uint64_t i = 0; i <= REPLAY_HINTS_MAX; i++) {
		replay_hints_add(&hints, 0x100000 + i * 0x1000);
		replay_hints_add(&hints, 0x100000 + i * 0x1000);
	}
	assert_int_equal(hints.count, REPLAY_HINTS_MAX + 1);
	assert_int_equal(hints.pages[0],
			 0x100000 + (uint64_t)REPLAY_HINTS_MAX * 0x1000);
	assert_int_equal(hints.pages[1], 0x101000);
}

static void what_does_not_fit_is_left_out(void **state)
{
	struct replay_hints hints = { .count = REPLAY_HINTS_MAX };
	struct likely likely = { .count = 0 };

	(void)state;
	for (uint64_t round = 0; round < 4; round++) {
		for (uint64_t i = 0; i < REPLAY_HINTS_MAX; i++)
			hints.pages[i] = (1 + round) * 0x1000000 + i * 0x1000;
		likely_add_hints(&likely, &hints, 0);
	}
	assert_int_equal(likely.count, LIKELY_MAX);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_stack_and_the_control_block_are),
		cmocka_unit_test(what_the_next_call_pushes_is),
		cmocka_unit_test(registers_that_point_somewhere_are_once),
		cmocka_unit_test(hints_are_added_and_the_newest_kept),
		cmocka_unit_test(a_hint_is_remembered_once),
		cmocka_unit_test(what_does_not_fit_is_left_out),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
