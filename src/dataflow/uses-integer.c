/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Instructions on general registers, executed on numbers that may not be known;
 * see uses-parts.h.
 */
#include "dataflow/uses-step.h"

#include <string.h>

static unsigned int condition(const cs_x86 *x86)
{
	return (x86->opcode[0] == 0x0f ? x86->opcode[1] : x86->opcode[0]) & 15;
}

static enum tri decide(struct uses_run *run, enum tri tri)
{
	if (tri <= TRI_YES && run->state.flags.asked)
		run->state.examined = true;
	return tri;
}

/* Of a sum: both have one sign and it has the other. */
static enum tri overflow_of(const struct number *a, const struct number *b,
			    const struct number *result, unsigned int bytes)
{
	unsigned int top = 8 * bytes - 1;
	enum tri x = number_bit(a, top), y = number_bit(b, top);
	struct number both =
		number_of_bits(0, a->asked | b->asked, a->unknown | b->unknown);
	struct number cut = number_cut(result, bytes);
	enum tri z = number_bit(&cut, top);

	if (a->high >> top == 0)
		x = TRI_NO;
	if (x > TRI_YES || y > TRI_YES)
		return number_tri(&both);
	if (x != y)
		return TRI_NO;
	return z > TRI_YES ? number_tri(&both) : tri_xor(x, z);
}

static void step_sum(const struct step *step)
{
	struct flags *flags = &step->run->state.flags;
	bool counts = step->id == X86_INS_INC || step->id == X86_INS_DEC;
	bool adds = step->id == X86_INS_ADD || step->id == X86_INS_INC;
	struct number a = step_get(step, 0);
	struct number b = counts ? number_known(1) : step_get(step, 1);
	enum tri carry = flags->carry;
	struct number result, minus;

	if (adds) {
		enum tri open;

		minus = number_known(0);
		minus = number_sub(&minus, &b, step->size);
		result = number_add(&a, &b, step->size);
		flags_compare(flags, &a, &minus, step->size);
		/* a + b is zero where a is -b; it carries where a >= -b */
		open = number_is_zero(&b) == TRI_YES ? TRI_NO
						     : tri_not(flags->carry);
		if (!counts)
			carry = open;
		open = flags->zero;
		flags_result(flags, &result, step->size, carry,
			     overflow_of(&a, &b, &result, step->size));
		flags->asked |= (a.asked | b.asked) != 0;
		flags->zero = (uint8_t)open;
	} else {
		result = number_sub(&a, &b, step->size);
		if (step_same_registers(step) && !counts) {
			result = number_known(0);
			a = b = result;
		}
		flags_compare(flags, &a, &b, step->size);
		if (counts) {
			flags->carry = (uint8_t)carry;
			flags->compared = false;
		}
	}
	step_set(step, 0, &result);
}

static void step_logic(const struct step *step)
{
	struct number a = step_get(step, 0), b = step_get(step, 1), result;
	struct flags *flags = &step->run->state.flags;

	switch (step->id) {
	case X86_INS_OR:
		result = number_or(&a, &b);
		break;
	case X86_INS_XOR:
		result = step_same_registers(step) ? number_known(0)
						   : number_xor(&a, &b);
		break;
	default:
		result = number_and(&a, &b);
		break;
	}
	flags_logic(flags, &result, step->size);
	if (step->id == X86_INS_XOR && !step_same_registers(step)) {
		struct flags equal;

		flags_compare(&equal, &a, &b, step->size);
		flags->zero = equal.zero;
	}
	if (!step_same_registers(step) || step->id != X86_INS_XOR)
		flags->asked |= (a.asked | b.asked) != 0;
	if (step->id != X86_INS_TEST) {
		step_set(step, 0, &result);
	} else if (step_same_registers(step) && step->size >= 4) {
		flags->zero_reg = decode_register(step->x86->operands[0].reg);
		flags->if_zero = number_known(0);
	}
}

static void step_compare(const struct step *step)
{
	struct number a = step_get(step, 0), b = step_get(step, 1);

	flags_compare(&step->run->state.flags, &a, &b, step->size);
}

