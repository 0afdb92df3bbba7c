/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Whether a value that was loaded is written back to its place: then the load
 * is half of an update, even if what is done to the value is not understood.
 * Registers are followed that hold anything made of it. See pattern-parts.h.
 */
#include "dataflow/pattern-parts.h"

#include "x86/decode-capstone.h"
#include "x86/decode-parts.h"
#include "x86/decode.h"

enum {
	STEPS = 300, /* instructions followed, on all paths */
	BRANCHES = 8, /* of one path */
};

static uint32_t bit_of(uint8_t reg)
{
	return reg < X86_RIP ? UINT32_C(1) << reg : 0;
}

/* xor and sub of a register with itself. */
static bool makes_zero(const struct cs_insn *insn)
{
	uint8_t reg = pattern_register(insn, 0);

	return (insn->id == X86_INS_XOR || insn->id == X86_INS_SUB) &&
	       reg < X86_RIP && pattern_register(insn, 1) == reg;
}

/* Registers that an instruction uses in addresses and not otherwise. */
static uint32_t only_addresses(const struct cs_insn *insn)
{
	const cs_x86 *x86 = &insn->detail->x86;
	uint32_t addresses = 0, others = 0;

	if (insn->id == X86_INS_LEA)
		return 0;
	for (int i = 0; i < x86->op_count; i++) {
		const cs_x86_op *op = &x86->operands[i];

		if (op->type == X86_OP_REG)
			others |= bit_of(decode_register(op->reg));
		if (op->type != X86_OP_MEM)
			continue;
		addresses |= bit_of(decode_register(op->mem.base)) |
			     bit_of(decode_register(op->mem.index));
	}
	return addresses & ~others;
}

/* The registers that hold something of the value after the instruction. */
static uint32_t holders_after(const struct follow *follow,
			      const struct cs_insn *insn, uint32_t holders)
{
	uint32_t written, byte;
	uint32_t read = pattern_registers(follow, insn, &written, &byte);

	read = (read | byte) & ~only_addresses(insn);
	if (!makes_zero(insn) && (read & holders))
		return holders | written;
	return holders & ~written;
}

/* A plain store of one of the registers to the place. */
static bool stores(const struct follow *follow, const struct path *path,
		   uint64_t address, uint32_t holders)
{
	const struct cs_insn *insn = pattern_decode(follow, address);
	uint64_t next = pattern_next(insn);
	struct insn_access access;

	if (insn->id != X86_INS_MOV ||
	    insn->detail->x86.operands[0].type != X86_OP_MEM ||
	    !(bit_of(pattern_register(insn, 1)) & holders) ||
	    (follow->store != 0 && follow->store != address))
		return false;
	pattern_access(follow, address, &access);
	return access.operand_count == 1 &&
	       pattern_is_place(follow, path, &access.operands[0], next);
}

static bool follow_holders(struct follow *follow, struct path path,
			   uint32_t holders)
{
	while (holders) {
		const struct cs_insn *insn =
			pattern_decode(follow, path.address);
		struct insn_access access;
		uint64_t next;

		if (!insn || follow->steps++ > STEPS ||
		    path.branches > BRANCHES)
			return false;
		if (stores(follow, &path, path.address, holders))
			return true;
		pattern_access(follow, path.address, &access);
		if (access.flow != X86_FLOW_NEXT &&
		    access.flow != X86_FLOW_BRANCH &&
		    (access.flow != X86_FLOW_JUMP || access.indirect))
			return false;
		insn = pattern_decode(follow, path.address);
		next = pattern_next(insn);
		if (access.flow == X86_FLOW_NEXT) {
			holders = holders_after(follow, insn, holders);
			insn = pattern_decode(follow, path.address);
			pattern_step(follow, &path, insn);
			path.address = next;
			continue;
		}
		path.branches++;
		path.address = access.target;
		if (access.flow == X86_FLOW_BRANCH) {
			if (follow_holders(follow, path, holders))
				return true;
			path.address = next;
		}
	}
	return false;
}

bool pattern_comes_back(const struct follow *follow, uint64_t load)
{
	const struct cs_insn *insn = pattern_decode(follow, load);
	/* what is found on the way is not to be noted */
	struct code_pattern scratch = { .used = 0 };
	struct follow own = *follow;
	struct path path = { .branches = 0 };
	uint8_t to, base;

	/* a comparison loads, and its register has another value */
	if (!insn || insn->detail->x86.op_count != 2 ||
	    insn->detail->x86.operands[1].type != X86_OP_MEM ||
	    insn->id == X86_INS_CMP)
		return false;
	to = pattern_register(insn, 0);
	base = decode_register(insn->detail->x86.operands[1].mem.base);
	if (base != to)
		path.bases = bit_of(base);
	path.place_lost = follow->place.index == to;
	path.address = pattern_next(insn);
	own.pattern = &scratch;
	own.steps = 0;
	return follow_holders(&own, path, bit_of(to));
}
