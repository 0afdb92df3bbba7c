/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The registers before an access that was made: among the guesses, and the first
 * of them where nothing has changed.
 */
#include "function-code.h"

#include <string.h>

#include "replay/redo.h"
#include "x86/decode.h"
#include "x86/effective.h"

CODE(store, "mov %ecx, 8(%rdi)");
CODE(load_over_base, "mov 8(%rdi), %rdi");
CODE(load_over_index, "mov (%rdi, %rcx, 8), %rcx");
CODE(load_over_both, "mov (%rcx, %rcx), %rcx");
CODE(exchange, "xchg %ecx, (%rdi)");
CODE(exchange_add, "lock xadd %ecx, (%rdi)");
CODE(compare_exchange, "lock cmpxchg %ecx, (%rdi)");
CODE(push_load, "push 8(%rdi)");
CODE(copy, "movsl");
CODE(copy_many, "rep movsl");

enum { REGISTERS = 1 << X86_RAX | 1 << X86_RCX | 1 << X86_RDI };

static const struct x86_registers start = {
	.gpr = { [X86_RAX] = 4,
		 [X86_RCX] = 5,
		 [X86_RDI] = 0x10000,
		 [X86_RSI] = 0x20000,
		 [X86_RSP] = 0x30000 },
	.rip = 0x400000,
};

struct done {
	struct x86_registers guesses[REDO_MAX];
	size_t count;
};

/*
 * Decode the instruction, which accesses what it does with the registers at the
 * start, and guess these from what they are then.
 */
static void guess(void **state, const uint8_t *code, const uint8_t *end,
		  const struct x86_registers *now, uint32_t before,
		  uint32_t after, struct done *ret)
{
	struct mem_access accesses[X86_OPERANDS_MAX];
	struct insn_access insn;
	struct redo_access it = {
		.insn = &insn,
		.rip = start.rip,
		.access = &accesses[0],
		.written = REGISTERS,
		.before = (const uint8_t *)&before,
		.after = (const uint8_t *)&after,
	};

	decoder_decode(*state, code, (size_t)(end - code), start.rip, &insn);
	assert_true(effective_accesses(&insn, &start, accesses) >= 1);
	ret->count = redo_guess(&it, now, ret->guesses);
}

#define GUESS(state, name, now, before, after, ret) \
	guess(state, name##_start, name##_end, now, before, after, ret)

static bool is_start(const struct x86_registers *regs)
{
	return memcmp(regs->gpr, start.gpr, sizeof(regs->gpr)) == 0 &&
	       regs->rip == start.rip;
}

static bool has_start(const struct done *done)
{
	for (size_t i = 0; i < done->count; i++) {
		if (is_start(&done->guesses[i]))
			return true;
	}
	return false;
}

static void a_store_has_changed_nothing(void **state)
{
	struct x86_registers now = start;
	struct done done;

	now.rip += 3;
	GUESS(state, store, &now, 0, 5, &done);
	assert_int_equal(done.count, 1);
	assert_true(is_start(&done.guesses[0]));
}

static void a_base_that_was_overwritten_follows_from_the_address(void **state)
{
	struct x86_registers now = start;
	struct done done;

	now.gpr[X86_RDI] = 0x777;
	GUESS(state, load_over_base, &now, 0, 0, &done);
	assert_true(has_start(&done));
	now = start;
	now.gpr[X86_RCX] = 0x777;
	GUESS(state, load_over_index, &now, 0, 0, &done);
	assert_true(has_start(&done));
	GUESS(state, load_over_both, &now, 0, 0, &done);
	assert_false(has_start(&done));
}

static void exchanged_registers_follow_from_the_bytes(void **state)
{
	struct x86_registers now = start;
	struct done done;

	now.gpr[X86_RCX] = 9;
	GUESS(state, exchange, &now, 9, 5, &done);
	assert_true(has_start(&done));
	GUESS(state, exchange_add, &now, 9, 14, &done);
	assert_true(has_start(&done));
	/* it has found what it has in rax */
	now = start;
	GUESS(state, compare_exchange, &now, 4, 5, &done);
	assert_true(has_start(&done));
}

static void registers_that_move_by_themselves_move_back(void **state)
{
	struct x86_registers now = start;
	struct done done;

	now.gpr[X86_RSP] -= 8;
	GUESS(state, push_load, &now, 0, 0, &done);
	assert_true(has_start(&done));
	now = start;
	now.gpr[X86_RSI] += 4;
	now.gpr[X86_RDI] += 4;
	GUESS(state, copy, &now, 0, 0, &done);
	assert_true(has_start(&done));
	/* how often it has moved is not known */
	GUESS(state, copy_many, &now, 0, 0, &done);
	assert_int_equal(done.count, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_store_has_changed_nothing),
		cmocka_unit_test(
			a_base_that_was_overwritten_follows_from_the_address),
		cmocka_unit_test(exchanged_registers_follow_from_the_bytes),
		cmocka_unit_test(registers_that_move_by_themselves_move_back),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