/* lea, mov, movzx, movsx and what else only puts a value somewhere. */
static void step_move(const struct step *step)
{
	const cs_x86_op *from = &step->x86->operands[1];
	struct step wide = *step;
	struct number number;

	switch (step->id) {
	case X86_INS_LEA: {
		struct mem_operand operand = {
			.base = decode_register(from->mem.base),
			.index = decode_register(from->mem.index),
			.scale = (uint8_t)from->mem.scale,
			.disp = from->mem.disp,
			.bit_reg = X86_REG_NONE,
		};

		if (from->mem.base == X86_REG_RIP)
			operand.base = X86_RIP;
		number = uses_address(step->run, step->access, &operand);
		break;
	}
	case X86_INS_MOVSX:
	case X86_INS_MOVSXD:
		number = step_get(step, 1);
		number = number_extend(&number, from->size, step->size);
		break;
	default:
		wide.size = 8;
		number = step_get(&wide, 1);
		break;
	}
	step_set(step, 0, &number);
}

static void step_unary(const struct step *step)
{
	struct number a = step_get(step, 0), zero = number_known(0), result;
	struct flags *flags = &step->run->state.flags;

	switch (step->id) {
	case X86_INS_NOT:
		result = number_not(&a, step->size);
		break;
	case X86_INS_NEG:
		result = number_sub(&zero, &a, step->size);
		flags_compare(flags, &zero, &a, step->size);
		break;
	default: { /* bswap */
		uint64_t parts[3] = { a.value, a.asked, a.unknown };

		for (int i = 0; i < 3; i++)
			parts[i] = __builtin_bswap64(parts[i]) >>
				   (64 - 8 * step->size);
		result = number_of_bits(parts[0], parts[1], parts[2]);
		break;
	}
	}
	step_set(step, 0, &result);
}

static void step_select(const struct step *step)
{
	enum tri yes =
		decide(step->run, flags_condition(&step->run->state.flags,
						  condition(step->x86)));
	struct number a = step_get(step, 1), b = step_get(step, 0), result;

	if (step->run->first && yes == TRI_NO)
		uses_give_up(step->run);
	result = number_either(&a, &b, yes);
	step_set(step, 0, &result);
}

static void step_setcc(const struct step *step)
{
	enum tri yes =
		decide(step->run, flags_condition(&step->run->state.flags,
						  condition(step->x86)));
	struct number one = number_known(1), zero = number_known(0);
	struct number result = number_either(&one, &zero, yes);

	step_set(step, 0, &result);
}

/* With the carry: sbb of a register and itself is common. */
static void step_carry(const struct step *step)
{
	struct flags *flags = &step->run->state.flags;
	struct number one = number_known(1), zero = number_known(0);
	enum tri carry = flags->carry;
	struct number a = step_get(step, 0), b = step_get(step, 1);
	struct number more = number_either(&one, &zero, carry), result;
	struct number minus = number_known(number_mask(step->size));

	if (step->id == X86_INS_SBB && step_same_registers(step)) {
		result = number_either(&minus, &zero, carry);
		flags_result(flags, &result, step->size, carry, TRI_NO);
		step_set(step, 0, &result);
		return;
	}
	b = number_add(&b, &more, step->size);
	result = step->id == X86_INS_SBB ? number_sub(&a, &b, step->size)
					 : number_add(&a, &b, step->size);
	a = number_or(&a, &b);
	flags_result(flags, &result, step->size,
		     number_is_known(&result) ? TRI_UNKNOWN
					      : number_tri(&result),
		     TRI_UNKNOWN);
	step_set(step, 0, &result);
}

static void step_exchange(const struct step *step)
{
	struct number a = step_get(step, 0), b = step_get(step, 1);

	step_set(step, 0, &b);
	step_set(step, 1, &a);
}

static void step_multiply(const struct step *step)
{
	int last = step->x86->op_count - 1;
	struct number a = step_get(step, last > 1 ? last - 1 : 0);
	struct number b = step_get(step, last), result;

	if (last == 0) {
		uses_give_up(step->run);
		return;
	}
	result = number_known(a.value * b.value);
	if (!number_is_known(&a) || !number_is_known(&b))
		result = number_lost(step->size, (a.asked | b.asked) != 0,
				     (a.unknown | b.unknown) != 0);
	step_set(step, 0, &result);
	flags_result(&step->run->state.flags, &result, step->size,
		     number_tri(&result), number_tri(&result));
}

