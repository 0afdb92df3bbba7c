/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Origins of addresses, by what instructions do (Intel SDM volume 2); see
 * origins.h.
 */
#include "dataflow/origins.h"

#include <string.h>

#include "x86/access.h"
#include "x86/decode-capstone.h"
#include "x86/decode-parts.h"

enum { ADDRESS_BYTES = 8 };

/* The instructions that are known, by what they do to their operands. */
enum effect {
	EFFECT_OTHER = 0,
	EFFECT_MOVE, /* first = second */
	EFFECT_LEA, /* first = the address of the second */
	EFFECT_SUM, /* first = first and second */
	EFFECT_CHANGE, /* first = first, changed by a constant */
	EFFECT_VECTOR, /* first = all of the others, or merged with first */
	EFFECT_EXCHANGE,
	EFFECT_ADD_EXCHANGE,
	EFFECT_COMPARE_EXCHANGE,
	EFFECT_PUSH,
	EFFECT_POP,
	EFFECT_LEAVE,
	EFFECT_CALL,
	EFFECT_COPY, /* movs */
	EFFECT_FILL, /* stos */
	EFFECT_FETCH, /* lods */
};

static enum effect effect_of(unsigned int id)
{
	switch (id) {
	case X86_INS_MOV:
	case X86_INS_MOVABS:
	case X86_INS_MOVNTI:
		return EFFECT_MOVE;
	case X86_INS_LEA:
		return EFFECT_LEA;
	case X86_INS_ADD:
	case X86_INS_SUB:
	case X86_INS_AND:
	case X86_INS_OR:
	case X86_INS_XOR:
		return EFFECT_SUM;
	case X86_INS_INC:
	case X86_INS_DEC:
		return EFFECT_CHANGE;
	case X86_INS_XCHG:
		return EFFECT_EXCHANGE;
	case X86_INS_XADD:
		return EFFECT_ADD_EXCHANGE;
	case X86_INS_CMPXCHG:
		return EFFECT_COMPARE_EXCHANGE;
	case X86_INS_PUSH:
		return EFFECT_PUSH;
	case X86_INS_POP:
		return EFFECT_POP;
	case X86_INS_LEAVE:
		return EFFECT_LEAVE;
	case X86_INS_CALL:
		return EFFECT_CALL;
	case X86_INS_MOVSQ:
		return EFFECT_COPY;
	case X86_INS_STOSQ:
		return EFFECT_FILL;
	case X86_INS_LODSQ:
		return EFFECT_FETCH;
	default:
		return EFFECT_OTHER;
	}
}

/* Moves of whole vectors: each byte of them stays at its place. */
static bool moves_in_place(unsigned int id)
{
	switch (id) {
	case X86_INS_MOVAPS:
	case X86_INS_MOVAPD:
	case X86_INS_MOVUPS:
	case X86_INS_MOVUPD:
	case X86_INS_MOVDQA:
	case X86_INS_MOVDQU:
	case X86_INS_LDDQU:
	case X86_INS_MOVNTDQ:
	case X86_INS_MOVNTPS:
	case X86_INS_MOVNTPD:
	case X86_INS_VMOVAPS:
	case X86_INS_VMOVAPD:
	case X86_INS_VMOVUPS:
	case X86_INS_VMOVUPD:
	case X86_INS_VMOVDQA:
	case X86_INS_VMOVDQU:
	case X86_INS_VLDDQU:
	case X86_INS_VMOVNTDQ:
		return true;
	default:
		return false;
	}
}

