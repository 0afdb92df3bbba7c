/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Instructions on the elements of vectors whose width or value changes: shifts,
 * conversions, packing, blending by a vector, and arithmetic of which only is
 * known which elements a result is made of. See uses-parts.h.
 */
#include "dataflow/uses-parts.h"

#include <string.h>

/* Of `size' elements the result is as `from' says, but its value is lost. */
static struct number lost_like(const struct number *a, const struct number *b,
			       unsigned int size)
{
	return number_lost(size, (a->asked | b->asked) != 0,
			   (a->unknown | b->unknown) != 0);
}

/* How many bytes the shift counts by, left or right, with the sign or not. */
static bool find_shift(const struct vector_insn *insn, unsigned int *ret_size,
		       unsigned int *ret_how)
{
	uint8_t low = insn->opcode & 15;

	if (insn->map != 1 || insn->prefix != 1)
		return false;
	if (insn->opcode >= 0x71 && insn->opcode <= 0x73) {
		*ret_size = 1u << (insn->opcode & 3);
		*ret_how = insn->reg & 7;
	} else if ((insn->opcode >= 0xd1 && insn->opcode <= 0xd3) ||
		   (insn->opcode >= 0xe1 && insn->opcode <= 0xe2) ||
		   (insn->opcode >= 0xf1 && insn->opcode <= 0xf3)) {
		*ret_size = 1u << low;
		*ret_how = insn->opcode >> 4 == 0xd   ? 2
			   : insn->opcode >> 4 == 0xe ? 4
						      : 6;
	} else {
		return false;
	}
	if (*ret_how == 4 && insn->evex && insn->wide && *ret_size == 4)
		*ret_size = 8;
	return *ret_how == 2 || *ret_how == 4 || *ret_how == 6;
}

static struct number shift(const struct number *a, const struct number *by,
			   unsigned int size, unsigned int how)
{
	unsigned int bits = 8 * size;
	struct number mixed = number_or(a, by);

	if (!number_is_known(by))
		return lost_like(&mixed, by, size);
	if (how == 4)
		return number_sar(a,
				  by->value < bits ? (unsigned int)by->value
						   : bits - 1,
				  size);
	if (by->value >= bits)
		return number_known(0);
	return number_shift(a, how == 6 ? (int)by->value : -(int)by->value,
			    size);
}

bool vector_shift(struct uses_run *run, const struct vector_insn *insn)
{
	struct vector a = run->state.vectors[insn->second], b;
	struct vector result = { 0 };
	struct number by = number_known(insn->immediate), element;
	bool immediate = insn->opcode < 0x80;
	struct vector_insn to = *insn;
	unsigned int size, how;

	if (!find_shift(insn, &size, &how))
		return false;
	if (immediate) {
		uses_source(run, insn, insn->length, &a);
	} else {
		uses_source(run, insn, 16, &b);
		by = vector_element(&b, 0, 8);
	}
	for (unsigned int i = 0; i < insn->length / size; i++) {
		element = vector_element(&a, i, size);
		element = shift(&element, &by, size, how);
		vector_set_element(&result, i, size, &element);
	}
	/* by an immediate: reg is a part of the opcode */
	if (immediate)
		to.reg = insn->vex ? insn->second : insn->rm;
	vector_apply_mask(run, &to, size, &result);
	vector_set_result(run, &to, to.reg, &result);
	return true;
}

/* The value as it is in fewer bytes, at the nearest end if it is in none. */
static struct number saturate(const struct number *a, unsigned int from,
			      unsigned int to, bool is_signed)
{
	int64_t low = is_signed ? -(INT64_C(1) << (8 * to - 1)) : 0;
	int64_t high = is_signed ? (INT64_C(1) << (8 * to - 1)) - 1
				 : (INT64_C(1) << 8 * to) - 1;
	struct number wide = number_extend(a, from, 8);
	int64_t value = (int64_t)wide.value;

	if (number_is_known(a))
		return number_known((uint64_t)(value < low    ? low
					       : value > high ? high
							      : value) &
				    number_mask(to));
	if (a->high <= (uint64_t)high)
		return number_cut(a, to);
	return lost_like(a, a, to);
}

bool vector_pack(struct uses_run *run, const struct vector_insn *insn)
{
	struct vector a = run->state.vectors[insn->second], b;
	struct vector result = { 0 };
	bool small = insn->opcode == 0x63 || insn->opcode == 0x67;
	unsigned int from = small ? 2 : 4, to = from / 2, half = 8 / to;

	if (insn->prefix != 1 ||
	    (!(insn->map == 1 && (small || insn->opcode == 0x6b)) &&
	     !(insn->map == 2 && insn->opcode == 0x2b)))
		return false;
	uses_source(run, insn, insn->length, &b);
	for (unsigned int i = 0; i < insn->length / to; i++) {
		unsigned int lane = i / (2 * half), at = i % half;
		struct number element = vector_element(i / half % 2 ? &b : &a,
						       lane * half + at, from);

		element =
			saturate(&element, from, to,
				 insn->opcode == 0x63 || insn->opcode == 0x6b);
		vector_set_element(&result, i, to, &element);
	}
	vector_apply_mask(run, insn, to, &result);
	vector_set_result(run, insn, insn->reg, &result);
	return true;
}

