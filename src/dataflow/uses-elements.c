/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Vector operations on two vectors, element by element; see uses-parts.h.
 * Operations that are not here are not supported.
 */
#include "dataflow/uses-parts.h"

#include <string.h>

struct number vector_element(const struct vector *vector, unsigned int i,
			     unsigned int size)
{
	uint64_t value = 0, asked = 0, unknown = 0;

	memcpy(&value, vector->value + (size_t)i * size, size);
	memcpy(&asked, vector->asked + (size_t)i * size, size);
	memcpy(&unknown, vector->unknown + (size_t)i * size, size);
	return number_of_bits(value, asked, unknown);
}

void vector_set_element(struct vector *vector, unsigned int i,
			unsigned int size, const struct number *number)
{
	memcpy(vector->value + (size_t)i * size, &number->value, size);
	memcpy(vector->asked + (size_t)i * size, &number->asked, size);
	memcpy(vector->unknown + (size_t)i * size, &number->unknown, size);
}

typedef struct number combine(const struct number *a, const struct number *b,
			      unsigned int size);

static enum tri compare(const struct number *a, const struct number *b,
			unsigned int size, unsigned int condition)
{
	struct flags flags;

	flags_compare(&flags, a, b, size);
	return flags_condition(&flags, condition);
}

/* Conditions as in the opcodes of jcc. */
enum { BELOW = 2, EQUAL = 4, LESS = 12, GREATER = 15 };

/*
 * The lower or the higher of two numbers. With 0 and an open one, the lower is
 * known: strstr() leaves out pairs of letters by such a minimum.
 */
static struct number extreme(const struct number *a, const struct number *b,
			     unsigned int size, unsigned int condition,
			     bool lowest)
{
	/* the result where a is below b, and where it is above */
	const struct number *below = lowest ? a : b, *above = lowest ? b : a;

	/* a <= b, whatever the open bits are */
	if (compare(b, a, size, condition) == TRI_NO)
		return *below;
	return number_either(below, above, compare(a, b, size, condition));
}

static struct number min_unsigned(const struct number *a,
				  const struct number *b, unsigned int size)
{
	return extreme(a, b, size, BELOW, true);
}

static struct number max_unsigned(const struct number *a,
				  const struct number *b, unsigned int size)
{
	return extreme(a, b, size, BELOW, false);
}

static struct number min_signed(const struct number *a, const struct number *b,
				unsigned int size)
{
	return extreme(a, b, size, LESS, true);
}

static struct number max_signed(const struct number *a, const struct number *b,
				unsigned int size)
{
	return extreme(a, b, size, LESS, false);
}

static struct number all_or_none(enum tri yes, unsigned int size)
{
	struct number ones = number_known(number_mask(size));
	struct number zero = number_known(0);

	return number_either(&ones, &zero, yes);
}

static struct number equal(const struct number *a, const struct number *b,
			   unsigned int size)
{
	return all_or_none(compare(a, b, size, EQUAL), size);
}

static struct number greater(const struct number *a, const struct number *b,
			     unsigned int size)
{
	return all_or_none(compare(a, b, size, GREATER), size);
}

static struct number both(const struct number *a, const struct number *b,
			  unsigned int size)
{
	(void)size;
	return number_and(a, b);
}

static struct number second_only(const struct number *a, const struct number *b,
				 unsigned int size)
{
	struct number not = number_not(a, size);

	return number_and(&not, b);
}

static struct number any(const struct number *a, const struct number *b,
			 unsigned int size)
{
	(void)size;
	return number_or(a, b);
}

static struct number one_of(const struct number *a, const struct number *b,
			    unsigned int size)
{
	(void)size;
	return number_xor(a, b);
}

/* Not below zero. */
static struct number sub_saturated(const struct number *a,
				   const struct number *b, unsigned int size)
{
	struct number less = number_sub(a, b, size), zero = number_known(0);

	return number_either(&zero, &less, compare(a, b, size, BELOW));
}

/* All but the comparisons have prefix 66; `logic' is by W in EVEX. */
struct operation {
	uint8_t map, opcode, size;
	combine *combine;
};

static const struct operation operations[] = {
	{ 1, 0x64, 1, greater },       { 1, 0x65, 2, greater },
	{ 1, 0x66, 4, greater },       { 1, 0x74, 1, equal },
	{ 1, 0x75, 2, equal },	       { 1, 0x76, 4, equal },
	{ 2, 0x29, 8, equal },	       { 2, 0x37, 8, greater },
	{ 1, 0xd4, 8, number_add },    { 1, 0xd8, 1, sub_saturated },
	{ 1, 0xd9, 2, sub_saturated }, { 1, 0xda, 1, min_unsigned },
	{ 1, 0xdb, 8, both },	       { 1, 0xde, 1, max_unsigned },
	{ 1, 0xdf, 8, second_only },   { 1, 0xea, 2, min_signed },
	{ 1, 0xeb, 8, any },	       { 1, 0xee, 2, max_signed },
	{ 1, 0xef, 8, one_of },	       { 1, 0xf8, 1, number_sub },
	{ 1, 0xf9, 2, number_sub },    { 1, 0xfa, 4, number_sub },
	{ 1, 0xfb, 8, number_sub },    { 1, 0xfc, 1, number_add },
	{ 1, 0xfd, 2, number_add },    { 1, 0xfe, 4, number_add },
	{ 2, 0x38, 1, min_signed },    { 2, 0x39, 4, min_signed },
	{ 2, 0x3a, 2, min_unsigned },  { 2, 0x3b, 4, min_unsigned },
	{ 2, 0x3c, 1, max_signed },    { 2, 0x3d, 4, max_signed },
	{ 2, 0x3e, 2, max_unsigned },  { 2, 0x3f, 4, max_unsigned },
	{ 1, 0x54, 8, both },	       { 1, 0x55, 8, second_only },
	{ 1, 0x56, 8, any },	       { 1, 0x57, 8, one_of },
};

