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

/* Registers that lead to as many pages as there can be. */
static struct x86_registers scattered(uint64_t from)
{
	struct x86_registers regs = { .fs_base = from };

	for (uint64_t i = 0; i < 16; i++)
		regs.gpr[i] = from + (i + 1) * 0x10000 - 8;
	return regs;
}

static void both_threads_and_all_hints_fit(void **state)
{
	struct replay_hints hints = { .count = REPLAY_HINTS_MAX };
	struct replay_hints raced = { .count = LIKELY_RACED };
	struct likely likely = { .count = 0 };

	(void)state;
	for (uint64_t i = 0; i < REPLAY_HINTS_MAX; i++)
		hints.pages[i] = 0x500000000000 + i * 0x1000;
	for (uint64_t i = 0; i < LIKELY_RACED; i++)
		raced.pages[i] = 0x600000000000 + i * 0x1000;
	for (uint64_t i = 0; i < 2; i++) {
		struct x86_registers regs = scattered((i + 1) << 40);
		size_t before = likely.count;

		likely_add_thread(&likely, &regs);
		/* rsp - 256 and rsp + 1024 are where rsp and rsp + 16 are */
		assert_int_equal(likely.count - before, LIKELY_OF_THREAD - 3);
	}
	likely_add_hints(&likely, &raced, 0);
	likely_add_hints(&likely, &hints, 0);
	assert_true(has(&likely, 0x500000000000));
	assert_true(has(&likely, hints.pages[REPLAY_HINTS_MAX - 1]));
	assert_true(has(&likely, 0x600000003000));
}

static void trails_are_hints(void **state)
{
	const struct replay_trail trails[] = {
		{ .by_register = true,
		  .thread = 1,
		  .reg = X86_R15,
		  .offset = -256,
		  .behind = 511 },
		{ .by_register = true,
		  .thread = 0,
		  .reg = X86_RAX,
		  .offset = 1016 },
		{ .space = 1, .address = 0x7ffffffffff8, .behind = 8 },
		{ .space = 0, .address = 0x10000 },
	};
	struct replay_hints hints = { .count = 0 };
	struct likely likely = { .count = 0 };

	(void)state;
	for (size_t i = 0; i < sizeof(trails) / sizeof(trails[0]); i++) {
		uint64_t hint = replay_trail_hint(&trails[i]);
		struct replay_trail found;

		assert_false(replay_hint_is_page(hint));
		replay_trail_of(hint, &found);
		assert_int_equal(found.by_register, trails[i].by_register);
		assert_int_equal(found.thread, trails[i].thread);
		assert_int_equal(found.reg, trails[i].reg);
		assert_int_equal(found.offset, trails[i].offset);
		assert_int_equal(found.space, trails[i].space);
		assert_int_equal(found.address, trails[i].address);
		assert_int_equal(found.behind, trails[i].behind);
		replay_hints_add(&hints, hint);
	}
	assert_true(replay_hint_is_page(replay_hint(1, 0x7ffffffff000)));
	/* where they lead is not known yet */
	likely_add_hints(&likely, &hints, 0);
	assert_int_equal(likely.count, 0);
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
		cmocka_unit_test(both_threads_and_all_hints_fit),
		cmocka_unit_test(trails_are_hints),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