/* pmovsx, pmovzx */
static bool widen(struct uses_run *run, const struct vector_insn *insn)
{
	static const uint8_t sizes[][2] = { { 1, 2 }, { 1, 4 }, { 1, 8 },
					    { 2, 4 }, { 2, 8 }, { 4, 8 } };
	unsigned int from = sizes[insn->opcode & 15][0];
	unsigned int to = sizes[insn->opcode & 15][1];
	struct vector b, result = { 0 };

	uses_source(run, insn, insn->length / to * from, &b);
	for (unsigned int i = 0; i < insn->length / to; i++) {
		struct number element = vector_element(&b, i, from);

		if (insn->opcode < 0x30)
			element = number_extend(&element, from, to);
		vector_set_element(&result, i, to, &element);
	}
	vector_apply_mask(run, insn, to, &result);
	vector_set_result(run, insn, insn->reg, &result);
	return true;
}

/* vpmovdw and the like, to a register; those that saturate lose the value. */
static bool narrow(struct uses_run *run, const struct vector_insn *insn)
{
	static const uint8_t sizes[][2] = { { 2, 1 }, { 4, 1 }, { 8, 1 },
					    { 4, 2 }, { 8, 2 }, { 8, 4 } };
	unsigned int from = sizes[insn->opcode & 15][0];
	unsigned int to = sizes[insn->opcode & 15][1];
	const struct vector *a = &run->state.vectors[insn->reg];
	struct vector result = { 0 };

	if (insn->memory || insn->mask != 0)
		return false;
	for (unsigned int i = 0; i < insn->length / from; i++) {
		struct number element = vector_element(a, i, from);

		if (insn->opcode >= 0x30)
			element = number_cut(&element, to);
		else
			element = lost_like(&element, &element, to);
		vector_set_element(&result, i, to, &element);
	}
	uses_set_vector(run, insn->rm, &result);
	return true;
}

bool vector_resize(struct uses_run *run, const struct vector_insn *insn)
{
	uint8_t high = insn->opcode >> 4;

	if (insn->map != 2 || (insn->opcode & 15) > 5)
		return false;
	if (insn->prefix == 1 && (high == 2 || high == 3))
		return widen(run, insn);
	return insn->prefix == 2 && insn->evex && high >= 1 && high <= 3 &&
	       narrow(run, insn);
}

/* blendvps, vpblendvb, vpblendmd: by the sign of an element, or a mask. */
static bool find_blend(const struct vector_insn *insn, unsigned int *ret_size,
		       uint8_t *ret_by)
{
	*ret_by = insn->vex ? insn->immediate >> 4 : 0;
	*ret_size = 1;
	if (insn->evex || insn->prefix != 1)
		return false;
	if (insn->map == 2 && !insn->vex &&
	    (insn->opcode == 0x10 || insn->opcode == 0x14 ||
	     insn->opcode == 0x15)) {
		if (insn->opcode != 0x10)
			*ret_size = insn->opcode == 0x14 ? 4 : 8;
		return true;
	}
	if (insn->map != 3 || !insn->vex || insn->opcode < 0x4a ||
	    insn->opcode > 0x4c)
		return false;
	if (insn->opcode != 0x4c)
		*ret_size = insn->opcode == 0x4a ? 4 : 8;
	return true;
}

bool vector_blend(struct uses_run *run, const struct vector_insn *insn)
{
	struct vector a = run->state.vectors[insn->second], b, by;
	struct vector result = { 0 };
	unsigned int size;
	uint8_t reg;

	if (!find_blend(insn, &size, &reg))
		return false;
	by = run->state.vectors[reg];
	uses_source(run, insn, insn->length, &b);
	for (unsigned int i = 0; i < insn->length / size; i++) {
		struct number sign = vector_element(&by, i, size);
		struct number x = vector_element(&b, i, size);
		struct number y = vector_element(&a, i, size);

		x = number_either(&x, &y, number_bit(&sign, 8 * size - 1));
		vector_set_element(&result, i, size, &x);
	}
	run->state.narrowed |= (vector_is_asked(&a) || vector_is_asked(&b)) &&
			       !vector_is_asked(&result);
	vector_set_result(run, insn, insn->reg, &result);
	return true;
}

/* How a value that is not computed here depends on its operands. */
struct opaque {
	uint8_t map, from, to; /* opcodes */
	uint8_t size; /* of an element; 0: by the prefix, of floating numbers */
	bool one; /* operand only, the third */
	bool three; /* operands, the first is one */
};

