/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Accesses to the same memory and that beside it; see nearby.h.
 */
#include "dataflow/nearby.h"

#include <sys/syscall.h>

#include "dataflow/flow-parts.h"
#include "dataflow/stored-parts.h"
#include "x86/decode-capstone.h"
#include "x86/decode-parts.h"
#include "x86/decode.h"

enum {
	EARLIER = 8, /* reads of the place that are looked at */
	WAY = 60, /* instructions from one to the access */
	WAYS = 300, /* ... on all ways */
};

struct nearby {
	const struct function_code *code;
	struct follow follow;
	uint64_t address; /* of the access */
	struct value place;
	uint16_t size;
	uint8_t kind;
	struct code_pattern *pattern;
	uint64_t earlier[EARLIER]; /* other reads of the place */
	unsigned int earlier_count;
	unsigned int steps;
	struct stored stored;
};

/* The bit of `pair' for memory that begins at this value. */
static uint8_t pair_bit(const struct nearby *nearby, const struct value *at)
{
	int64_t distance = at->disp - nearby->place.disp;

	if (at->root != nearby->place.root)
		return 0;
	if (distance == -(int64_t)nearby->size)
		return PATTERN_PAIR_BELOW;
	return distance == nearby->size ? PATTERN_PAIR_ABOVE : 0;
}

/* A locked instruction, or a plain store, for the place itself. */
static void see_change(struct nearby *nearby, uint64_t address,
		       const struct insn_access *access,
		       const struct mem_operand *operand)
{
	size_t at = (size_t)(address - nearby->code->start);

	if (access->synchronizes) {
		nearby->pattern->locked_beside = true;
		nearby->pattern->locked_adds |= pattern_adds(
			nearby->code->decoder, nearby->code->bytes + at,
			nearby->code->size - at, address);
		stored_add(&nearby->stored.locked, address);
	} else if (operand->kind & ACCESS_WRITE) {
		stored_add(&nearby->stored.stores, address);
	}
}

static void see_operand(struct nearby *nearby, uint64_t address,
			const struct insn_access *access,
			const struct mem_operand *operand,
			const struct value *at)
{
	bool same = values_equal(at, &nearby->place) &&
		    operand->size == nearby->size;

	if (same)
		see_change(nearby, address, access, operand);
	if (same && operand->kind == ACCESS_READ &&
	    address != nearby->address && nearby->earlier_count < EARLIER)
		nearby->earlier[nearby->earlier_count++] = address;
	if (operand->kind == ACCESS_WRITE && (nearby->kind & ACCESS_WRITE) &&
	    operand->size == nearby->size && !operand->string)
		nearby->pattern->pair |= pair_bit(nearby, at);
}

/* The value of operand i, as it was loaded: of which bit of the pair? */
static uint8_t loaded_bit(const struct nearby *nearby,
			  const struct values *values,
			  const struct cs_insn *insn,
			  const struct insn_access *access, int i, bool *itself)
{
	const cs_x86_op *op = &insn->detail->x86.operands[i];
	uint8_t reg = pattern_register(insn, i), bits = 0;
	struct value value, at = nearby->place;

	if (op->size != nearby->size)
		return 0;
	if (op->type == X86_OP_MEM && access->operand_count == 1) {
		value = values_address(values, &access->operands[0],
				       pattern_next(insn));
		*itself |= values_equal(&value, &nearby->place);
		return pair_bit(nearby, &value);
	}
	if (reg >= X86_RIP)
		return 0;
	value = values->regs[reg];
	*itself |= values_is_loaded(&value, &at);
	at.disp -= nearby->size;
	bits |= values_is_loaded(&value, &at) ? PATTERN_PAIR_BELOW : 0;
	at.disp += 2 * nearby->size;
	bits |= values_is_loaded(&value, &at) ? PATTERN_PAIR_ABOVE : 0;
	return bits;
}

/* Two values from memory side by side, compared or subtracted. */
static void see_pair(struct nearby *nearby, const struct values *values,
		     uint64_t address, const struct insn_access *access)
{
	const struct cs_insn *insn = pattern_decode(&nearby->follow, address);
	bool itself = false;
	uint8_t bits;

	if (!insn || nearby->kind != ACCESS_READ ||
	    (insn->id != X86_INS_CMP && insn->id != X86_INS_SUB) ||
	    insn->detail->x86.op_count != 2)
		return;
	bits = loaded_bit(nearby, values, insn, access, 0, &itself) |
	       loaded_bit(nearby, values, insn, access, 1, &itself);
	if (itself)
		nearby->pattern->pair |= bits;
}

