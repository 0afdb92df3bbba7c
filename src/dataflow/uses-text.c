/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * pcmpistri and pcmpistrm: comparisons of two texts, each of 16 bytes at most
 * and to its first zero (Intel SDM volume 1, 12.10.3 and volume 2, 4.1). Bytes
 * behind the zero have no effect. See uses-parts.h.
 */
#include "dataflow/uses-parts.h"

#include <string.h>

/* The immediate's fields. */
enum {
	TEXT_WIDE = 1,
	TEXT_SIGNED = 2,
	TEXT_NEGATED = 0x10,
	TEXT_MASKED = 0x20, /* of negated: only what is valid */
	TEXT_HIGHEST = 0x40,
};

enum { TEXT_ANY, TEXT_RANGES, TEXT_EACH, TEXT_ORDERED };

struct text {
	int32_t elements[16];
	unsigned int length, most;
};

/* Up to the zero; what it is, if some byte before that is not known. */
static enum tri text_read(const struct vector *vector, uint8_t control,
			  struct text *ret)
{
	unsigned int size = control & TEXT_WIDE ? 2 : 1;

	*ret = (struct text){ .most = 16 / size };
	for (; ret->length < ret->most; ret->length++) {
		struct number number = number_known(0);
		unsigned int at = ret->length * size;

		memcpy(&number.value, vector->value + at, size);
		memcpy(&number.asked, vector->asked + at, size);
		memcpy(&number.unknown, vector->unknown + at, size);
		if (!number_is_known(&number))
			return number_tri(&number);
		if (number.value == 0)
			return TRI_NO;
		if (control & TEXT_SIGNED)
			number = number_extend(&number, size, 4);
		ret->elements[ret->length] = (int32_t)number.value;
	}
	return TRI_NO;
}

static bool text_in_ranges(const struct text *a, int32_t element)
{
	for (unsigned int i = 0; i + 1 < a->length; i += 2) {
		if (element >= a->elements[i] && element <= a->elements[i + 1])
			return true;
	}
	return false;
}

static bool text_in(const struct text *a, int32_t element)
{
	for (unsigned int i = 0; i < a->length; i++) {
		if (a->elements[i] == element)
			return true;
	}
	return false;
}

static bool text_begins(const struct text *a, const struct text *b,
			unsigned int at)
{
	for (unsigned int i = 0; i < a->length && at + i < b->most; i++) {
		if (at + i >= b->length ||
		    b->elements[at + i] != a->elements[i])
			return false;
	}
	return true;
}

/* Of each element of b: does it compare? */
static uint32_t text_compare(const struct text *a, const struct text *b,
			     uint8_t control)
{
	uint32_t ret = 0;

	for (unsigned int i = 0; i < b->most; i++) {
		bool valid = i < b->length, yes = false;

		switch (control >> 2 & 3) {
		case TEXT_ANY:
			yes = valid && text_in(a, b->elements[i]);
			break;
		case TEXT_RANGES:
			yes = valid && text_in_ranges(a, b->elements[i]);
			break;
		case TEXT_EACH:
			yes = valid == (i < a->length) &&
			      (!valid || a->elements[i] == b->elements[i]);
			break;
		default:
			yes = text_begins(a, b, i);
			break;
		}
		if ((control & TEXT_NEGATED) &&
		    (!(control & TEXT_MASKED) || valid))
			yes = !yes;
		ret |= (uint32_t)yes << i;
	}
	return ret;
}

static void text_result(struct uses_run *run, uint8_t control,
			const struct text *a, const struct text *b)
{
	struct flags *flags = &run->state.flags;
	uint32_t bits = text_compare(a, b, control);
	struct number index = number_known(b->most);

	if (bits != 0)
		index = number_known(
			control & TEXT_HIGHEST
				? 31 - (uint64_t)__builtin_clz(bits)
				: (uint64_t)__builtin_ctz(bits));
	uses_set_gpr(run, X86_RCX, &index, 4);
	*flags = (struct flags){
		.zero_reg = X86_REG_NONE,
		.carry = bits != 0,
		.zero = b->length < b->most,
		.sign = a->length < a->most,
		.overflow = bits & 1,
	};
}

static bool has_asked(const struct vector *vector)
{
	for (unsigned int i = 0; i < 16; i++) {
		if (vector->asked[i])
			return true;
	}
	return false;
}

bool uses_text(struct uses_run *run, const struct vector_insn *insn)
{
	struct vector first = run->state.vectors[insn->reg], second;
	struct flags *flags = &run->state.flags;
	struct number lost;
	struct text a, b;
	enum tri open;

	if (insn->map != 3 || insn->opcode != 0x63 || insn->prefix != 1)
		return false;
	uses_source(run, insn, 16, &second);
	open = text_read(&first, insn->immediate, &a);
	if (open == TRI_NO)
		open = text_read(&second, insn->immediate, &b);
	else
		text_read(&second, insn->immediate, &b);
	run->state.searched |= has_asked(&first) || has_asked(&second);
	if (open == TRI_NO) {
		text_result(run, insn->immediate, &a, &b);
		flags->asked = has_asked(&first) || has_asked(&second);
		return true;
	}
	lost = number_lost(4, open != TRI_UNKNOWN, open != TRI_ASKED);
	uses_set_gpr(run, X86_RCX, &lost, 4);
	flags_logic(flags, &lost, 4);
	flags->carry = flags->zero = flags->sign = (uint8_t)open;
	flags->overflow = (uint8_t)open;
	return true;
}
