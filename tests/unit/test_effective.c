/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * src/x86/effective.c: the corners, with operands made by hand. Addresses of
 * whole instructions are in the tables of tests/decode.
 */
#include "x86/effective.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static struct insn_access make_insn(struct mem_operand operand)
{
	struct insn_access insn = { .length = 7, .operand_count = 1 };

	insn.operands[0] = operand;
	return insn;
}

static const struct mem_operand plain = {
	.kind = ACCESS_READ,
	.base = X86_REG_NONE,
	.index = X86_REG_NONE,
	.scale = 1,
	.bit_reg = X86_REG_NONE,
	.size = 4,
};

static void sums_wrap_at_64_bits(void **state)
{
	struct x86_registers regs = { .gpr[X86_RAX] = UINT64_MAX - 1 };
	struct insn_access insn = make_insn(plain);

	(void)state;
	insn.operands[0].base = X86_RAX;
	insn.operands[0].disp = 0x12;
	assert_int_equal(effective_address(&insn, &insn.operands[0], &regs),
			 0x10);
}

static void addr32_cuts_before_the_segment_base(void **state)
{
	struct x86_registers regs = {
		.gpr[X86_RAX] = 0xffffffff,
		.gs_base = 0x700000000000,
	};
	struct insn_access insn = make_insn(plain);

	(void)state;
	insn.operands[0].base = X86_RAX;
	insn.operands[0].disp = 0x11;
	insn.operands[0].addr32 = true;
	insn.operands[0].segment = X86_SEG_GS;
	assert_int_equal(effective_address(&insn, &insn.operands[0], &regs),
			 0x700000000010);
}

static void rip_is_the_next_instruction(void **state)
{
	struct x86_registers regs = { .rip = 0x401000 };
	struct insn_access insn = make_insn(plain);

	(void)state;
	insn.operands[0].base = X86_RIP;
	insn.operands[0].disp = -7;
	assert_int_equal(effective_address(&insn, &insn.operands[0], &regs),
			 0x401000);
}

static void bit_offsets_round_down(void **state)
{
	static const struct {
		uint64_t offset;
		uint64_t address;
	} cases[] = {
		{ 0, 0x1000 },
		{ 31, 0x1000 },
		{ 32, 0x1004 },
		{ 0xffffffff, 0xffc },
		{ 0xffffffe0, 0xffc },
		{ 0xffffffdf, 0xff8 },
		{ 0x80000000, 0x1000 - 0x10000000 },
		/* the upper half of the register is not looked at */
		{ 0x1234500000020, 0x1004 },
	};
	struct insn_access insn = make_insn(plain);

	(void)state;
	insn.operands[0].base = X86_RDI;
	insn.operands[0].bit_reg = X86_RCX;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct x86_registers regs = {
			.gpr[X86_RDI] = 0x1000,
			.gpr[X86_RCX] = cases[i].offset,
		};

		assert_int_equal(effective_address(&insn, &insn.operands[0],
						   &regs),
				 cases[i].address);
	}
}

static struct insn_access make_rep(uint16_t size)
{
	struct insn_access insn = make_insn(plain);

	insn.rep = X86_REP;
	insn.operands[0].base = X86_RDI;
	insn.operands[0].string = true;
	insn.operands[0].size = size;
	return insn;
}

static void rep_is_cut_to_whole_elements(void **state)
{
	struct x86_registers regs = {
		.gpr[X86_RDI] = 0x1000,
		.gpr[X86_RCX] = 1000,
	};
	struct insn_access insn = make_rep(8);
	struct mem_access access;

	(void)state;
	assert_int_equal(effective_accesses(&insn, &regs, &access), 1);
	assert_int_equal(access.address, 0x1000);
	assert_int_equal(access.size, 64);
	regs.rflags = 0x400;
	assert_int_equal(effective_accesses(&insn, &regs, &access), 1);
	assert_int_equal(access.address, 0x1000 - 56);
	assert_int_equal(access.size, 64);
}