static bool is_number(const struct value *value, int64_t number)
{
	return value->root == 0 && value->disp == number;
}

/*
 * "syscall(SYS_futex, &word, ...)", or the instruction: the kernel compares the
 * word with a number, as with a locked instruction.
 */
static bool waits_on(struct nearby *nearby, const struct values *values,
		     uint64_t address, const struct insn_access *access)
{
	const struct value *regs = values->regs;
	const struct cs_insn *insn;

	if (nearby->size != 4)
		return false;
	if (access->flow == X86_FLOW_CALL)
		return is_number(&regs[X86_RDI], SYS_futex) &&
		       values_equal(&regs[X86_RSI], &nearby->place);
	insn = pattern_decode(&nearby->follow, address);
	return insn && insn->id == X86_INS_SYSCALL &&
	       is_number(&regs[X86_RAX], SYS_futex) &&
	       values_equal(&regs[X86_RDI], &nearby->place);
}

static void see(void *context, uint64_t address, const struct values *values)
{
	struct nearby *nearby = context;
	struct insn_access access;

	pattern_access(&nearby->follow, address, &access);
	for (unsigned int i = 0; i < access.operand_count; i++) {
		const struct mem_operand *operand = &access.operands[i];
		struct value at = values_address(values, operand,
						 address + access.length);

		if (!operand->stack)
			see_operand(nearby, address, &access, operand, &at);
	}
	see_pair(nearby, values, address, &access);
	if (waits_on(nearby, values, address, &access)) {
		nearby->pattern->locked_beside = true;
		stored_add(&nearby->stored.locked, address);
	}
}

/* Does a way without calls lead there? */
static bool leads_to(struct nearby *nearby, uint64_t address, unsigned int way)
{
	while (way++ < WAY && nearby->steps++ < WAYS) {
		struct insn_access access;

		if (address - nearby->follow.start >= nearby->follow.size)
			return false;
		pattern_access(&nearby->follow, address, &access);
		if (access.flow == X86_FLOW_CALL ||
		    access.flow == X86_FLOW_RET ||
		    access.flow == X86_FLOW_STOP ||
		    access.refusal == X86_REFUSED_UNDECODABLE ||
		    access.synchronizes)
			return false;
		address = access.flow == X86_FLOW_JUMP
				  ? access.target
				  : address + access.length;
		if (address == nearby->address)
			return true;
		if (access.flow == X86_FLOW_BRANCH &&
		    (access.target == nearby->address ||
		     leads_to(nearby, access.target, way)))
			return true;
	}
	return false;
}

/* Was it read and tested on a way here? */
static bool was_tested(struct nearby *nearby)
{
	for (unsigned int i = 0; i < nearby->earlier_count; i++) {
		struct code_pattern pattern;

		pattern_find(nearby->code->decoder, nearby->code->bytes,
			     nearby->code->size, nearby->code->start,
			     nearby->earlier[i], 0, &pattern);
		nearby->steps = 0;
		if (pattern.compared && leads_to(nearby, nearby->earlier[i], 0))
			return true;
	}
	return false;
}

void nearby_find(const struct function_code *code, uint64_t address,
		 unsigned int operand, struct code_pattern *ret)
{
	struct nearby nearby = {
		.code = code,
		.follow = { .decoder = code->decoder,
			    .bytes = code->bytes,
			    .size = code->size,
			    .start = code->start },
		.address = address,
		.pattern = ret,
	};
	struct insn_access access;
	struct values values;

	if (address - code->start >= code->size ||
	    !flow_to(code, address, &values, NULL, NULL))
		return;
	pattern_access(&nearby.follow, address, &access);
	if (operand >= access.operand_count || access.operands[operand].stack ||
	    access.operands[operand].string)
		return;
	nearby.size = access.operands[operand].size;
	nearby.kind = access.operands[operand].kind;
	nearby.place = values_address(&values, &access.operands[operand],
				      address + access.length);
	flow_to(code, address, &values, see, &nearby);
	if (nearby.kind != ACCESS_READ)
		return;
	ret->retested = was_tested(&nearby);
	if (ret->locked_beside)
		ret->stored_plainly =
			stored_plainly(&nearby.follow, &nearby.stored, address);
}