/* Other moves of 8 bytes or more from, to and within vector registers. */
static bool moves_vector(unsigned int id)
{
	switch (id) {
	case X86_INS_MOVQ:
	case X86_INS_VMOVQ:
	case X86_INS_MOVSD:
	case X86_INS_VMOVSD:
	case X86_INS_MOVLPS:
	case X86_INS_MOVLPD:
	case X86_INS_MOVHPS:
	case X86_INS_MOVHPD:
	case X86_INS_VMOVLPS:
	case X86_INS_VMOVLPD:
	case X86_INS_VMOVHPS:
	case X86_INS_VMOVHPD:
	case X86_INS_MOVLHPS:
	case X86_INS_MOVHLPS:
	case X86_INS_VMOVLHPS:
	case X86_INS_VMOVHLPS:
	case X86_INS_MOVDDUP:
	case X86_INS_VMOVDDUP:
	case X86_INS_PUNPCKLQDQ:
	case X86_INS_PUNPCKHQDQ:
	case X86_INS_VPUNPCKLQDQ:
	case X86_INS_VPUNPCKHQDQ:
	case X86_INS_UNPCKLPD:
	case X86_INS_UNPCKHPD:
	case X86_INS_VUNPCKLPD:
	case X86_INS_VUNPCKHPD:
	case X86_INS_SHUFPD:
	case X86_INS_VSHUFPD:
	case X86_INS_PSHUFD:
	case X86_INS_VPSHUFD:
	case X86_INS_PINSRQ:
	case X86_INS_VPINSRQ:
	case X86_INS_PEXTRQ:
	case X86_INS_VPEXTRQ:
	case X86_INS_VINSERTF128:
	case X86_INS_VINSERTI128:
	case X86_INS_VEXTRACTF128:
	case X86_INS_VEXTRACTI128:
	case X86_INS_VPBROADCASTQ:
		return true;
	default:
		return false;
	}
}

static const cs_x86_op *operand(const struct cs_insn *insn, unsigned int i)
{
	return i < insn->detail->x86.op_count ? &insn->detail->x86.operands[i]
					      : NULL;
}

static uint64_t vector_bit(unsigned int reg)
{
	static const unsigned int first[] = { X86_REG_XMM0, X86_REG_YMM0,
					      X86_REG_ZMM0 };

	for (size_t i = 0; i < sizeof(first) / sizeof(*first); i++) {
		if (reg >= first[i] && reg < first[i] + 32)
			return UINT64_C(1)
			       << (ORIGINS_VECTORS + reg - first[i]);
	}
	return 0;
}

static uint64_t register_bit(unsigned int reg)
{
	uint8_t number = decode_register(reg);

	return number < X86_RIP ? UINT64_C(1) << number : vector_bit(reg);
}

static bool is_memory(const cs_x86_op *op)
{
	return op && op->type == X86_OP_MEM;
}

static bool is_register(const cs_x86_op *op)
{
	return op && op->type == X86_OP_REG;
}

/* Registers whose values the operand has or, in memory, none. */
static uint64_t value_of(const cs_x86_op *op)
{
	return is_register(op) ? register_bit(op->reg) : 0;
}

static uint64_t address_of(const cs_x86_op *op)
{
	return is_memory(op) ? register_bit(op->mem.base) |
				       register_bit(op->mem.index)
			     : 0;
}

static void add(struct origins *ret, struct origins_result result)
{
	if (result.to || result.stored)
		ret->results[ret->count++] = result;
}

/* A result that goes to an operand. */
static struct origins_result result_to(const cs_x86_op *to)
{
	return (struct origins_result){ .to = value_of(to),
					.stored = is_memory(to) };
}

/* The memory operand is read, or written, or both: of the two at most one is. */
static void set_addresses(const struct cs_insn *insn, struct origins *ret)
{
	for (unsigned int i = 0; i < insn->detail->x86.op_count; i++) {
		const cs_x86_op *op = operand(insn, i);

		ret->read_at |= address_of(op);
		ret->written_at |= address_of(op);
	}
}

static void find_move(const struct cs_insn *insn, struct origins *ret)
{
	struct origins_result result = result_to(operand(insn, 0));

	result.from = value_of(operand(insn, 1));
	result.loaded = is_memory(operand(insn, 1));
	add(ret, result);
}

static void find_sum(const struct cs_insn *insn, struct origins *ret)
{
	const cs_x86_op *to = operand(insn, 0), *by = operand(insn, 1);
	struct origins_result result = result_to(to);

	/* a zero */
	if (is_register(to) && is_register(by) && to->reg == by->reg &&
	    (insn->id == X86_INS_XOR || insn->id == X86_INS_SUB))
		return;
	result.from = value_of(to) | value_of(by);
	result.loaded = is_memory(to) || is_memory(by);
	add(ret, result);
}

