/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Instructions that put the elements of two vectors in another order: unpacking,
 * shuffles, permutations and blends, by an immediate. Loops that
 * compilers vectorize use them to pick what they need of whole vectors. See
 * uses-parts.h.
 */
#include "dataflow/uses-parts.h"

#include <string.h>

/* Element numbers of the result's sources. */
enum {
	OF_B = 0x100, /* of the third operand, not of the second */
	ZERO = 0x200,
};

/* Where the element comes from, of those of `size' bytes. */
typedef unsigned int pick(const struct vector_insn *insn, unsigned int i,
			  unsigned int size);

/* The first element in the 16 bytes of this one. */
static unsigned int lane_of(unsigned int i, unsigned int size)
{
	return i & ~(16 / size - 1);
}

static unsigned int in_lane(unsigned int i, unsigned int size)
{
	return i & (16 / size - 1);
}

static unsigned int pick_align(const struct vector_insn *insn, unsigned int i,
			       unsigned int size)
{
	unsigned int from = in_lane(i, size) + insn->immediate;

	if (from < 16)
		return OF_B | (lane_of(i, size) + from);
	return from < 32 ? lane_of(i, size) + from - 16 : ZERO;
}

/* psrldq */
static unsigned int pick_down(const struct vector_insn *insn, unsigned int i,
			      unsigned int size)
{
	unsigned int from = in_lane(i, size) + insn->immediate;

	return from < 16 ? OF_B | (lane_of(i, size) + from) : ZERO;
}

static unsigned int pick_up(const struct vector_insn *insn, unsigned int i,
			    unsigned int size)
{
	unsigned int at = in_lane(i, size);

	return at < insn->immediate ? ZERO : OF_B | (i - insn->immediate);
}

/* Elements of both by turns. */
static unsigned int pick_low(const struct vector_insn *insn, unsigned int i,
			     unsigned int size)
{
	unsigned int at = in_lane(i, size);

	(void)insn;
	return (at & 1 ? OF_B : 0) | (lane_of(i, size) + at / 2);
}

static unsigned int pick_high(const struct vector_insn *insn, unsigned int i,
			      unsigned int size)
{
	return pick_low(insn, i, size) + 8 / size;
}

/* Two bits of the immediate for each of four elements. */
static unsigned int two_bits(const struct vector_insn *insn, unsigned int i)
{
	return insn->immediate >> 2 * (i & 3) & 3u;
}

static unsigned int pick_four(const struct vector_insn *insn, unsigned int i,
			      unsigned int size)
{
	(void)size;
	return OF_B | ((i & ~3u) + two_bits(insn, i));
}

static unsigned int pick_four_low(const struct vector_insn *insn,
				  unsigned int i, unsigned int size)
{
	return i & 4 ? OF_B | i : pick_four(insn, i, size);
}

static unsigned int pick_four_high(const struct vector_insn *insn,
				   unsigned int i, unsigned int size)
{
	return i & 4 ? pick_four(insn, i, size) : OF_B | i;
}

static unsigned int pick_two(const struct vector_insn *insn, unsigned int i,
			     unsigned int size)
{
	(void)size;
	return OF_B | ((i & ~1u) + (insn->immediate >> i & 1u));
}

/* shufps: half of each */
static unsigned int pick_shuffle_four(const struct vector_insn *insn,
				      unsigned int i, unsigned int size)
{
	(void)size;
	return (i & 2 ? OF_B : 0) | ((i & ~3u) + two_bits(insn, i));
}

static unsigned int pick_shuffle_two(const struct vector_insn *insn,
				     unsigned int i, unsigned int size)
{
	(void)size;
	return (i & 1 ? OF_B : 0) | ((i & ~1u) + (insn->immediate >> i & 1u));
}

static unsigned int pick_even(const struct vector_insn *insn, unsigned int i,
			      unsigned int size)
{
	(void)insn, (void)size;
	return OF_B | (i & ~1u);
}

static unsigned int pick_odd(const struct vector_insn *insn, unsigned int i,
			     unsigned int size)
{
	(void)insn, (void)size;
	return OF_B | i | 1;
}

/* movhlps and movlhps */
static unsigned int pick_both_high(const struct vector_insn *insn,
				   unsigned int i, unsigned int size)
{
	(void)insn, (void)size;
	return i == 0 ? OF_B | 1 : i;
}

static unsigned int pick_both_low(const struct vector_insn *insn,
				  unsigned int i, unsigned int size)
{
	(void)insn, (void)size;
	return i == 1 ? OF_B : i;
}

static unsigned int pick_blend(const struct vector_insn *insn, unsigned int i,
			       unsigned int size)
{
	(void)size;
	return (insn->immediate >> (i & 7) & 1 ? OF_B : 0) | i;
}

/* vperm2f128 */
static unsigned int pick_lane(const struct vector_insn *insn, unsigned int i,
			      unsigned int size)
{
	unsigned int by = insn->immediate >> 4 * i;

	(void)size;
	return by & 8 ? ZERO : (by & 2 ? OF_B : 0) | (by & 1);
}

/* vshuff64x2: half of each */
static unsigned int pick_lanes(const struct vector_insn *insn, unsigned int i,
			       unsigned int size)
{
	unsigned int count = insn->length / size, bits = count == 4 ? 2 : 1;
	unsigned int by = insn->immediate >> bits * i & (count - 1);

	return (i >= count / 2 ? OF_B : 0) | by;
}

/* valignd: elements, of the whole vector */
static unsigned int pick_slide(const struct vector_insn *insn, unsigned int i,
			       unsigned int size)
{
	unsigned int count = insn->length / size;
	unsigned int from = i + (insn->immediate & (count - 1));

	return from < count ? OF_B | from : from - count;
}

