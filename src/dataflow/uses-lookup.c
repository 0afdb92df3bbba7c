/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Instructions that look elements up in one vector, or in two, by numbers in
 * another: pshufb, vpermd, vpermi2w and the like. See uses-parts.h.
 */
#include "dataflow/uses-parts.h"

#include <string.h>

struct lookup {
	unsigned int size; /* of an element, bytes */
	unsigned int count; /* of those to choose from; a power of two */
	unsigned int shift; /* the lowest bit of the number */
	bool lanes, zeros; /* each 16 bytes alone; bit 7: zero */
	const struct vector *numbers, *low, *high;
};

static bool find_lookup(const struct vector_insn *insn,
			const struct vector *old, const struct vector *a,
			const struct vector *b, struct lookup *ret)
{
	unsigned int small = insn->wide ? 2 : 1, large = insn->wide ? 8 : 4;

	*ret = (struct lookup){
		.size = large, .numbers = a, .low = b, .high = b
	};
	if (insn->map != 2 || insn->prefix != 1)
		return false;
	switch (insn->opcode) {
	case 0x00:
		ret->size = 1;
		ret->zeros = true;
		break;
	case 0x0c:
	case 0x0d:
		ret->size = insn->opcode == 0x0c ? 4 : 8;
		ret->shift = insn->opcode & 1;
		break;
	case 0x16:
	case 0x36:
		break;
	case 0x8d:
		ret->size = small;
		break;
	case 0x75:
	case 0x76:
	case 0x77:
	case 0x7d:
	case 0x7e:
	case 0x7f:
		if (insn->opcode == 0x75 || insn->opcode == 0x7d)
			ret->size = small;
		ret->numbers = insn->opcode >= 0x7d ? a : old;
		ret->low = insn->opcode >= 0x7d ? old : a;
		break;
	default:
		return false;
	}
	ret->count = insn->length / ret->size;
	if (insn->opcode <= 0x0d) {
		ret->lanes = true;
		ret->count = 16 / ret->size;
		ret->numbers = b;
		ret->low = ret->high = a;
	} else if (ret->low != b) {
		ret->count *= 2;
	}
	return true;
}

/* By a number that is not known: any of them. */
static void any_of(const struct lookup *lookup, bool asked, struct vector *ret,
		   unsigned int at)
{
	bool unknown = true;

	vector_add_marks(lookup->low, 0, X86_VECTOR_BYTES, &asked, &unknown);
	vector_add_marks(lookup->high, 0, X86_VECTOR_BYTES, &asked, &unknown);
	memset(ret->asked + at, asked ? 0xff : 0, lookup->size);
	memset(ret->unknown + at, 0xff, lookup->size);
}

static void look_up(const struct lookup *lookup, unsigned int i,
		    unsigned int in_vector, struct vector *ret)
{
	const struct vector *numbers = lookup->numbers;
	unsigned int at = i * lookup->size, size = lookup->size, number;
	uint8_t mask = (uint8_t)(lookup->count - 1), bits;

	bits = (uint8_t)(mask << lookup->shift | (lookup->zeros ? 0x80 : 0));
	if ((numbers->asked[at] | numbers->unknown[at]) & bits) {
		any_of(lookup, numbers->asked[at] & bits, ret, at);
		return;
	}
	if (lookup->zeros && numbers->value[at] & 0x80)
		return;
	number = numbers->value[at] >> lookup->shift & mask;
	if (lookup->lanes)
		number += i & ~(16 / size - 1);
	if (number < in_vector)
		vector_copy(ret, at, lookup->low, number * size, size);
	else
		vector_copy(ret, at, lookup->high, (number - in_vector) * size,
			    size);
}

bool vector_look_up(struct uses_run *run, const struct vector_insn *insn)
{
	struct vector old = run->state.vectors[insn->reg], b;
	struct vector a = run->state.vectors[insn->second];
	struct vector result = { 0 };
	struct lookup lookup;

	if (!find_lookup(insn, &old, &a, &b, &lookup))
		return false;
	uses_source(run, insn, insn->length, &b);
	for (unsigned int i = 0; i < insn->length / lookup.size; i++)
		look_up(&lookup, i, insn->length / lookup.size, &result);
	run->state.narrowed |= (vector_is_asked(&a) || vector_is_asked(&b)) &&
			       !vector_is_asked(&result);
	vector_apply_mask(run, insn, lookup.size, &result);
	vector_set_result(run, insn, insn->reg, &result);
	return true;
}
