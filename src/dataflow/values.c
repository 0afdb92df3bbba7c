/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Values of registers and cells; see values-parts.h. Memory is taken to keep
 * what the function last stored there, and calls to change none of it: what is
 * found so is compared with what the thread's registers and stack really held.
 */
#include "dataflow/values-parts.h"

#include <string.h>

#include "dataflow/pattern-parts.h"
#include "x86/decode-capstone.h"
#include "x86/decode-parts.h"
#include "x86/decode.h"

/* Roots of different kinds. */
enum { ROOT_ENTRY = 1, ROOT_MADE = 101, ROOT_MET, ROOT_LOADED, ROOT_SUM };

/* Registers that a call does not keep. */
static const uint32_t caller_saved =
	1u << X86_RAX | 1u << X86_RCX | 1u << X86_RDX | 1u << X86_RSI |
	1u << X86_RDI | 1u << X86_R8 | 1u << X86_R9 | 1u << X86_R10 |
	1u << X86_R11;

static uint64_t mix(uint64_t key, uint64_t value)
{
	key = (key ^ value) * 0x9fb21c651e98df25u;
	return key ^ (key >> 29);
}

static struct value value_of(uint64_t kind, uint64_t a, uint64_t b)
{
	uint64_t root = mix(mix(kind, a) ^ kind << 32, b);

	/* numbers and the values at the entry are below */
	return (struct value){ root | UINT64_C(1) << 63, 0 };
}

bool values_equal(const struct value *a, const struct value *b)
{
	return a->root == b->root && a->disp == b->disp;
}

void values_enter(struct values *values)
{
	memset(values, 0, sizeof(*values));
	for (unsigned int i = 0; i < 16; i++)
		values->regs[i].root = ROOT_ENTRY + i;
}

static struct value register_value(const struct values *values, uint8_t reg,
				   uint64_t next)
{
	if (reg == X86_RIP)
		return (struct value){ 0, (int64_t)next };
	if (reg >= X86_REG_NONE)
		return (struct value){ 0, 0 };
	return values->regs[reg];
}

struct value values_address(const struct values *values,
			    const struct mem_operand *operand, uint64_t next)
{
	struct value at = register_value(values, operand->base, next);
	struct value index = register_value(values, operand->index, next);

	at.disp += operand->disp;
	at.disp += (int64_t)((uint64_t)index.disp * operand->scale);
	if (index.root != 0)
		at.root =
			value_of(ROOT_SUM + operand->scale, at.root, index.root)
				.root;
	/* thread-local, cut off, or moving by itself: like nothing else */
	if (operand->segment != X86_SEG_NONE || operand->addr32 ||
	    operand->string || operand->bit_reg != X86_REG_NONE)
		at.root = value_of(ROOT_MADE, next, (uint64_t)operand->segment)
				  .root;
	return at;
}

bool values_in_frame(const struct values *values, const struct value *at)
{
	return at->root == ROOT_ENTRY + X86_RSP ||
	       at->root == values->regs[X86_RSP].root;
}

bool values_returns_nothing(const struct values *values)
{
	const struct value *rax = &values->regs[X86_RAX];

	return rax->root == 0 ||
	       (rax->root == ROOT_ENTRY + X86_RAX && rax->disp == 0);
}

bool values_is_loaded(const struct value *value, const struct value *at)
{
	struct value loaded =
		value_of(ROOT_LOADED, at->root, (uint64_t)at->disp);

	return values_equal(value, &loaded);
}

static struct value load(const struct values *values, const struct value *at)
{
	for (unsigned int i = 0; i < values->cell_count; i++) {
		if (values_equal(&values->cells[i].at, at))
			return values->cells[i].value;
	}
	return value_of(ROOT_LOADED, at->root, (uint64_t)at->disp);
}

static void store(struct values *values, const struct value *at,
		  const struct value *value)
{
	for (unsigned int i = 0; i < values->cell_count; i++) {
		if (values_equal(&values->cells[i].at, at)) {
			values->cells[i].value = *value;
			return;
		}
	}
	if (values->cell_count == VALUES_CELLS) {
		values->overflow = true;
		return;
	}
	values->cells[values->cell_count++] = (struct cell){ *at, *value };
}