static void find_lea(const struct cs_insn *insn, struct origins *ret)
{
	struct origins_result result = result_to(operand(insn, 0));

	result.from = address_of(operand(insn, 1));
	add(ret, result);
}

static void find_exchange(const struct cs_insn *insn, struct origins *ret)
{
	for (unsigned int i = 0; i < 2; i++) {
		struct origins_result result = result_to(operand(insn, i));
		const cs_x86_op *from = operand(insn, 1 - i);

		result.from = value_of(from);
		result.loaded = is_memory(from);
		add(ret, result);
	}
}

static void find_add_exchange(const struct cs_insn *insn, struct origins *ret)
{
	const cs_x86_op *sum = operand(insn, 0), *old = operand(insn, 1);
	struct origins_result result = result_to(old);

	result.from = value_of(sum);
	result.loaded = is_memory(sum);
	add(ret, result);
	result = result_to(sum);
	result.from = value_of(sum) | value_of(old);
	result.loaded = is_memory(sum);
	add(ret, result);
}

/* rax has what was there, whether it was as expected or not. */
static void find_compare_exchange(const struct cs_insn *insn,
				  struct origins *ret)
{
	const uint64_t rax = UINT64_C(1) << X86_RAX;

	ret->written |= rax | value_of(operand(insn, 0));
	if (!is_memory(operand(insn, 0)))
		return;
	add(ret, (struct origins_result){ .to = rax, .loaded = true });
	add(ret, (struct origins_result){ .stored = true,
					  .from = value_of(operand(insn, 1)) });
}

static void find_stack(const struct cs_insn *insn, enum effect effect,
		       struct origins *ret)
{
	const cs_x86_op *op = operand(insn, 0);
	const uint64_t rsp = UINT64_C(1) << X86_RSP;
	const uint64_t rbp = UINT64_C(1) << X86_RBP;

	if (effect == EFFECT_PUSH) {
		ret->written_at = rsp;
		add(ret, (struct origins_result){ .stored = true,
						  .from = value_of(op),
						  .loaded = is_memory(op) });
	} else if (effect == EFFECT_POP) {
		struct origins_result result = result_to(op);

		ret->read_at = rsp;
		result.loaded = true;
		add(ret, result);
	} else {
		ret->read_at = rbp;
		add(ret, (struct origins_result){ .to = rbp, .loaded = true });
	}
}

/* String instructions: rsi and rdi go on by constants. */
static void find_string(enum effect effect, struct origins *ret)
{
	const uint64_t rax = UINT64_C(1) << X86_RAX;
	const uint64_t rsi = UINT64_C(1) << X86_RSI;
	const uint64_t rdi = UINT64_C(1) << X86_RDI;

	ret->read_at = effect == EFFECT_FILL ? 0 : rsi;
	ret->written_at = effect == EFFECT_FETCH ? 0 : rdi;
	if (effect == EFFECT_FETCH)
		add(ret, (struct origins_result){ .to = rax, .loaded = true });
	else
		add(ret, (struct origins_result){
				 .stored = true,
				 .from = effect == EFFECT_FILL ? rax : 0,
				 .loaded = effect == EFFECT_COPY });
	if (ret->read_at)
		add(ret, (struct origins_result){ .to = rsi, .from = rsi });
	if (ret->written_at)
		add(ret, (struct origins_result){ .to = rdi, .from = rdi });
}

/* Does the first operand keep a part of what it had? */
static bool merges(const struct cs_insn *insn)
{
	switch (insn->id) {
	case X86_INS_MOVQ:
	case X86_INS_MOVDDUP:
	case X86_INS_MOVAPS:
	case X86_INS_MOVAPD:
	case X86_INS_MOVUPS:
	case X86_INS_MOVUPD:
	case X86_INS_MOVDQA:
	case X86_INS_MOVDQU:
	case X86_INS_LDDQU:
	case X86_INS_PSHUFD:
	case X86_INS_PEXTRQ:
		return false;
	case X86_INS_MOVSD:
		return is_register(operand(insn, 0)) &&
		       is_register(operand(insn, 1));
	default:
		/* with VEX, what is kept is an operand of its own */
		return strncmp(insn->mnemonic, "v", 1) != 0;
	}
}