static void rep_with_count_zero_makes_no_access(void **state)
{
	struct x86_registers regs = { .gpr[X86_RDI] = 0x1000 };
	struct insn_access insn = make_rep(8);
	struct mem_access access;

	(void)state;
	assert_int_equal(effective_accesses(&insn, &regs, &access), 0);
}

static void plain_operands_ignore_the_direction_flag(void **state)
{
	struct x86_registers regs = { .rflags = 0x400 };
	struct insn_access insn = make_insn(plain);
	struct mem_access access;

	(void)state;
	insn.operands[0].disp = 0x1000;
	assert_int_equal(effective_accesses(&insn, &regs, &access), 1);
	assert_int_equal(access.address, 0x1000);
	assert_int_equal(access.size, 4);
	assert_int_equal(access.kind, ACCESS_READ);
}

static void stack_operands_are_left_out(void **state)
{
	struct x86_registers regs = { .gpr[X86_RSP] = 0x7000 };
	struct insn_access insn = make_insn(plain);
	struct mem_access accesses[X86_OPERANDS_MAX];

	(void)state;
	insn.operand_count = 2;
	insn.operands[0].stack = true;
	insn.operands[1] = plain;
	insn.operands[1].disp = 0x1234;
	assert_int_equal(effective_accesses(&insn, &regs, accesses), 1);
	assert_int_equal(accesses[0].address, 0x1234);
}

static void overlap_is_by_bytes(void **state)
{
	static const struct {
		struct mem_access a;
		struct mem_access b;
		bool overlap;
	} cases[] = {
		{ { 0x1000, 8, 0 }, { 0x1000, 8, 0 }, true },
		{ { 0x1000, 8, 0 }, { 0x1007, 1, 0 }, true },
		{ { 0x1000, 8, 0 }, { 0x1008, 1, 0 }, false },
		{ { 0x1000, 8, 0 }, { 0xff8, 8, 0 }, false },
		{ { 0x1000, 8, 0 }, { 0xff8, 9, 0 }, true },
		{ { 0x1000, 0, 0 }, { 0x1000, 8, 0 }, false },
		{ { UINT64_MAX, 1, 0 }, { UINT64_MAX - 3, 4, 0 }, true },
		{ { UINT64_MAX, 1, 0 }, { 0, 4, 0 }, false },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		assert_int_equal(mem_access_overlap(&cases[i].a, &cases[i].b),
				 cases[i].overlap);
		assert_int_equal(mem_access_overlap(&cases[i].b, &cases[i].a),
				 cases[i].overlap);
	}
}

static void conflict_needs_a_write(void **state)
{
	struct mem_access read = { 0x1000, 4, ACCESS_READ };
	struct mem_access write = { 0x1002, 4, ACCESS_WRITE };
	struct mem_access update = { 0x1000, 1, ACCESS_RMW };
	struct mem_access elsewhere = { 0x2000, 4, ACCESS_WRITE };

	(void)state;
	assert_false(mem_access_conflict(&read, &read));
	assert_true(mem_access_conflict(&read, &write));
	assert_true(mem_access_conflict(&write, &read));
	assert_true(mem_access_conflict(&update, &read));
	assert_false(mem_access_conflict(&update, &write));
	assert_false(mem_access_conflict(&elsewhere, &write));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sums_wrap_at_64_bits),
		cmocka_unit_test(addr32_cuts_before_the_segment_base),
		cmocka_unit_test(rip_is_the_next_instruction),
		cmocka_unit_test(bit_offsets_round_down),
		cmocka_unit_test(rep_is_cut_to_whole_elements),
		cmocka_unit_test(rep_with_count_zero_makes_no_access),
		cmocka_unit_test(plain_operands_ignore_the_direction_flag),
		cmocka_unit_test(stack_operands_are_left_out),
		cmocka_unit_test(overlap_is_by_bytes),
		cmocka_unit_test(conflict_needs_a_write),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