static unsigned int pick_insert(const struct vector_insn *insn, unsigned int i,
				unsigned int size)
{
	unsigned int from = insn->memory ? 0 : insn->immediate >> 6;

	(void)size;
	if (insn->immediate >> i & 1)
		return ZERO;
	return i == (insn->immediate >> 4 & 3u) ? OF_B | from : i;
}

enum { NONE = 1, P66 = 2, F3 = 4, F2 = 8 };

struct arrangement {
	uint8_t map, opcode, prefixes;
	uint8_t size; /* of an element; 0: 4 or 8 by W */
	pick *pick;
};

static const struct arrangement arrangements[] = {
	{ 1, 0x12, NONE, 8, pick_both_high },
	{ 1, 0x12, F3, 4, pick_even },
	{ 1, 0x12, F2, 8, pick_even },
	{ 1, 0x14, NONE, 4, pick_low },
	{ 1, 0x14, P66, 8, pick_low },
	{ 1, 0x15, NONE, 4, pick_high },
	{ 1, 0x15, P66, 8, pick_high },
	{ 1, 0x16, NONE, 8, pick_both_low },
	{ 1, 0x16, F3, 4, pick_odd },
	{ 1, 0x60, P66, 1, pick_low },
	{ 1, 0x61, P66, 2, pick_low },
	{ 1, 0x62, P66, 4, pick_low },
	{ 1, 0x68, P66, 1, pick_high },
	{ 1, 0x69, P66, 2, pick_high },
	{ 1, 0x6a, P66, 4, pick_high },
	{ 1, 0x6c, P66, 8, pick_low },
	{ 1, 0x6d, P66, 8, pick_high },
	{ 1, 0x70, P66, 4, pick_four },
	{ 1, 0x70, F3, 2, pick_four_high },
	{ 1, 0x70, F2, 2, pick_four_low },
	{ 1, 0xc6, NONE, 4, pick_shuffle_four },
	{ 1, 0xc6, P66, 8, pick_shuffle_two },
	{ 3, 0x00, P66, 8, pick_four },
	{ 3, 0x01, P66, 8, pick_four },
	{ 3, 0x02, P66, 4, pick_blend },
	{ 3, 0x03, P66, 0, pick_slide },
	{ 3, 0x04, P66, 4, pick_four },
	{ 3, 0x05, P66, 8, pick_two },
	{ 3, 0x06, P66, 16, pick_lane },
	{ 3, 0x0c, P66, 4, pick_blend },
	{ 3, 0x0d, P66, 8, pick_blend },
	{ 3, 0x0e, P66, 2, pick_blend },
	{ 3, 0x0f, P66, 1, pick_align },
	{ 3, 0x21, P66, 4, pick_insert },
	{ 3, 0x23, P66, 16, pick_lanes },
	{ 3, 0x43, P66, 16, pick_lanes },
	{ 3, 0x46, P66, 16, pick_lane },
};

static const struct arrangement *
find_arrangement(const struct vector_insn *insn)
{
	static const struct arrangement shifts[] = {
		{ 1, 0x73, P66, 1, pick_down },
		{ 1, 0x73, P66, 1, pick_up },
	};
	size_t count = sizeof(arrangements) / sizeof(arrangements[0]);

	if (insn->map == 1 && insn->opcode == 0x73 && insn->prefix == 1 &&
	    (insn->reg & 3) == 3)
		return &shifts[insn->reg >> 2 & 1];
	for (size_t i = 0; i < count; i++) {
		if (arrangements[i].map == insn->map &&
		    arrangements[i].opcode == insn->opcode &&
		    (arrangements[i].prefixes >> insn->prefix & 1))
			return &arrangements[i];
	}
	return NULL;
}

static void put(struct vector *to, unsigned int at, const struct vector *from,
		unsigned int which, unsigned int size)
{
	vector_copy(to, at * size, from, which * size, size);
}

/* The third operand; some load less than a vector. */
static void third(struct uses_run *run, const struct vector_insn *insn,
		  struct vector *ret)
{
	unsigned int size = insn->length;

	if (insn->opcode == 0x12 && insn->prefix == 3 && size == 16)
		size = 8;
	else if (insn->map == 3 && insn->opcode == 0x21)
		size = 4;
	uses_source(run, insn, size, ret);
}

/* Does the memory operand make it another instruction? */
static bool is_half(const struct vector_insn *insn)
{
	return insn->map == 1 && insn->memory && insn->prefix == 0 &&
	       (insn->opcode == 0x12 || insn->opcode == 0x16);
}

/* Of lanes that are moved the mask selects elements; of others, those moved. */
static unsigned int masked_size(const struct vector_insn *insn,
				unsigned int size)
{
	return size == 16 ? 4u << insn->wide : size;
}

bool vector_arrange(struct uses_run *run, const struct vector_insn *insn)
{
	const struct arrangement *arrangement = find_arrangement(insn);
	struct vector a = run->state.vectors[insn->second], b;
	struct vector result = { 0 };
	unsigned int size;

	if (!arrangement || is_half(insn))
		return false;
	third(run, insn, &b);
	size = arrangement->size ? arrangement->size : 4u << insn->wide;
	for (unsigned int i = 0; i < insn->length / size; i++) {
		unsigned int from = arrangement->pick(insn, i, size);

		if (!(from & ZERO))
			put(&result, i, from & OF_B ? &b : &a, from & 0xff,
			    size);
	}
	run->state.narrowed |= (vector_is_asked(&a) || vector_is_asked(&b)) &&
			       !vector_is_asked(&result);
	vector_apply_mask(run, insn, masked_size(insn, size), &result);
	vector_set_result(run, insn,
			  insn->opcode != 0x73 ? insn->reg
			  : insn->vex	       ? insn->second
					       : insn->rm,
			  &result);
	return true;
}