static void find_vector(const struct cs_insn *insn, struct origins *ret)
{
	struct origins_result result = result_to(operand(insn, 0));

	for (unsigned int i = merges(insn) ? 0 : 1;
	     i < insn->detail->x86.op_count; i++) {
		result.from |= value_of(operand(insn, i));
		result.loaded |= i > 0 && is_memory(operand(insn, i));
	}
	result.in_place = moves_in_place(insn->id);
	add(ret, result);
}

static void find_call(const struct cs_insn *insn, struct origins *ret)
{
	ret->read_at = address_of(operand(insn, 0));
	ret->written_at = UINT64_C(1) << X86_RSP;
}

/* Only results of 8 bytes or more are addresses. */
static bool is_wide(const struct cs_insn *insn)
{
	const cs_x86_op *op = operand(insn, 0);

	return !op || op->type == X86_OP_IMM || op->size >= ADDRESS_BYTES;
}

static void find_results(const struct cs_insn *insn, struct origins *ret)
{
	enum effect effect = effect_of(insn->id);

	/* movsd is of strings, too, and of 4 bytes then */
	if (!is_wide(insn))
		return;
	if (moves_in_place(insn->id) || moves_vector(insn->id))
		effect = EFFECT_VECTOR;
	switch (effect) {
	case EFFECT_MOVE:
		find_move(insn, ret);
		break;
	case EFFECT_LEA:
		find_lea(insn, ret);
		break;
	case EFFECT_SUM:
	case EFFECT_CHANGE:
		find_sum(insn, ret);
		break;
	case EFFECT_VECTOR:
		find_vector(insn, ret);
		break;
	case EFFECT_EXCHANGE:
		find_exchange(insn, ret);
		break;
	case EFFECT_ADD_EXCHANGE:
		find_add_exchange(insn, ret);
		break;
	case EFFECT_COMPARE_EXCHANGE:
		find_compare_exchange(insn, ret);
		break;
	case EFFECT_PUSH:
	case EFFECT_POP:
	case EFFECT_LEAVE:
		find_stack(insn, effect, ret);
		break;
	case EFFECT_COPY:
	case EFFECT_FILL:
	case EFFECT_FETCH:
		find_string(effect, ret);
		break;
	case EFFECT_CALL:
		find_call(insn, ret);
		break;
	case EFFECT_OTHER:
	default:
		break;
	}
}

/* What Capstone says that is written, and what it leaves out. */
static uint64_t written_by(const struct decoder *decoder,
			   const struct cs_insn *insn)
{
	uint64_t written = decode_insn_written(decoder, insn);
	const cs_x86_op *first = operand(insn, 0);

	if (insn->id == X86_INS_CMPXCHG || insn->id == X86_INS_SYSCALL)
		written |= UINT64_C(1) << X86_RAX;
	if (insn->id == X86_INS_SYSCALL)
		written |= UINT64_C(1) << X86_RCX | UINT64_C(1) << X86_R11;
	/* a comparison writes nothing: to count its operand only loses a value */
	if (is_register(first))
		written |= vector_bit(first->reg);
	return written;
}

void origins_find(struct decoder *decoder, const uint8_t *bytes, size_t size,
		  uint64_t address, struct origins *ret)
{
	const struct cs_insn *insn = decoder->insn;

	memset(ret, 0, sizeof(*ret));
	if (!cs_disasm_iter(decoder->capstone, &bytes, &size, &address,
			    decoder->insn)) {
		ret->written = UINT64_MAX;
		return;
	}
	ret->written = written_by(decoder, insn);
	set_addresses(insn, ret);
	find_results(insn, ret);
	for (unsigned int i = 0; i < ret->count; i++)
		ret->written |= ret->results[i].to;
}
