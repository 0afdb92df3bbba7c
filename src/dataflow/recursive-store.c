/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Stores to the owner of a recursive lock: by a thread that has taken it, and
 * by one that releases it. See recursive.h.
 */
#include "dataflow/recursive.h"

#include "dataflow/flow-parts.h"
#include "x86/decode-capstone.h"
#include "x86/decode.h"

enum {
	RELEASE = 12, /* instructions from the store to the release */
	CANDIDATES = 12, /* reads that may be the check of a store */
};

/* The last reads before the instruction, of as much as that accesses. */
static unsigned int reads_before(const struct function_code *code,
				 uint64_t address, uint64_t reads[CANDIDATES])
{
	struct insn_access store, access;
	unsigned int count = 0;

	if (address - code->start >= code->size)
		return 0;
	decoder_decode(code->decoder, code->bytes + (address - code->start),
		       code->size - (address - code->start), address, &store);
	for (size_t at = 0; code->start + at < address; at += access.length) {
		decoder_decode(code->decoder, code->bytes + at, code->size - at,
			       code->start + at, &access);
		if (access.length == 0)
			break;
		if (access.operand_count == 1 && !access.operands[0].stack &&
		    access.operands[0].kind == ACCESS_READ &&
		    access.operands[0].size == store.operands[0].size)
			reads[count++ % CANDIDATES] = code->start + at;
	}
	return count;
}

bool recursive_owns(const struct function_code *code, uint64_t address,
		    struct recursive_check *ret)
{
	uint64_t reads[CANDIDATES];
	unsigned int count = reads_before(code, address, reads);

	for (unsigned int i = 0; i < count && i < CANDIDATES; i++) {
		if (recursive_check(code, reads[i], 0, ret) &&
		    ret->store == address)
			return true;
	}
	return false;
}

/* Does it store a number that no thread is known by? */
static bool stores_nobody(const struct cs_insn *insn,
			  const struct values *values)
{
	uint8_t reg = pattern_register(insn, 1);
	int64_t imm;

	if (insn->id != X86_INS_MOV)
		return false;
	if (pattern_immediate(insn, 1, &imm))
		return imm == 0 || imm == -1;
	return reg < X86_RIP && values->regs[reg].root == 0 &&
	       (values->regs[reg].disp == 0 || values->regs[reg].disp == -1);
}

static bool writes_at(const struct values *values, uint64_t address,
		      const struct insn_access *access, const struct value *at)
{
	for (unsigned int i = 0; i < access->operand_count; i++) {
		struct value to = values_address(values, &access->operands[i],
						 address + access->length);

		if ((access->operands[i].kind & ACCESS_WRITE) &&
		    values_equal(&to, at))
			return true;
	}
	return false;
}

/* A call, or the jump that the last call is, that releases the lock? */
static bool calls_release(const struct function_code *code,
			  const struct values *values, uint64_t address,
			  const struct insn_access *access,
			  const struct value *lock)
{
	return (access->flow == X86_FLOW_CALL ||
		access->flow == X86_FLOW_JUMP) &&
	       code->call(code->context, address, access) == LOCK_CALL_UNLOCK &&
	       values_equal(&values->regs[X86_RDI], lock);
}

bool recursive_releases(const struct function_code *code, uint64_t address,
			int64_t lock)
{
	const struct follow follow = { .decoder = code->decoder,
				       .bytes = code->bytes,
				       .size = code->size,
				       .start = code->start };
	const struct cs_insn *insn;
	struct insn_access access;
	struct values values;
	struct value at;

	if (!flow_to(code, address, &values, NULL, NULL))
		return false;
	pattern_access(&follow, address, &access);
	insn = pattern_decode(&follow, address);
	if (!insn || access.operand_count != 1 ||
	    access.operands[0].kind != ACCESS_WRITE ||
	    !stores_nobody(insn, &values))
		return false;
	at = values_address(&values, &access.operands[0],
			    address + access.length);
	at.disp += lock;
	for (int i = 0; i < RELEASE; i++) {
		if (!flow_step(code, &follow, &values, address, &access) ||
		    access.flow != X86_FLOW_NEXT)
			return false;
		address += access.length;
		if (address - code->start >= code->size)
			return false;
		pattern_access(&follow, address, &access);
		if (writes_at(&values, address, &access, &at) ||
		    calls_release(code, &values, address, &access, &at))
			return true;
	}
	return false;
}