static void step_widen(const struct step *step)
{
	struct uses_run *run = step->run;
	struct number a = run->state.gpr[X86_RAX], result;
	unsigned int to = step->id == X86_INS_CDQE || step->id == X86_INS_CQO
				  ? 8
			  : step->id == X86_INS_CBW ? 2
						    : 4;

	if (step->id == X86_INS_CDQ || step->id == X86_INS_CQO) {
		result = number_sar(&a, 8 * to - 1, to);
		uses_set_gpr(run, X86_RDX, &result, to);
		return;
	}
	result = number_extend(&a, to / 2, to);
	uses_set_gpr(run, X86_RAX, &result, to);
}

static void step_stack(const struct step *step)
{
	struct number *rsp = &step->run->state.gpr[X86_RSP];
	struct number eight = number_known(8), number;

	if (step->id == X86_INS_PUSH) {
		number = step_get(step, 0);
		*rsp = number_sub(rsp, &eight, 8);
		uses_store_number(step->run, rsp, &number, 8);
		return;
	}
	number = uses_load_number(step->run, rsp, 8);
	*rsp = number_add(rsp, &eight, 8);
	step_set(step, 0, &number);
}

struct meaning {
	unsigned int id;
	void (*step)(const struct step *step);
};

static const struct meaning meanings[] = {
	{ X86_INS_ADD, step_sum },	 { X86_INS_SUB, step_sum },
	{ X86_INS_INC, step_sum },	 { X86_INS_DEC, step_sum },
	{ X86_INS_AND, step_logic },	 { X86_INS_OR, step_logic },
	{ X86_INS_XOR, step_logic },	 { X86_INS_TEST, step_logic },
	{ X86_INS_CMP, step_compare },	 { X86_INS_MOV, step_move },
	{ X86_INS_MOVABS, step_move },	 { X86_INS_MOVZX, step_move },
	{ X86_INS_MOVSX, step_move },	 { X86_INS_MOVSXD, step_move },
	{ X86_INS_LEA, step_move },	 { X86_INS_SHL, step_shift },
	{ X86_INS_SAL, step_shift },	 { X86_INS_SHR, step_shift },
	{ X86_INS_SAR, step_shift },	 { X86_INS_SHLX, step_shift },
	{ X86_INS_SHRX, step_shift },	 { X86_INS_SARX, step_shift },
	{ X86_INS_ROL, step_shift },	 { X86_INS_ROR, step_shift },
	{ X86_INS_TZCNT, step_scan },	 { X86_INS_LZCNT, step_scan },
	{ X86_INS_BSF, step_scan },	 { X86_INS_BSR, step_scan },
	{ X86_INS_BLSR, step_lowest },	 { X86_INS_BLSMSK, step_lowest },
	{ X86_INS_BLSI, step_lowest },	 { X86_INS_ANDN, step_bits },
	{ X86_INS_BZHI, step_bits },	 { X86_INS_BT, step_bit_test },
	{ X86_INS_BTS, step_bit_test },	 { X86_INS_BTR, step_bit_test },
	{ X86_INS_BTC, step_bit_test },	 { X86_INS_NOT, step_unary },
	{ X86_INS_NEG, step_unary },	 { X86_INS_BSWAP, step_unary },
	{ X86_INS_SBB, step_carry },	 { X86_INS_ADC, step_carry },
	{ X86_INS_XCHG, step_exchange }, { X86_INS_IMUL, step_multiply },
	{ X86_INS_CDQE, step_widen },	 { X86_INS_CWDE, step_widen },
	{ X86_INS_CBW, step_widen },	 { X86_INS_CDQ, step_widen },
	{ X86_INS_CQO, step_widen },	 { X86_INS_PUSH, step_stack },
	{ X86_INS_POP, step_stack },
};

