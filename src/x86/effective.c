/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Effective addresses: what an operand's fields and a thread's registers make
 * together. All sums wrap at 64 bits, as the hardware's do.
 */
#include "x86/effective.h"

static const uint64_t direction_flag = UINT64_C(1) << 10;

static uint64_t register_value(const struct insn_access *insn,
			       const struct x86_registers *regs, uint8_t reg)
{
	if (reg < X86_RIP)
		return regs->gpr[reg];
	if (reg == X86_RIP)
		return regs->rip + insn->length;
	return 0;
}

static uint64_t segment_base(const struct x86_registers *regs, uint8_t segment)
{
	switch (segment) {
	case X86_SEG_FS:
		return regs->fs_base;
	case X86_SEG_GS:
		return regs->gs_base;
	default:
		return 0;
	}
}

/* The low `size` bytes (2, 4 or 8) of a bit offset, as a signed number. */
static int64_t signed_offset(uint64_t value, uint16_t size)
{
	switch (size) {
	case 2:
		return (int16_t)value;
	case 4:
		return (int32_t)value;
	default:
		return (int64_t)value;
	}
}

/*
 * A bit test's register selects a bit anywhere around the operand: the address
 * moves by whole operands, rounding down (SDM volume 2, "BT": a bit offset
 * divided by the operand's bits, with DIV rounding to negative infinity).
 */
static uint64_t bit_displacement(const struct mem_operand *operand,
				 const struct x86_registers *regs)
{
	int64_t bits = operand->size * 8;
	int64_t offset;
	int64_t whole;

	if (operand->bit_reg >= X86_RIP)
		return 0;
	offset = signed_offset(regs->gpr[operand->bit_reg], operand->size);
	whole = offset / bits - (offset % bits < 0);
	return (uint64_t)whole * operand->size;
}

/*
 * pop computes its destination after it has moved rsp (SDM volume 2, "POP").
 * It is known by the two operands: written, and read from the stack.
 */
static uint64_t pop_displacement(const struct insn_access *insn,
				 const struct mem_operand *operand)
{
	const struct mem_operand *slot = &insn->operands[1];

	if (insn->operand_count != 2 || operand->stack ||
	    operand->base != X86_RSP || operand->kind != ACCESS_WRITE)
		return 0;
	return slot->stack && slot->kind == ACCESS_READ ? slot->size : 0;
}

uint64_t effective_address(const struct insn_access *insn,
			   const struct mem_operand *operand,
			   const struct x86_registers *regs)
{
	uint64_t offset = (uint64_t)operand->disp;

	offset += register_value(insn, regs, operand->base);
	offset += register_value(insn, regs, operand->index) * operand->scale;
	offset += bit_displacement(operand, regs);
	offset += pop_displacement(insn, operand);
	if (operand->addr32)
		offset = (uint32_t)offset;
	return offset + segment_base(regs, operand->segment);
}

/* How often the instruction will access the operand: 1 unless repeated. */
static uint64_t repetitions(const struct insn_access *insn,
			    const struct mem_operand *operand,
			    const struct x86_registers *regs)
{
	if (insn->rep == X86_REP_NONE || !operand->string)
		return 1;
	if (operand->addr32)
		return (uint32_t)regs->gpr[X86_RCX];
	return regs->gpr[X86_RCX];
}

/* The bytes touched through one operand; false if there are none. */
static bool operand_access(const struct insn_access *insn,
			   const struct mem_operand *operand,
			   const struct x86_registers *regs,
			   struct mem_access *ret)
{
	uint64_t count = repetitions(insn, operand, regs);
	uint64_t address;

	if (count == 0 || operand->size == 0 || operand->kind == ACCESS_NONE)
		return false;
	address = effective_address(insn, operand, regs);
	if (count > 1 && count > X86_ACCESS_MAX / operand->size)
		count = X86_ACCESS_MAX / operand->size;
	if (operand->string && (regs->rflags & direction_flag) != 0)
		address -= (count - 1) * operand->size;
	*ret = (struct mem_access){
		.address = address,
		.size = (uint32_t)(count * operand->size),
		.kind = operand->kind,
	};
	return true;
}

int effective_accesses(const struct insn_access *insn,
		       const struct x86_registers *regs, struct mem_access *ret)
{
	int count = 0;

	for (int i = 0; i < insn->operand_count; i++) {
		const struct mem_operand *operand = &insn->operands[i];

		if (operand->stack)
			continue;
		if (operand_access(insn, operand, regs, &ret[count]))
			count++;
	}
	return count;
}

bool mem_access_overlap(const struct mem_access *a, const struct mem_access *b)
{
	if (a->size == 0 || b->size == 0)
		return false;
	if (a->address <= b->address)
		return b->address - a->address < a->size;
	return a->address - b->address < b->size;
}

bool mem_access_conflict(const struct mem_access *a, const struct mem_access *b)
{
	return ((a->kind | b->kind) & ACCESS_WRITE) != 0 &&
	       mem_access_overlap(a, b);
}
