/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Pointers to functions that are chosen at the first call; see dispatch.h.
 */
#include "dataflow/dispatch.h"

#include "dataflow/lockset.h"
#include "dataflow/pattern-parts.h"
#include "x86/decode-capstone.h"
#include "x86/decode-parts.h"

enum { STRAIGHT = 16 }; /* instructions from the load to the call */

/* Those that a called function need not keep. */
static const uint32_t scratch = 1u << X86_RAX | 1u << X86_RCX | 1u << X86_RDX |
				1u << X86_RSI | 1u << X86_RDI | 1u << X86_R8 |
				1u << X86_R9 | 1u << X86_R10 | 1u << X86_R11;

static struct follow follow_of(const struct function_code *code)
{
	return (struct follow){ .decoder = code->decoder,
				.bytes = code->bytes,
				.size = code->size,
				.start = code->start };
}

/* "call *%reg", or "jmp *%reg": nothing of the register is left behind it. */
static bool goes_to(const struct cs_insn *insn, uint8_t reg)
{
	return (insn->id == X86_INS_CALL || insn->id == X86_INS_JMP) &&
	       insn->detail->x86.op_count == 1 &&
	       pattern_register(insn, 0) == reg;
}

/* Is the register only called, from there on? */
static bool only_called(const struct follow *follow, uint64_t address,
			uint8_t reg)
{
	uint32_t bit = UINT32_C(1) << reg;

	for (int i = 0; i < STRAIGHT; i++) {
		struct insn_access access;
		const struct cs_insn *insn;
		uint32_t written, byte;

		pattern_access(follow, address, &access);
		insn = pattern_decode(follow, address);
		if (!insn)
			return false;
		if (goes_to(insn, reg))
			return true;
		if (access.flow != X86_FLOW_NEXT ||
		    ((pattern_registers(follow, insn, &written, &byte) | byte |
		      written) &
		     bit))
			return false;
		address = pattern_next(insn);
	}
	return false;
}

bool dispatch_calls(const struct function_code *code, uint64_t address,
		    unsigned int operand)
{
	const struct follow follow = follow_of(code);
	const struct cs_insn *insn;
	struct insn_access access;
	uint8_t reg;

	pattern_access(&follow, address, &access);
	insn = pattern_decode(&follow, address);
	if (!insn || operand >= access.operand_count ||
	    access.operands[operand].size != 8)
		return false;
	/* through memory */
	if (insn->id == X86_INS_CALL || insn->id == X86_INS_JMP)
		return access.indirect && !access.operands[operand].stack;
	reg = pattern_register(insn, 0);
	return insn->id == X86_INS_MOV && reg < X86_RIP &&
	       (scratch & UINT32_C(1) << reg) &&
	       only_called(&follow, pattern_next(insn), reg);
}

bool dispatch_stores(const struct function_code *code, uint64_t address,
		     uint8_t *ret_reg, int64_t *ret_imm)
{
	const struct follow follow = follow_of(code);
	const struct cs_insn *insn;
	struct insn_access access;

	pattern_access(&follow, address, &access);
	insn = pattern_decode(&follow, address);
	if (!insn || insn->id != X86_INS_MOV || access.operand_count != 1 ||
	    access.operands[0].kind != ACCESS_WRITE ||
	    access.operands[0].size != 8)
		return false;
	*ret_reg = pattern_register(insn, 1);
	*ret_imm = 0;
	return *ret_reg < X86_RIP || pattern_immediate(insn, 1, ret_imm);
}