static void step_movbe(const struct step *step)
{
	struct number number = step_get(step, 1);
	unsigned int shift = 64 - 8 * step->size;

	number = number_of_bits(__builtin_bswap64(number.value) >> shift,
				__builtin_bswap64(number.asked) >> shift,
				__builtin_bswap64(number.unknown) >> shift);
	step_set(step, 0, &number);
}

static bool step_nothing(unsigned int id)
{
	return id == X86_INS_NOP || id == X86_INS_ENDBR64 ||
	       id == X86_INS_PAUSE || id == X86_INS_LFENCE ||
	       id == X86_INS_SFENCE || id == X86_INS_PREFETCHT0 ||
	       id == X86_INS_PREFETCHT1 || id == X86_INS_PREFETCHNTA;
}

/* An element of one side, the one in question or another. */
static struct number string_element(struct uses_run *run,
				    const struct mem_operand *operand,
				    uint64_t address)
{
	const struct uses_question *question = run->question;
	struct number at = number_known(address), number = number_known(0);
	uint64_t offset = address - question->access.address;
	uint64_t asked = 0;

	if (offset < question->access.size &&
	    question->access.size - offset >= operand->size) {
		memcpy(&number.value, question->bytes + offset, operand->size);
		for (unsigned int i = 0; i < operand->size; i++) {
			if (question->asked >> (offset + i) & 1)
				asked |= UINT64_C(0xff) << (8 * i);
		}
		return number_of_bits(number.value, asked, 0);
	}
	run->first = false;
	number = uses_load_number(run, &at, operand->size);
	run->first = true;
	return number;
}

/*
 * scas and cmps with repe or repne, not yet executed. They end at an element that
 * is equal (repne), or at one that is not.
 */
static bool uses_repeated(struct uses_run *run,
			  const struct insn_access *access)
{
	const struct mem_operand *operands = access->operands;
	struct uses_state *state = &run->state;
	bool down = run->thread->regs->rflags >> 10 & 1;
	uint64_t step = operands[0].size,
		 left = run->thread->regs->gpr[X86_RCX];
	enum tri ends = TRI_NO;

	if (!run->first || run->question->done || operands[0].addr32 ||
	    (access->rep != X86_REPE && access->rep != X86_REPNE))
		return false;
	step = down ? -step : step;
	for (unsigned int i = 0; i < X86_ACCESS_MAX && left > 0; i++, left--) {
		struct number a = state->gpr[X86_RAX], b;

		b = string_element(run, &operands[0],
				   state->gpr[operands[0].base].value +
					   i * step);
		if (access->operand_count == 2)
			a = string_element(run, &operands[1],
					   state->gpr[operands[1].base].value +
						   i * step);
		flags_compare(&state->flags, &a, &b, operands[0].size);
		ends = state->flags.zero;
		if (access->rep == X86_REPE)
			ends = tri_not(ends);
		if (ends != TRI_NO)
			break;
	}
	if (ends == TRI_ASKED || flags_have_asked(&state->flags))
		uses_end(run, USES_SOME);
	else if (ends == TRI_YES || left == 0)
		uses_end(run, USES_NONE);
	else
		uses_give_up(run);
	return true;
}

bool uses_integer(struct uses_run *run, const struct cs_insn *insn,
		  const struct insn_access *access)
{
	struct step step = {
		.run = run,
		.x86 = &insn->detail->x86,
		.access = access,
		.id = insn->id,
	};

	if (step_nothing(step.id))
		return true;
	if (access->rep != X86_REP_NONE)
		return access->operands[0].string && uses_repeated(run, access);
	if (access->synchronizes)
		return false;
	if (step.x86->op_count > 0)
		step.size = step.x86->operands[0].size;
	if (step.size > 8)
		return false;
	for (size_t i = 0; i < sizeof(meanings) / sizeof(meanings[0]); i++) {
		if (meanings[i].id == step.id) {
			meanings[i].step(&step);
			return true;
		}
	}
	if (step.id == X86_INS_MOVBE)
		step_movbe(&step);
	else if (step.x86->opcode[0] == 0x0f && step.x86->opcode[1] >> 4 == 4)
		step_select(&step);
	else if (step.x86->opcode[0] == 0x0f && step.x86->opcode[1] >> 4 == 9)
		step_setcc(&step);
	else
		return false;
	return true;
}
