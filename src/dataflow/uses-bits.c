/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Shifts, scans for the lowest or highest bit and what else is about single
 * bits; see uses-step.h.
 */
#include "dataflow/uses-step.h"

/* Shifts by an amount that must be known. */
void step_shift(const struct step *step)
{
	bool three = step->x86->op_count == 3;
	struct number a = step_get(step, three ? 1 : 0), result;
	struct number by = step->x86->op_count == 1
				   ? number_known(1)
				   : step_get(step, three ? 2 : 1);
	struct flags *flags = &step->run->state.flags;
	unsigned int count = by.value & (step->size == 8 ? 63 : 31);
	enum tri carry = TRI_UNKNOWN;

	if (!number_is_known(&by)) {
		by.asked |= a.asked;
		by.unknown |= a.unknown;
		result =
			number_lost(step->size, by.asked != 0, by.unknown != 0);
		carry = number_tri(&by);
	} else if (step->id == X86_INS_SHL || step->id == X86_INS_SHLX ||
		   step->id == X86_INS_SAL) {
		result = number_shift(&a, (int)count, step->size);
		if (count > 0 && count <= 8 * step->size)
			carry = number_bit(&a, 8 * step->size - count);
	} else if (step->id == X86_INS_SHR || step->id == X86_INS_SHRX) {
		result = number_shift(&a, -(int)count, step->size);
		if (count > 0)
			carry = number_bit(&a, count - 1);
	} else if (step->id == X86_INS_SAR || step->id == X86_INS_SARX) {
		result = number_sar(&a, count, step->size);
		if (count > 0)
			carry = number_bit(&a, count - 1);
	} else {
		result = number_rotate(
			&a, step->id == X86_INS_ROL ? count : -count & 63,
			step->size);
	}
	step_set(step, 0, &result);
	if (three || (number_is_known(&by) && count == 0))
		return;
	flags_result(flags, &result, step->size, carry, number_tri(&a));
	flags->asked |= a.asked != 0;
	if (count == 1 && step->id == X86_INS_SHR)
		flags->overflow = (uint8_t)number_bit(&a, 8 * step->size - 1);
}

/*
 * bsf and bsr of zero leave the register as it is, and the code after them does
 * not look at it.
 */
static struct number scan(const struct step *step, const struct number *a,
			  enum tri none)
{
	uint64_t bits = 8 * (uint64_t)step->size;

	switch (step->id) {
	case X86_INS_TZCNT:
		return number_lowest(a, bits);
	case X86_INS_LZCNT:
		return number_leading(a, bits);
	default:
		if (none == TRI_YES)
			return step_get(step, 0);
		return step->id == X86_INS_BSF ? number_lowest(a, NUMBER_SOME)
					       : number_highest(a);
	}
}

void step_scan(const struct step *step)
{
	bool counts = step->id == X86_INS_TZCNT || step->id == X86_INS_LZCNT;
	struct number a = step_get(step, 1), old, result;
	struct flags *flags = &step->run->state.flags;
	enum tri none = number_is_zero(&a);

	old = step_get(step, 0);
	result = scan(step, &a, none);
	step_set(step, 0, &result);
	flags_result(flags, &result, step->size, counts ? none : TRI_UNKNOWN,
		     number_tri(&a));
	if (!counts) {
		flags->zero = (uint8_t)none;
		flags->zero_reg = decode_register(step->x86->operands[0].reg);
		flags->if_zero = step_same_registers(step) ? number_known(0)
							   : old;
	}
	/* not defined */
	flags->sign = flags->parity = flags->overflow;
	flags->asked |= a.asked != 0;
}

/* The instructions of BMI leave parity undefined: processors differ in it. */
static void lose_parity(struct flags *flags, const struct number *a,
			const struct number *b)
{
	struct number both =
		number_of_bits(0, a->asked | b->asked, a->unknown | b->unknown);

	flags->parity = (uint8_t)number_tri(&both);
}

/* blsr, blsmsk, blsi: of a number and it less one. */
void step_lowest(const struct step *step)
{
	struct number a = step_get(step, 1), one = number_known(1), less,
		      result;

	if (a.origin == 0)
		a.origin = ++step->run->origins;
	less = number_sub(&a, &one, step->size);
	switch (step->id) {
	case X86_INS_BLSR:
		result = number_and(&a, &less);
		break;
	case X86_INS_BLSMSK:
		result = number_xor(&a, &less);
		break;
	default:
		less = number_not(&less, step->size);
		result = number_and(&a, &less);
		break;
	}
	step_set(step, 0, &result);
	flags_result(&step->run->state.flags, &result, step->size,
		     step->id == X86_INS_BLSI ? tri_not(number_is_zero(&a))
					      : number_is_zero(&a),
		     TRI_NO);
	lose_parity(&step->run->state.flags, &a, &a);
}

void step_bits(const struct step *step)
{
	struct number a, b, result;
	struct flags *flags = &step->run->state.flags;
	enum tri carry = TRI_NO;
	uint64_t count;

	if (step->id == X86_INS_ANDN) {
		a = step_get(step, 1);
		a = number_not(&a, step->size);
		b = step_get(step, 2);
		result = number_and(&a, &b);
	} else { /* bzhi */
		a = step_get(step, 1);
		b = step_get(step, 2);
		count = b.value & 255;
		carry = !number_is_known(&b)	  ? number_tri(&b)
			: count >= 8 * step->size ? TRI_YES
						  : TRI_NO;
		if (!number_is_known(&b))
			result = number_lost(step->size,
					     (a.asked | b.asked) != 0,
					     (a.unknown | b.unknown) != 0);
		else if (count >= 8 * step->size)
			result = a;
		else
			result = number_of_bits(
				a.value & ((UINT64_C(1) << count) - 1),
				a.asked & ((UINT64_C(1) << count) - 1),
				a.unknown & ((UINT64_C(1) << count) - 1));
	}
	step_set(step, 0, &result);
	flags_result(flags, &result, step->size, carry, TRI_NO);
	lose_parity(flags, &a, &b);
	flags->asked |= (a.asked | b.asked) != 0;
}

void step_bit_test(const struct step *step)
{
	struct number a = step_get(step, 0), b = step_get(step, 1), mask;
	struct flags *flags = &step->run->state.flags;
	unsigned int bit = b.value & (8 * step->size - 1);

	if (step->x86->operands[0].type == X86_OP_MEM || !number_is_known(&b)) {
		uses_of_number(step->run, &a);
		uses_of_number(step->run, &b);
		uses_give_up(step->run);
		return;
	}
	flags->carry = (uint8_t)number_bit(&a, bit);
	flags->compared = false;
	flags->asked |= a.asked != 0;
	mask = number_known(UINT64_C(1) << bit);
	if (step->id == X86_INS_BTS)
		a = number_or(&a, &mask);
	else if (step->id == X86_INS_BTC)
		a = number_xor(&a, &mask);
	mask = number_not(&mask, 8);
	if (step->id == X86_INS_BTR)
		a = number_and(&a, &mask);
	if (step->id != X86_INS_BT)
		step_set(step, 0, &a);
}