/* What was made there before is another value than what is made now. */
static void forget(struct values *values, uint64_t root)
{
	struct value gone = value_of(ROOT_MADE, root, 0);

	for (int i = 0; i < 16; i++) {
		if (values->regs[i].root == root)
			values->regs[i].root = gone.root;
	}
	for (unsigned int i = 0; i < values->cell_count; i++) {
		if (values->cells[i].value.root == root)
			values->cells[i].value.root = gone.root;
		if (values->cells[i].at.root == root)
			values->cells[i].at.root = gone.root;
	}
	for (unsigned int i = 0; i < values->lock_count; i++) {
		if (values->locks[i].root == root)
			values->locks[i].root = gone.root;
	}
}

static void make(struct values *values, uint64_t address, uint8_t reg)
{
	struct value value = value_of(ROOT_MADE, address, reg);

	forget(values, value.root);
	values->regs[reg] = value;
}

static void make_all(struct values *values, uint64_t address, uint32_t set)
{
	for (uint8_t i = 0; i < 16; i++) {
		if (set & UINT32_C(1) << i)
			make(values, address, i);
	}
}

/* The value of operand i: a register of 8 bytes, a number, or memory. */
static bool source(const struct values *values, const struct cs_insn *insn,
		   const struct insn_access *access, int i, struct value *ret)
{
	const cs_x86_op *op = &insn->detail->x86.operands[i];
	struct value at;
	uint8_t reg;

	switch ((unsigned int)op->type) {
	case X86_OP_IMM:
		*ret = (struct value){ 0, op->imm };
		return true;
	case X86_OP_REG:
		reg = pattern_register(insn, i);
		if (reg >= X86_RIP || pattern_high_byte(insn, i))
			return false;
		*ret = values->regs[reg];
		/* of a number that small, four bytes are all */
		return op->size == 8 || (op->size == 4 && ret->root == 0 &&
					 ret->disp == (ret->disp & INT32_MAX));
	case X86_OP_MEM:
		if (access->operand_count != 1 || op->size != 8)
			return false;
		at = values_address(values, &access->operands[0],
				    pattern_next(insn));
		*ret = load(values, &at);
		return true;
	default:
		return false;
	}
}

static bool step_move(struct values *values, const struct cs_insn *insn,
		      const struct insn_access *access)
{
	const cs_x86_op *to = &insn->detail->x86.operands[0];
	struct value value, at;
	uint8_t reg = pattern_register(insn, 0);
	bool known = source(values, insn, access, 1, &value);

	if (to->type == X86_OP_REG && reg < X86_RIP) {
		/* four bytes clear the upper ones: so a number stays itself */
		if (!known ||
		    (to->size != 8 &&
		     (to->size != 4 || value.root != 0 || value.disp < 0)))
			return false;
		values->regs[reg] = value;
		return true;
	}
	if (to->type != X86_OP_MEM || access->operand_count != 1)
		return false;
	at = values_address(values, &access->operands[0], pattern_next(insn));
	if (!known || to->size != 8)
		value = value_of(ROOT_MADE, insn->address, 64);
	store(values, &at, &value);
	return true;
}

static bool step_lea(struct values *values, const struct cs_insn *insn)
{
	const x86_op_mem *mem = &insn->detail->x86.operands[1].mem;
	struct mem_operand operand = {
		.base = decode_register(mem->base),
		.index = decode_register(mem->index),
		.scale = (uint8_t)mem->scale,
		.bit_reg = X86_REG_NONE,
		.disp = mem->disp,
	};
	uint8_t reg = pattern_register(insn, 0);

	if (mem->base == X86_REG_RIP)
		operand.base = X86_RIP;
	if (reg >= X86_RIP || insn->detail->x86.operands[0].size != 8)
		return false;
	values->regs[reg] =
		values_address(values, &operand, pattern_next(insn));
	return true;
}

static bool step_sum(struct values *values, const struct cs_insn *insn)
{
	uint8_t reg = pattern_register(insn, 0);
	int64_t imm;

	if (reg >= X86_RIP || insn->detail->x86.operands[0].size != 8 ||
	    !pattern_immediate(insn, 1, &imm))
		return false;
	values->regs[reg].disp += insn->id == X86_INS_SUB ? -imm : imm;
	return true;
}

