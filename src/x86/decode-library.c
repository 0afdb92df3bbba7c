/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The rest of the instruction set by Capstone: vector instructions, system
 * instructions, rare encodings. Capstone says which instruction it is, how
 * long, and what its memory operand's address and size are; whether that is
 * read or written follows from the operand's place and decode-fix.c, since
 * Capstone's own access flags are wrong too often (4.0.2: 3 to 5 % of the
 * memory instructions of large libraries).
 */
#include "x86/decode-parts.h"

#include "x86/decode-capstone.h"
#include "x86/decode.h"

static uint8_t find_segment(enum capstone_x86_reg reg)
{
	switch ((unsigned int)reg) {
	case X86_REG_FS:
		return X86_SEG_FS;
	case X86_REG_GS:
		return X86_SEG_GS;
	default:
		return X86_SEG_NONE;
	}
}

uint8_t decode_register(unsigned int reg)
{
	/* the x86 order of the first eight is not that of any enum */
	static const uint8_t names[X86_REG_ENDING] = {
#define GPR(ours_, r64_, r32_, r16_, r8_)                               \
	[X86_REG_##r64_] = (ours_) + 1, [X86_REG_##r32_] = (ours_) + 1, \
	[X86_REG_##r16_] = (ours_) + 1, [X86_REG_##r8_] = (ours_) + 1
		GPR(X86_RAX, RAX, EAX, AX, AL),
		GPR(X86_RCX, RCX, ECX, CX, CL),
		GPR(X86_RDX, RDX, EDX, DX, DL),
		GPR(X86_RBX, RBX, EBX, BX, BL),
		GPR(X86_RSP, RSP, ESP, SP, SPL),
		GPR(X86_RBP, RBP, EBP, BP, BPL),
		GPR(X86_RSI, RSI, ESI, SI, SIL),
		GPR(X86_RDI, RDI, EDI, DI, DIL),
		GPR(X86_R8, R8, R8D, R8W, R8B),
		GPR(X86_R9, R9, R9D, R9W, R9B),
		GPR(X86_R10, R10, R10D, R10W, R10B),
		GPR(X86_R11, R11, R11D, R11W, R11B),
		GPR(X86_R12, R12, R12D, R12W, R12B),
		GPR(X86_R13, R13, R13D, R13W, R13B),
		GPR(X86_R14, R14, R14D, R14W, R14B),
		GPR(X86_R15, R15, R15D, R15W, R15B),
#undef GPR
		[X86_REG_AH] = X86_RAX + 1,
		[X86_REG_CH] = X86_RCX + 1,
		[X86_REG_DH] = X86_RDX + 1,
		[X86_REG_BH] = X86_RBX + 1,
		[X86_REG_RIP] = X86_RIP + 1,
		[X86_REG_EIP] = X86_RIP + 1,
	};

	if (reg >= X86_REG_ENDING || names[reg] == 0)
		return X86_REG_NONE;
	return names[reg] - 1;
}

/* Is it a register that our operands cannot name (vector indexes)? */
static bool is_foreign(enum capstone_x86_reg reg)
{
	unsigned int number = (unsigned int)reg;

	return number != X86_REG_INVALID && number != X86_REG_RIZ &&
	       number != X86_REG_EIZ && decode_register(number) == X86_REG_NONE;
}

static bool is_vector(const cs_x86_op *op)
{
	return op->type == X86_OP_REG && op->reg >= X86_REG_XMM0 &&
	       op->reg <= X86_REG_ZMM31;
}

static void refuse(struct insn_access *insn, uint8_t refusal)
{
	insn->refusal = refusal;
	insn->operand_count = 0;
}

/* One memory operand of Capstone's into ours. */
static void add_memory(struct insn_access *insn,
		       const struct prefixes *prefixes, const cs_x86_op *op,
		       uint8_t kind, uint16_t size)
{
	if (is_foreign(op->mem.base) || is_foreign(op->mem.index) ||
	    insn->operand_count == X86_OPERANDS_MAX || size == 0 ||
	    size > X86_ACCESS_MAX || kind == ACCESS_NONE) {
		refuse(insn, X86_REFUSED_OTHER);
		return;
	}
	insn->operands[insn->operand_count++] = (struct mem_operand){
		.kind = kind,
		.base = decode_register(op->mem.base),
		.index = decode_register(op->mem.index),
		.scale = (uint8_t)op->mem.scale,
		.segment = find_segment(op->mem.segment),
		.addr32 = prefixes->addr32,
		.bit_reg = X86_REG_NONE,
		.size = size,
		.disp32 = (int32_t)op->mem.disp,
		.disp = op->mem.disp,
	};
}

static void add_operands(struct insn_access *insn,
			 const struct prefixes *prefixes, const cs_x86 *x86,
			 const struct insn_fix *fix)
{
	bool memory = false;

	for (int i = 0; i < x86->op_count; i++) {
		const cs_x86_op *op = &x86->operands[i];
		uint8_t kind = i == 0 ? fix->first : ACCESS_READ;
		uint16_t size = fix->size != 0 ? fix->size : op->size;

		insn->vector |= is_vector(op);
		if (op->type != X86_OP_MEM)
			continue;
		memory = true;
		if (insn->refusal == X86_OK)
			add_memory(insn, prefixes, op, kind, size);
	}
	insn->vector &= memory;
}

bool decode_library(struct decoder *decoder, const struct prefixes *prefixes,
		    const uint8_t *bytes, size_t size, uint64_t address,
		    struct insn_access *ret)
{
	struct cs_insn *insn = decoder->insn;
	const uint8_t *at = bytes;
	const struct insn_fix *fix;

	if (!cs_disasm_iter(decoder->capstone, &at, &size, &address, insn))
		return false;
	fix = decode_fix(insn->id);
	ret->length = (uint8_t)insn->size;
	ret->flow = fix->flow;
	if (fix->refusal != X86_OK)
		refuse(ret, fix->refusal);
	else if (!fix->no_access)
		add_operands(ret, prefixes, &insn->detail->x86, fix);
	/* lock is valid with a memory operand that is read and written */
	if (prefixes->lock &&
	    (ret->operand_count == 0 || ret->operands[0].kind != ACCESS_RMW))
		refuse(ret, X86_REFUSED_UNDECODABLE);
	ret->synchronizes = prefixes->lock && ret->refusal == X86_OK;
	return true;
}

uint32_t decode_register_set(const uint16_t *regs, uint8_t count)
{
	uint32_t set = 0;

	for (int i = 0; i < count; i++) {
		uint8_t reg = decode_register(regs[i]);

		if (reg < X86_RIP)
			set |= UINT32_C(1) << reg;
	}
	return set;
}

uint32_t decode_insn_written(const struct decoder *decoder,
			     const struct cs_insn *insn)
{
	cs_regs read, write;
	uint8_t reads = 0, writes = 0;

	if (cs_regs_access(decoder->capstone, insn, read, &reads, write,
			   &writes) != CS_ERR_OK)
		return UINT32_MAX;
	return decode_register_set(write, writes);
}

uint32_t decode_written(struct decoder *decoder, const uint8_t *bytes,
			size_t size, uint64_t address)
{
	const uint8_t *at = bytes;

	if (!cs_disasm_iter(decoder->capstone, &at, &size, &address,
			    decoder->insn))
		return UINT32_MAX;
	return decode_insn_written(decoder, decoder->insn);
}

void decode_version(int *ret_major, int *ret_minor)
{
	cs_version(ret_major, ret_minor);
}
