/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Instructions on mask registers (VEX, opcodes 41 to 4b and 90 to 99); see
 * uses-parts.h.
 */
#include "dataflow/uses-parts.h"

/* Bytes of the registers: kmovw, kmovb, kmovq, kmovd and so on. */
static unsigned int mask_size(const struct vector_insn *insn)
{
	if (insn->opcode == 0x92 || insn->opcode == 0x93)
		return insn->prefix == 3   ? (insn->wide ? 8 : 4)
		       : insn->prefix == 1 ? 1
					   : 2;
	if (insn->prefix == 1)
		return insn->wide ? 4 : 1;
	return insn->wide ? 8 : 2;
}

static void mask_move(struct uses_run *run, const struct vector_insn *insn)
{
	unsigned int size = mask_size(insn);
	struct uses_state *state = &run->state;
	struct number number;

	switch (insn->opcode) {
	case 0x90:
		if (insn->memory) {
			number = uses_address(run, &insn->access,
					      &insn->access.operands[0]);
			number = uses_load_number(run, &number, size);
		} else {
			number = number_cut(&state->masks[insn->rm & 7], size);
		}
		uses_set_mask(run, insn->reg, &number);
		break;
	case 0x91:
		number = uses_address(run, &insn->access,
				      &insn->access.operands[0]);
		uses_store_number(run, &number, &state->masks[insn->reg & 7],
				  size);
		break;
	case 0x92:
		number = number_cut(&state->gpr[insn->rm & 15], size);
		uses_set_mask(run, insn->reg, &number);
		break;
	default:
		number = number_cut(&state->masks[insn->rm & 7], size);
		if (number.asked != 0)
			state->searched = true;
		uses_set_gpr(run, insn->reg & 15, &number, size == 8 ? 8 : 4);
		break;
	}
}

static bool mask_combine(struct uses_run *run, const struct vector_insn *insn)
{
	const struct number *a = &run->state.masks[insn->second & 7];
	const struct number *b = &run->state.masks[insn->rm & 7];
	unsigned int size = mask_size(insn);
	struct number ret;

	switch (insn->opcode) {
	case 0x41:
		ret = number_and(a, b);
		break;
	case 0x42:
		ret = number_not(a, size);
		ret = number_and(&ret, b);
		break;
	case 0x44:
		ret = number_not(b, size);
		break;
	case 0x45:
		ret = number_or(a, b);
		break;
	case 0x46:
		ret = number_known(0);
		if (insn->second != insn->rm)
			ret = number_xor(a, b);
		ret = number_not(&ret, size);
		break;
	case 0x47:
		ret = number_known(0);
		if (insn->second != insn->rm)
			ret = number_xor(a, b);
		break;
	case 0x4a:
		ret = number_add(a, b, size);
		break;
	case 0x4b: {
		unsigned int half = insn->prefix == 1 ? 1 : insn->wide ? 4 : 2;
		struct number high = number_shift(a, 8 * (int)half, 2 * half);

		size = 2 * half;
		ret = number_cut(b, half);
		ret = number_or(&ret, &high);
		break;
	}
	default:
		return false;
	}
	ret = number_cut(&ret, size);
	uses_set_mask(run, insn->reg, &ret);
	return true;
}

static void mask_test(struct uses_run *run, const struct vector_insn *insn)
{
	struct flags *flags = &run->state.flags;
	unsigned int size = mask_size(insn);
	struct number a = number_cut(&run->state.masks[insn->reg & 7], size);
	struct number b = number_cut(&run->state.masks[insn->rm & 7], size);
	struct number result, other;

	if (insn->opcode == 0x98) {
		result = number_or(&a, &b);
		other = number_not(&result, size);
	} else {
		result = number_and(&a, &b);
		other = number_not(&a, size);
		other = number_and(&other, &b);
	}
	if ((result.asked | other.asked) != 0)
		run->state.searched = true;
	flags_result(flags, &result, size, number_is_zero(&other), TRI_NO);
	flags->sign = flags->parity = TRI_NO;
	flags->asked |= (a.asked | b.asked) != 0;
}

static bool mask_shift(struct uses_run *run, const struct vector_insn *insn)
{
	unsigned int size = (insn->opcode & 1 ? 4u : 1u) << insn->wide;
	struct number number =
		number_cut(&run->state.masks[insn->rm & 7], size);
	int by = insn->immediate;

	if (insn->prefix != 1)
		return false;
	number = number_shift(&number, insn->opcode >= 0x32 ? by : -by, size);
	uses_set_mask(run, insn->reg, &number);
	return true;
}

bool uses_mask(struct uses_run *run, const struct vector_insn *insn)
{
	if (!insn->vex || insn->evex)
		return false;
	if (insn->map == 3 && insn->opcode >= 0x30 && insn->opcode <= 0x33)
		return mask_shift(run, insn);
	if (insn->map != 1)
		return false;
	if (insn->opcode >= 0x90 && insn->opcode <= 0x93) {
		mask_move(run, insn);
		return true;
	}
	if (insn->opcode == 0x98 || insn->opcode == 0x99) {
		mask_test(run, insn);
		return true;
	}
	return mask_combine(run, insn);
}
