/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Instructions on vector registers: what goes where. Moves are in uses-moves.c,
 * the operations themselves in uses-elements.c. See uses-parts.h.
 */
#include "dataflow/uses-parts.h"

#include <string.h>

/* The sign bits of the elements into a general register. */
static bool step_signs(struct uses_run *run, const struct vector_insn *insn)
{
	unsigned int element = 1;
	uint64_t parts[3] = { 0 };
	const struct vector *from = &run->state.vectors[insn->rm];
	const uint8_t *bytes[3] = { from->value, from->asked, from->unknown };
	struct number number;

	if (insn->map != 1 || insn->memory)
		return false;
	if (insn->opcode == 0x50 && insn->prefix <= 1)
		element = insn->prefix == 1 ? 8 : 4;
	else if (insn->opcode != 0xd7 || insn->prefix != 1)
		return false;
	for (unsigned int i = 0; i < insn->length / element; i++) {
		for (int part = 0; part < 3; part++) {
			uint64_t bit = bytes[part][(i + 1) * element - 1] >> 7;

			parts[part] |= bit << i;
		}
	}
	number = number_of_bits(parts[0], parts[1], parts[2]);
	if (number.asked != 0)
		run->state.searched = true;
	uses_set_gpr(run, insn->reg & 15, &number, 4);
	return true;
}

static enum tri vector_is_zero(const struct vector *vector, unsigned int size)
{
	enum tri zero = TRI_YES;

	for (unsigned int i = 0; i < size; i++) {
		struct number byte = number_of_bits(
			vector->value[i], vector->asked[i], vector->unknown[i]);

		if (byte.value != 0)
			return TRI_NO;
		if (!number_is_known(&byte))
			zero = zero == TRI_YES || zero == number_tri(&byte)
				       ? number_tri(&byte)
				       : TRI_VAGUE;
	}
	return zero;
}

static bool step_test(struct uses_run *run, const struct vector_insn *insn)
{
	struct vector_insn logic = *insn;
	struct vector a = run->state.vectors[insn->reg], b, both, other;
	struct number zero = number_known(0);
	struct flags *flags = &run->state.flags;

	if (insn->map != 2 || insn->opcode != 0x17 || insn->prefix != 1)
		return false;
	uses_source(run, insn, insn->length, &b);
	logic.map = 1;
	logic.opcode = 0xdb;
	vector_combine(&logic, &a, &b, &both);
	logic.opcode = 0xdf;
	vector_combine(&logic, &a, &b, &other);
	flags_logic(flags, &zero, 4);
	flags->zero = (uint8_t)vector_is_zero(&both, insn->length);
	flags->carry = (uint8_t)vector_is_zero(&other, insn->length);
	for (unsigned int i = 0; i < insn->length; i++)
		flags->asked |= (a.asked[i] | b.asked[i]) != 0;
	run->state.searched |= flags->asked;
	return true;
}

/* vpternlog: any function of three bits. */
static bool step_ternary(struct uses_run *run, const struct vector_insn *insn)
{
	const struct vector *from[3] = { &run->state.vectors[insn->reg],
					 &run->state.vectors[insn->second] };
	struct vector third, result = { 0 };

	if (insn->map != 3 || insn->opcode != 0x25 || !insn->evex)
		return false;
	uses_source(run, insn, insn->length, &third);
	from[2] = &third;
	for (unsigned int bit = 0; bit < 8 * insn->length; bit++) {
		unsigned int at = bit / 8, seen = 0;
		uint8_t one = (uint8_t)(1 << bit % 8), asked = 0, unknown = 0;

		for (unsigned int row = 0; row < 8; row++) {
			bool fits = true;

			for (unsigned int i = 0; i < 3; i++) {
				bool open = (from[i]->asked[at] |
					     from[i]->unknown[at]) &
					    one;
				bool set = from[i]->value[at] & one;

				fits &= open || set == (row >> (2 - i) & 1);
			}
			if (fits)
				seen |= 1u << (insn->immediate >> row & 1);
		}
		for (unsigned int i = 0; i < 3; i++) {
			asked |= from[i]->asked[at] & one;
			unknown |= from[i]->unknown[at] & one;
		}
		if (seen == 3) {
			result.asked[at] |= asked;
			result.unknown[at] |= unknown;
		} else if (seen == 2) {
			result.value[at] |= one;
		}
	}
	vector_apply_mask(run, insn, insn->wide ? 8 : 4, &result);
	vector_set_result(run, insn, insn->reg, &result);
	return true;
}

