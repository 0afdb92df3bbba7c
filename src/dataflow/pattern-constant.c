/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What is the value made of that a store stores? See pattern.h. Registers are followed
 * from the function's start in the order of addresses; where a branch leads to,
 * nothing is known of them.
 */
#include "dataflow/pattern.h"

#include "dataflow/pattern-parts.h"
#include "x86/decode-capstone.h"
#include "x86/decode-parts.h"

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

/*
 * What the values of registers are made of: bit r is what register r has as the
 * function begins. No bit: constants alone.
 */
enum { INPUTS_OTHER = 1 << 16 }; /* memory, results of calls, flags */

struct inputs {
	uint32_t of[16];
};

static void inputs_set(struct inputs *inputs, uint32_t registers, uint32_t made)
{
	for (int i = 0; i < 16; i++) {
		if (registers >> i & 1)
			inputs->of[i] = made;
	}
}

static uint32_t inputs_union(const struct inputs *inputs, uint32_t registers)
{
	uint32_t made = 0;

	for (int i = 0; i < 16; i++) {
		if (registers >> i & 1)
			made |= inputs->of[i];
	}
	return made;
}

/* Instructions whose results are made of their operands, and of no flags. */
static bool is_plain(unsigned int id)
{
	static const unsigned int plain[] = {
		X86_INS_MOV, X86_INS_MOVABS, X86_INS_MOVZX, X86_INS_MOVSX,
		X86_INS_LEA, X86_INS_MOVSXD, X86_INS_CDQE,  X86_INS_ADD,
		X86_INS_SUB, X86_INS_IMUL,   X86_INS_INC,   X86_INS_DEC,
		X86_INS_NEG, X86_INS_NOT,    X86_INS_AND,   X86_INS_OR,
		X86_INS_XOR, X86_INS_SHL,    X86_INS_SHR,   X86_INS_SAR,
	};

	for (size_t i = 0; i < sizeof(plain) / sizeof(plain[0]); i++) {
		if (plain[i] == id)
			return true;
	}
	return false;
}

/* Is its result made of the registers that it reads, and of nothing else? */
static bool computes(const struct cs_insn *insn)
{
	const cs_x86 *x86 = &insn->detail->x86;

	for (int i = 0; i < x86->op_count; i++) {
		if (x86->operands[i].type == X86_OP_MEM &&
		    insn->id != X86_INS_LEA)
			return false;
		if (x86->operands[i].type == X86_OP_REG &&
		    (pattern_register(insn, i) >= X86_RIP ||
		     pattern_high_byte(insn, i)))
			return false;
	}
	return is_plain(insn->id);
}

/* Of all of the register: what writes 4 bytes clears the others. */
static bool is_zero(const struct cs_insn *insn)
{
	const cs_x86_op *operands = insn->detail->x86.operands;

	return (insn->id == X86_INS_XOR || insn->id == X86_INS_SUB) &&
	       operands[0].type == X86_OP_REG && operands[0].size >= 4 &&
	       operands[1].type == X86_OP_REG &&
	       operands[0].reg == operands[1].reg;
}

/* Past the instruction. */
static void inputs_step(const struct follow *follow, uint64_t address,
			struct inputs *inputs)
{
	struct cs_insn *insn = pattern_decode(follow, address);
	uint32_t written = UINT32_MAX, byte = 0, made = INPUTS_OTHER, read;
	struct insn_access access;

	if (insn) {
		read = pattern_registers(follow, insn, &written, &byte);
		if (computes(insn))
			made = is_zero(insn)
				       ? 0
				       : inputs_union(inputs, read | byte);
	}
	pattern_access(follow, address, &access);
	if (access.flow == X86_FLOW_CALL)
		written = ~(uint32_t)CONSTANT_KEPT;
	else if (access.flow != X86_FLOW_NEXT && access.flow != X86_FLOW_BRANCH)
		written = UINT32_MAX;
	inputs_set(inputs, written | byte, made);
}

/* Before the instruction. */
static void inputs_find(const struct follow *follow, uint64_t address,
			struct inputs *ret)
{
	struct targets targets;
	struct insn_access access;

	bool known = targets_find(follow, &targets);

	for (int i = 0; i < 16; i++)
		ret->of[i] = UINT32_C(1) << i;
	for (uint64_t at = follow->start; known && at <= address;
	     at += access.length) {
		if (targets_have(&targets, at - follow->start))
			inputs_set(ret, UINT32_MAX, INPUTS_OTHER);
		if (at == address)
			return;
		inputs_step(follow, at, ret);
		pattern_access(follow, at, &access);
	}
	inputs_set(ret, UINT32_MAX, INPUTS_OTHER);
}

/* The registers in an operand's address: a bit set. */
static uint32_t made_place(const x86_op_mem *operand)
{
	const uint16_t registers[] = { (uint16_t)operand->base,
				       (uint16_t)operand->index };

	return decode_register_set(registers, 2);
}

/* A plain store: what its value and its address are made of. */
struct made {
	uint32_t value, place;
};

static struct made made_find(struct decoder *decoder, const uint8_t *bytes,
			     size_t size, uint64_t start, uint64_t address)
{
	const struct follow follow = {
		.decoder = decoder, .bytes = bytes, .size = size, .start = start
	};
	struct made made = { .value = INPUTS_OTHER };
	struct cs_insn *insn = address >= start && size <= CONSTANT_SIZE
				       ? pattern_decode(&follow, address)
				       : NULL;
	struct inputs inputs;
	uint8_t value;
	uint32_t place;
	int64_t imm;

	if (!insn || insn->id != X86_INS_MOV ||
	    insn->detail->x86.operands[0].type != X86_OP_MEM)
		return made;
	if (pattern_immediate(insn, 1, &imm))
		return (struct made){ 0 };
	value = pattern_register(insn, 1);
	if (value >= X86_RIP || pattern_high_byte(insn, 1))
		return made;
	place = made_place(&insn->detail->x86.operands[0].mem);
	inputs_find(&follow, address, &inputs);
	made.value = inputs.of[value];
	made.place = inputs_union(&inputs, place);
	return made;
}

bool pattern_stores_constant(struct decoder *decoder, const uint8_t *bytes,
			     size_t size, uint64_t start, uint64_t address)
{
	return made_find(decoder, bytes, size, start, address).value == 0;
}

bool pattern_stores_made(struct decoder *decoder, const uint8_t *bytes,
			 size_t size, uint64_t start, uint64_t address)
{
	struct made made = made_find(decoder, bytes, size, start, address);

	return !(made.value & (~made.place | INPUTS_OTHER));
}