static const struct opaque opaques[] = {
	{ 1, 0x51, 0x53, 0, true, false },  { 1, 0x58, 0x59, 0, false, false },
	{ 1, 0x5c, 0x5f, 0, false, false }, { 1, 0xc2, 0xc2, 0, false, false },
	{ 1, 0x5b, 0x5b, 4, true, false },  { 1, 0xd5, 0xd5, 2, false, false },
	{ 1, 0xdd, 0xdd, 2, false, false }, { 1, 0xdc, 0xdc, 1, false, false },
	{ 1, 0xe0, 0xe0, 1, false, false }, { 1, 0xe3, 0xe5, 2, false, false },
	{ 1, 0xe8, 0xe8, 1, false, false }, { 1, 0xe9, 0xe9, 2, false, false },
	{ 1, 0xec, 0xec, 1, false, false }, { 1, 0xed, 0xed, 2, false, false },
	{ 1, 0xf4, 0xf4, 8, false, false }, { 1, 0xf5, 0xf5, 4, false, false },
	{ 1, 0xf6, 0xf6, 8, false, false }, { 2, 0x01, 0x03, 16, false, false },
	{ 2, 0x04, 0x04, 2, false, false }, { 2, 0x05, 0x07, 16, false, false },
	{ 2, 0x08, 0x08, 1, false, false }, { 2, 0x09, 0x09, 2, false, false },
	{ 2, 0x0a, 0x0a, 4, false, false }, { 2, 0x0b, 0x0b, 2, false, false },
	{ 2, 0x1c, 0x1c, 1, true, false },  { 2, 0x1d, 0x1d, 2, true, false },
	{ 2, 0x1e, 0x1e, 4, true, false },  { 2, 0x28, 0x28, 8, false, false },
	{ 2, 0x40, 0x40, 4, false, false }, { 2, 0x45, 0x47, 4, false, false },
	{ 2, 0x96, 0x9f, 0, false, true },  { 2, 0xa6, 0xaf, 0, false, true },
	{ 2, 0xb6, 0xbf, 0, false, true },
};

static const struct opaque *find_opaque(const struct vector_insn *insn)
{
	for (size_t i = 0; i < sizeof(opaques) / sizeof(opaques[0]); i++) {
		const struct opaque *opaque = &opaques[i];

		if (opaque->map != insn->map || opaque->from > insn->opcode ||
		    opaque->to < insn->opcode)
			continue;
		/* comparisons into masks are others */
		if (insn->evex && (insn->opcode == 0xc2 || insn->mask != 0))
			return NULL;
		/* so are those of one number of a vector, with memory or not */
		if (insn->map == 1 && opaque->size == 0)
			return insn->prefix <= 1 ? opaque : NULL;
		if (opaque->three && (insn->opcode & 1) &&
		    (insn->opcode & 15) >= 9)
			return NULL;
		if (insn->opcode == 0x5b)
			return insn->prefix != 3 ? opaque : NULL;
		return insn->prefix == 1 ? opaque : NULL;
	}
	return NULL;
}

static unsigned int opaque_size(const struct opaque *opaque,
				const struct vector_insn *insn)
{
	if (opaque->size != 0)
		/* the shifts by a vector, and multiplication, are by W */
		return opaque->size == 4 && insn->wide && insn->map == 2
			       ? 8
			       : opaque->size;
	if (opaque->three)
		return 4u << insn->wide;
	return insn->prefix == 1 ? 8 : 4;
}

void vector_add_marks(const struct vector *from, unsigned int at,
		      unsigned int size, bool *asked, bool *unknown)
{
	for (unsigned int i = at; i < at + size; i++) {
		*asked |= from->asked[i] != 0;
		*unknown |= from->unknown[i] != 0;
	}
}

bool vector_opaque(struct uses_run *run, const struct vector_insn *insn)
{
	const struct opaque *opaque = find_opaque(insn);
	const struct vector *old = &run->state.vectors[insn->reg];
	const struct vector *a = &run->state.vectors[insn->second];
	struct vector b, result = { 0 };
	unsigned int size;

	if (!opaque)
		return false;
	size = opaque_size(opaque, insn);
	uses_source(run, insn, insn->length, &b);
	for (unsigned int at = 0; at < insn->length; at += size) {
		bool asked = false, unknown = false;

		vector_add_marks(&b, at, size, &asked, &unknown);
		if (!opaque->one)
			vector_add_marks(a, at, size, &asked, &unknown);
		if (opaque->three)
			vector_add_marks(old, at, size, &asked, &unknown);
		memset(result.asked + at, asked ? 0xff : 0, size);
		memset(result.unknown + at, unknown || !asked ? 0xff : 0, size);
	}
	vector_set_result(run, insn, insn->reg, &result);
	return true;
}