/* 16 or 32 bytes of a vector: vextracti128, vinserti128 and the like. */
static bool step_lanes(struct uses_run *run, const struct vector_insn *insn)
{
	unsigned int size = insn->opcode & 2 ? 32 : 16, at;
	bool takes = insn->opcode & 1;
	struct vector source, result = { 0 };

	if (insn->map != 3 || insn->prefix != 1 ||
	    ((insn->opcode & 0xdc) != 0x18) || size >= insn->length ||
	    (insn->mask != 0 && takes))
		return false;
	at = size * (insn->immediate & (insn->length / size - 1));
	if (takes && insn->memory)
		return false;
	if (takes) {
		source = run->state.vectors[insn->reg];
		vector_copy(&result, 0, &source, at, size);
		uses_set_vector(run, insn->rm, &result);
		return true;
	}
	uses_source(run, insn, size, &source);
	result = run->state.vectors[insn->second];
	vector_copy(&result, at, &source, 0, size);
	vector_apply_mask(run, insn, insn->wide ? 8 : 4, &result);
	vector_set_result(run, insn, insn->reg, &result);
	return true;
}

/* vzeroupper, vzeroall */
static bool step_zero(struct uses_run *run, const struct vector_insn *insn)
{
	unsigned int from = insn->length == 32 ? 0 : 16;

	if (insn->map != 1 || insn->opcode != 0x77 || !insn->vex)
		return false;
	for (int i = 0; i < 16; i++) {
		struct vector *vector = &run->state.vectors[i];

		memset(vector->value + from, 0, X86_VECTOR_BYTES - from);
		memset(vector->asked + from, 0, X86_VECTOR_BYTES - from);
		memset(vector->unknown + from, 0, X86_VECTOR_BYTES - from);
	}
	return true;
}

/* One source and a register: comparisons, arithmetic, shuffles. */
static bool step_two(struct uses_run *run, const struct vector_insn *insn)
{
	const struct vector *a = &run->state.vectors[insn->second];
	struct vector b, result;
	struct number bits;

	/* is it one at all? loads are made once, and only then */
	if (!vector_compare(insn, a, a, &bits) &&
	    !vector_combine(insn, a, a, &result))
		return false;
	uses_source(run, insn, insn->length, &b);
	if (insn->evex && vector_compare(insn, a, &b, &bits)) {
		run->state.searched |= vector_is_asked(a) ||
				       vector_is_asked(&b);
		if (insn->mask != 0)
			bits = number_and(&bits, &run->state.masks[insn->mask]);
		uses_set_mask(run, insn->reg, &bits);
		return true;
	}
	if (!vector_combine(insn, a, &b, &result))
		return false;
	if (insn->mask != 0) {
		bool bytes = insn->map == 1 &&
			     ((insn->opcode & 7) == 2 || insn->opcode == 0xde ||
			      insn->opcode == 0xf8 || insn->opcode == 0xfc ||
			      insn->opcode == 0xd8 || insn->opcode == 0xdc);

		vector_apply_mask(run, insn,
				  bytes	       ? 1
				  : insn->wide ? 8
					       : 4,
				  &result);
	}
	run->state.narrowed |= (vector_is_asked(a) || vector_is_asked(&b)) &&
			       !vector_is_asked(&result);
	vector_set_result(run, insn, insn->reg, &result);
	return true;
}

bool uses_vector(struct uses_run *run, const uint8_t *bytes, size_t size)
{
	bool (*const steps[])(struct uses_run * run,
			      const struct vector_insn *insn) = {
		uses_mask,	vector_move,	  vector_transfer,
		vector_half,	vector_broadcast, step_signs,
		step_test,	step_ternary,	  step_lanes,
		step_zero,	uses_text,	  step_two,
		vector_arrange, vector_look_up,	  vector_shift,
		vector_pack,	vector_resize,	  vector_blend,
		vector_opaque,	vector_scalar,	  vector_single,
	};
	struct vector_insn insn;

	if (!vector_insn_decode(run->thread->decoder, bytes, size,
				run->state.rip, &insn))
		return false;
	if (insn.memory && insn.access.operand_count == 0 &&
	    insn.access.operands[0].size == 0)
		return false;
	for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
		if (steps[i](run, &insn))
			return true;
	}
	return false;
}