static bool step_stack(struct values *values, const struct cs_insn *insn)
{
	struct value *rsp = &values->regs[X86_RSP];
	uint8_t reg = pattern_register(insn, 0);
	struct value value;

	switch (insn->id) {
	case X86_INS_PUSH:
		value = reg < X86_RIP ? values->regs[reg]
				      : value_of(ROOT_MADE, insn->address, 65);
		rsp->disp -= 8;
		store(values, rsp, &value);
		return true;
	case X86_INS_LEAVE:
		*rsp = values->regs[X86_RBP];
		reg = X86_RBP;
		break;
	case X86_INS_POP:
		break;
	default:
		return false;
	}
	value = load(values, rsp);
	rsp->disp += 8;
	if (reg >= X86_RIP)
		return false;
	values->regs[reg] = value;
	return true;
}

/* xor of a register with itself. */
static bool step_zero(struct values *values, const struct cs_insn *insn)
{
	uint8_t reg = pattern_register(insn, 0);

	if (reg >= X86_RIP || pattern_register(insn, 1) != reg ||
	    insn->detail->x86.operands[0].size < 4)
		return false;
	values->regs[reg] = (struct value){ 0, 0 };
	return true;
}

static bool step_known(struct values *values, const struct cs_insn *insn,
		       const struct insn_access *access)
{
	switch (insn->id) {
	case X86_INS_MOV:
	case X86_INS_MOVABS:
		return step_move(values, insn, access);
	case X86_INS_LEA:
		return step_lea(values, insn);
	case X86_INS_ADD:
	case X86_INS_SUB:
		return step_sum(values, insn);
	case X86_INS_XOR:
		return step_zero(values, insn);
	default:
		return step_stack(values, insn);
	}
}

void values_step(struct values *values, const struct decoder *decoder,
		 const struct cs_insn *insn, const struct insn_access *access)
{
	if (access->flow == X86_FLOW_CALL) {
		make_all(values, insn->address, caller_saved);
		return;
	}
	if (step_known(values, insn, access))
		return;
	for (unsigned int i = 0; i < access->operand_count; i++) {
		const struct mem_operand *operand = &access->operands[i];
		struct value at =
			values_address(values, operand, pattern_next(insn));
		struct value value = value_of(ROOT_MADE, insn->address, 66 + i);

		if (operand->kind & ACCESS_WRITE)
			store(values, &at, &value);
	}
	make_all(values, insn->address, decode_insn_written(decoder, insn));
}

static bool merge_value(struct value *into, const struct value *from,
			uint64_t address, uint64_t what)
{
	struct value met = value_of(ROOT_MET, address, what);

	if (values_equal(into, from) || values_equal(into, &met))
		return false;
	*into = met;
	return true;
}

static bool merge_cells(struct values *into, const struct values *from,
			uint64_t address)
{
	bool changed = false;

	for (unsigned int i = 0; i < from->cell_count; i++) {
		struct value at = from->cells[i].at;
		struct value old = load(into, &at);
		struct value value = old;

		if (!merge_value(&value, &from->cells[i].value, address,
				 mix(at.root, (uint64_t)at.disp)))
			continue;
		store(into, &at, &value);
		changed = true;
	}
	for (unsigned int i = 0; i < into->cell_count; i++) {
		struct cell *cell = &into->cells[i];
		struct value other = load(from, &cell->at);
		uint64_t what = mix(cell->at.root, (uint64_t)cell->at.disp);

		if (merge_value(&cell->value, &other, address, what))
			changed = true;
	}
	return changed;
}

static bool holds(const struct values *values, const struct value *lock)
{
	for (unsigned int i = 0; i < values->lock_count; i++) {
		if (values_equal(&values->locks[i], lock))
			return true;
	}
	return false;
}

bool values_merge(struct values *into, const struct values *from,
		  uint64_t address)
{
	bool changed = from->overflow && !into->overflow;
	unsigned int kept = 0;

	into->overflow |= from->overflow;
	for (unsigned int i = 0; i < 16; i++)
		changed = merge_value(&into->regs[i], &from->regs[i], address,
				      i) ||
			  changed;
	changed = merge_cells(into, from, address) || changed;
	for (unsigned int i = 0; i < into->lock_count; i++) {
		if (holds(from, &into->locks[i]))
			into->locks[kept++] = into->locks[i];
	}
	changed = changed || kept != into->lock_count;
	into->lock_count = kept;
	return changed;
}
