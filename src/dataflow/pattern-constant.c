/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Is what a store stores always the same? See pattern.h. Registers that hold a
 * constant are followed from the function's start in the order of addresses;
 * where a branch leads to, nothing is known of them.
 */
#include "dataflow/pattern.h"

#include "dataflow/pattern-parts.h"
#include "x86/decode-capstone.h"

enum {
	CONSTANT_SIZE = 4096, /* of a function that is looked at */
	/* rbx, rbp, r12 to r15: a called function keeps them (psABI 3.2.1) */
	CONSTANT_KEPT = 1 << X86_RBX | 1 << X86_RBP | 0xf << X86_R12,
};

/* Offsets that a branch of the function leads to: a bit set. */
struct targets {
	uint8_t bits[CONSTANT_SIZE / 8];
};

static bool targets_have(const struct targets *targets, uint64_t offset)
{
	return targets->bits[offset / 8] >> offset % 8 & 1;
}

/* By a register, or an element of a table; not by a variable, to its function. */
static bool leads_anywhere(const struct insn_access *access)
{
	const struct mem_operand *operand = &access->operands[0];

	return access->flow == X86_FLOW_JUMP && access->indirect &&
	       !(access->operand_count == 1 && operand->base == X86_RIP &&
		 operand->index == X86_REG_NONE);
}

/* False: some are not known. */
static bool targets_find(const struct follow *follow, struct targets *ret)
{
	struct insn_access access;

	*ret = (struct targets){ .bits = { 0 } };
	for (size_t at = 0; at < follow->size; at += access.length) {
		uint64_t target;

		pattern_access(follow, follow->start + at, &access);
		if (leads_anywhere(&access))
			return false;
		if (access.flow != X86_FLOW_JUMP &&
		    access.flow != X86_FLOW_BRANCH)
			continue;
		target = access.target - follow->start;
		if (target < follow->size)
			ret->bits[target / 8] |= (uint8_t)(1 << target % 8);
	}
	return true;
}

/* The register that the instruction gives a constant, or an address. */
static uint8_t constant_register(const struct cs_insn *insn)
{
	const cs_x86_op *operands = insn->detail->x86.operands;
	uint8_t reg = pattern_register(insn, 0);
	int64_t imm;

	if (pattern_high_byte(insn, 0))
		return X86_REG_NONE;
	if ((insn->id == X86_INS_MOV || insn->id == X86_INS_MOVABS) &&
	    pattern_immediate(insn, 1, &imm))
		return reg;
	if (insn->id == X86_INS_LEA && operands[1].mem.base == X86_REG_RIP)
		return reg;
	if (insn->id == X86_INS_XOR && operands[1].type == X86_OP_REG &&
	    operands[0].reg == operands[1].reg)
		return reg;
	return X86_REG_NONE;
}

/* Those that still hold a constant behind the instruction. */
static uint32_t constant_step(const struct follow *follow, uint64_t address,
			      uint32_t known)
{
	struct cs_insn *insn = pattern_decode(follow, address);
	struct insn_access access;
	uint32_t written, byte;
	uint8_t reg;

	if (!insn)
		return 0;
	pattern_registers(follow, insn, &written, &byte);
	reg = constant_register(insn);
	pattern_access(follow, address, &access);
	if (access.flow == X86_FLOW_CALL)
		return known & CONSTANT_KEPT;
	if (access.flow != X86_FLOW_NEXT && access.flow != X86_FLOW_BRANCH)
		return 0;
	known &= ~(written | byte);
	return reg < X86_RIP ? known | UINT32_C(1) << reg : known;
}

/* The registers that hold a constant before the instruction. */
static uint32_t constants_before(const struct follow *follow, uint64_t address)
{
	struct targets targets;
	struct insn_access access;
	uint32_t known = 0;

	if (!targets_find(follow, &targets))
		return 0;
	for (uint64_t at = follow->start; at <= address; at += access.length) {
		if (targets_have(&targets, at - follow->start))
			known = 0;
		if (at == address)
			return known;
		known = constant_step(follow, at, known);
		pattern_access(follow, at, &access);
	}
	return 0;
}

bool pattern_stores_constant(struct decoder *decoder, const uint8_t *bytes,
			     size_t size, uint64_t start, uint64_t address)
{
	struct follow follow = {
		.decoder = decoder, .bytes = bytes, .size = size, .start = start
	};
	struct cs_insn *insn = address >= start && size <= CONSTANT_SIZE
				       ? pattern_decode(&follow, address)
				       : NULL;
	uint8_t reg;
	int64_t imm;

	if (!insn || insn->id != X86_INS_MOV)
		return false;
	if (pattern_immediate(insn, 1, &imm))
		return true;
	reg = pattern_register(insn, 1);
	if (reg >= X86_RIP || pattern_high_byte(insn, 1))
		return false;
	return constants_before(&follow, address) >> reg & 1;
}
