/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Flags that may not be known, and the conditions made of them; see
 * uses-parts.h.
 */
#include "dataflow/uses-number.h"

enum tri tri_not(enum tri a)
{
	if (a == TRI_NO)
		return TRI_YES;
	return a == TRI_YES ? TRI_NO : a;
}

/* Neither is known: what the two are together. */
static enum tri tri_open(enum tri a, enum tri b)
{
	if (a <= TRI_YES)
		return b;
	if (b <= TRI_YES || a == b)
		return a;
	return TRI_VAGUE;
}

static enum tri tri_or(enum tri a, enum tri b)
{
	if (a == TRI_YES || b == TRI_YES)
		return TRI_YES;
	if (a == TRI_NO && b == TRI_NO)
		return TRI_NO;
	return tri_open(a, b);
}

enum tri tri_xor(enum tri a, enum tri b)
{
	if (a <= TRI_YES && b <= TRI_YES)
		return a == b ? TRI_NO : TRI_YES;
	return tri_open(a, b);
}

static enum tri tri_of(bool yes)
{
	return yes ? TRI_YES : TRI_NO;
}

void flags_read(struct flags *flags, uint64_t rflags)
{
	*flags = (struct flags){
		.zero_reg = X86_REG_NONE,
		.carry = (uint8_t)tri_of(rflags & 1),
		.parity = (uint8_t)tri_of(rflags >> 2 & 1),
		.zero = (uint8_t)tri_of(rflags >> 6 & 1),
		.sign = (uint8_t)tri_of(rflags >> 7 & 1),
		.overflow = (uint8_t)tri_of(rflags >> 11 & 1),
	};
}

/* Neither is known more of two numbers than that they are open. */
static enum tri pair_tri(const struct number *a, const struct number *b)
{
	return number_tri(
		&(struct number){ .asked = a->asked | b->asked,
				  .unknown = a->unknown | b->unknown });
}

static enum tri is_below(const struct number *a, const struct number *b)
{
	if (a->high < b->low)
		return TRI_YES;
	if (a->low >= b->high)
		return TRI_NO;
	return pair_tri(a, b);
}

static enum tri is_equal(const struct number *a, const struct number *b)
{
	uint64_t both = ~(a->asked | a->unknown | b->asked | b->unknown);

	if (((a->value ^ b->value) & both) != 0 || a->high < b->low ||
	    b->high < a->low)
		return TRI_NO;
	if (number_is_known(a) && number_is_known(b))
		return TRI_YES;
	return pair_tri(a, b);
}

/* Signed numbers in the order of unsigned ones; false if it may cross zero. */
static bool number_signed(const struct number *a, unsigned int bytes,
			  struct number *ret)
{
	uint64_t top = UINT64_C(1) << (8 * bytes - 1);

	if ((a->low & top) != (a->high & top))
		return false;
	*ret = *a;
	ret->low ^= top;
	ret->high ^= top;
	return true;
}

static enum tri is_less(const struct flags *flags)
{
	struct number a, b;

	if (!number_signed(&flags->a, flags->size, &a) ||
	    !number_signed(&flags->b, flags->size, &b))
		return pair_tri(&flags->a, &flags->b);
	return is_below(&a, &b);
}

void flags_compare(struct flags *flags, const struct number *a,
		   const struct number *b, unsigned int bytes)
{
	struct number x = number_cut(a, bytes), y = number_cut(b, bytes);
	struct number less = number_sub(&x, &y, bytes);
	enum tri sign = number_bit(&less, 8 * bytes - 1);

	*flags = (struct flags){
		.zero_reg = X86_REG_NONE,
		.compared = true,
		.asked = (x.asked | y.asked) != 0,
		.a = x,
		.b = y,
		.size = bytes,
		.sign = (uint8_t)sign,
		.zero = (uint8_t)is_equal(&x, &y),
		.carry = (uint8_t)is_below(&x, &y),
	};
	/* less is sign != overflow */
	flags->overflow = (uint8_t)tri_xor(sign, is_less(flags));
	flags->parity = (uint8_t)(number_is_known(&less)
					  ? tri_of(!__builtin_parity(
						    (uint8_t)less.value))
					  : number_tri(&less));
}

void flags_result(struct flags *flags, const struct number *result,
		  unsigned int bytes, enum tri carry, enum tri overflow)
{
	struct number cut = number_cut(result, bytes);

	*flags = (struct flags){
		.zero_reg = X86_REG_NONE,
		.asked = cut.asked != 0 || carry >= TRI_ASKED ||
			 overflow >= TRI_ASKED,
		.carry = (uint8_t)carry,
		.overflow = (uint8_t)overflow,
		.zero = (uint8_t)number_is_zero(&cut),
		.sign = (uint8_t)number_bit(&cut, 8 * bytes - 1),
		.parity = (uint8_t)(number_is_known(&cut)
					    ? tri_of(!__builtin_parity(
						      (uint8_t)cut.value))
					    : number_tri(&cut)),
	};
}

void flags_logic(struct flags *flags, const struct number *result,
		 unsigned int bytes)
{
	flags_result(flags, result, bytes, TRI_NO, TRI_NO);
}

enum tri flags_condition(const struct flags *flags, unsigned int condition)
{
	enum tri ret = TRI_NO;

	switch (condition & 14) {
	case 0:
		ret = flags->overflow;
		break;
	case 2:
		ret = flags->carry;
		break;
	case 4:
		ret = flags->zero;
		break;
	case 6: /* below or equal: not above */
		ret = flags->compared ? tri_not(is_below(&flags->b, &flags->a))
				      : tri_or(flags->carry, flags->zero);
		break;
	case 8:
		ret = flags->sign;
		break;
	case 10:
		ret = flags->parity;
		break;
	case 12:
		ret = flags->compared ? is_less(flags)
				      : tri_xor(flags->sign, flags->overflow);
		break;
	default: {
		struct flags turned = *flags;

		turned.a = flags->b;
		turned.b = flags->a;
		ret = flags->compared
			      ? tri_not(is_less(&turned))
			      : tri_or(flags->zero,
				       tri_xor(flags->sign, flags->overflow));
		break;
	}
	}
	return condition & 1 ? tri_not(ret) : ret;
}

bool flags_have_asked(const struct flags *flags)
{
	return flags->carry >= TRI_ASKED || flags->zero >= TRI_ASKED ||
	       flags->sign >= TRI_ASKED || flags->overflow >= TRI_ASKED ||
	       flags->parity >= TRI_ASKED;
}