static const struct operation *find_operation(const struct vector_insn *insn)
{
	size_t count = sizeof(operations) / sizeof(operations[0]);
	bool floating = insn->map == 1 && insn->opcode >= 0x54 &&
			insn->opcode <= 0x57;

	if (insn->prefix != 1 && !(floating && insn->prefix == 0))
		return NULL;
	for (size_t i = 0; i < count; i++) {
		if (operations[i].map == insn->map &&
		    operations[i].opcode == insn->opcode)
			return &operations[i];
	}
	return NULL;
}

static bool is_own_difference(const struct vector_insn *insn)
{
	return !insn->memory && insn->rm == insn->second && insn->map == 1 &&
	       (insn->opcode == 0xef || insn->opcode == 0x57 ||
		(insn->opcode >= 0xf8 && insn->opcode <= 0xfb));
}

bool vector_combine(const struct vector_insn *insn, const struct vector *a,
		    const struct vector *b, struct vector *ret)
{
	const struct operation *operation = find_operation(insn);

	if (!operation)
		return false;
	memset(ret, 0, sizeof(*ret));
	if (is_own_difference(insn))
		return true;
	for (unsigned int i = 0; i < insn->length / operation->size; i++) {
		struct number x = vector_element(a, i, operation->size);
		struct number y = vector_element(b, i, operation->size);
		struct number z = operation->combine(&x, &y, operation->size);

		vector_set_element(ret, i, operation->size, &z);
	}
	return true;
}

/* How a comparison into a mask register is made. */
struct comparison {
	unsigned int size;
	bool test; /* of the two's common bits with zero */
	unsigned int condition; /* of x86; 16: never, 17: always */
};

static bool find_comparison(const struct vector_insn *insn,
			    struct comparison *ret)
{
	/* eq, lt, le, false, neq, nlt, nle, true */
	static const uint8_t below[] = { 4, 2, 6, 16, 5, 3, 7, 17 };
	static const uint8_t less[] = { 4, 12, 14, 16, 5, 13, 15, 17 };
	bool small;

	*ret = (struct comparison){ .condition = EQUAL };
	if (insn->map == 3 && insn->prefix == 1 &&
	    (insn->opcode & 0xde) == 0x1e) {
		/* 1e, 1f: doublewords; 3e, 3f: bytes */
		small = insn->opcode & 0x20;
		ret->size = (small ? 1u : 4u) << insn->wide;
		ret->condition = insn->opcode & 1 ? less[insn->immediate & 7]
						  : below[insn->immediate & 7];
		return true;
	}
	if (insn->map == 2 && (insn->opcode == 0x26 || insn->opcode == 0x27) &&
	    (insn->prefix == 1 || insn->prefix == 2)) {
		ret->size = (insn->opcode == 0x26 ? 1u : 4u) << insn->wide;
		ret->test = true;
		ret->condition = insn->prefix == 1 ? EQUAL + 1 : EQUAL;
		return true;
	}
	if (insn->prefix != 1)
		return false;
	if ((insn->map == 1 && insn->opcode >= 0x64 && insn->opcode <= 0x66) ||
	    (insn->map == 2 && insn->opcode == 0x37))
		ret->condition = GREATER;
	else if (!(insn->map == 1 && insn->opcode >= 0x74 &&
		   insn->opcode <= 0x76) &&
		 !(insn->map == 2 && insn->opcode == 0x29))
		return false;
	ret->size = insn->map == 2 ? 8 : 1u << (insn->opcode & 3);
	if (insn->map == 1 && insn->opcode >= 0x74)
		ret->size = 1u << (insn->opcode - 0x74);
	return true;
}

bool vector_compare(const struct vector_insn *insn, const struct vector *a,
		    const struct vector *b, struct number *ret)
{
	struct comparison comparison;
	struct number zero = number_known(0);

	if (!find_comparison(insn, &comparison))
		return false;
	*ret = zero;
	for (unsigned int i = 0; i < insn->length / comparison.size; i++) {
		struct number x = vector_element(a, i, comparison.size);
		struct number y = vector_element(b, i, comparison.size), bit;
		enum tri yes = TRI_NO;

		if (comparison.test) {
			x = number_and(&x, &y);
			y = zero;
		}
		if (comparison.condition == 17)
			yes = TRI_YES;
		else if (comparison.condition != 16)
			yes = compare(&x, &y, comparison.size,
				      comparison.condition);
		x = number_known(UINT64_C(1) << i);
		bit = number_either(&x, &zero, yes);
		*ret = number_or(ret, &bit);
	}
	return true;
}
