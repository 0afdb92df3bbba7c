/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Loads, stores and copies of vector registers, with masks; see uses-parts.h.
 */
#include "dataflow/uses-parts.h"

#include <string.h>

/* Bits that a masked instruction takes from the old value of its register. */
static struct number mask_bit(const struct uses_run *run,
			      const struct vector_insn *insn, unsigned int i)
{
	const struct number *mask = &run->state.masks[insn->mask];
	uint64_t bit = UINT64_C(1) << i;

	return number_of_bits(mask->value & bit, mask->asked & bit,
			      mask->unknown & bit);
}

static void vector_lost(struct vector *vector, unsigned int at,
			unsigned int size, enum tri why)
{
	for (unsigned int i = at; i < at + size; i++) {
		vector->value[i] = 0;
		if (why != TRI_UNKNOWN)
			vector->asked[i] = 0xff;
		if (why != TRI_ASKED)
			vector->unknown[i] = 0xff;
	}
}

/* What the mask leaves out becomes zero, or stays as it was. */
void vector_apply_mask(const struct uses_run *run,
		       const struct vector_insn *insn, unsigned int element,
		       struct vector *vector)
{
	const struct vector *old = &run->state.vectors[insn->reg];

	if (insn->mask == 0)
		return;
	for (unsigned int i = 0; i < insn->length / element; i++) {
		struct number bit = mask_bit(run, insn, i);
		unsigned int at = i * element;

		if (bit.value != 0)
			continue;
		if (!number_is_known(&bit)) {
			vector_lost(vector, at, element, number_tri(&bit));
			continue;
		}
		memset(vector->value + at, 0, element);
		memset(vector->asked + at, 0, element);
		memset(vector->unknown + at, 0, element);
		if (insn->zeroing)
			continue;
		memcpy(vector->value + at, old->value + at, element);
		memcpy(vector->asked + at, old->asked + at, element);
		memcpy(vector->unknown + at, old->unknown + at, element);
	}
}

/* The result; legacy instructions leave what is above 16 bytes. */
void vector_set_result(struct uses_run *run, const struct vector_insn *insn,
		       uint8_t reg, const struct vector *result)
{
	struct vector all = { 0 };
	unsigned int length = insn->length;

	if (!insn->vex)
		all = run->state.vectors[reg];
	memcpy(all.value, result->value, length);
	memcpy(all.asked, result->asked, length);
	memcpy(all.unknown, result->unknown, length);
	uses_set_vector(run, reg, &all);
}

static void load_rm(struct uses_run *run, const struct vector_insn *insn,
		    unsigned int size, struct vector *ret)
{
	struct number address =
		uses_address(run, &insn->access, &insn->access.operands[0]);

	uses_load(run, &address, size, ret);
}

void uses_source(struct uses_run *run, const struct vector_insn *insn,
		 unsigned int size, struct vector *ret)
{
	unsigned int element = insn->wide ? 8 : 4;

	if (!insn->memory) {
		*ret = run->state.vectors[insn->rm];
		return;
	}
	if (!insn->broadcast) {
		load_rm(run, insn, size, ret);
		return;
	}
	load_rm(run, insn, element, ret);
	for (unsigned int i = element; i < size; i++) {
		ret->value[i] = ret->value[i % element];
		ret->asked[i] = ret->asked[i % element];
		ret->unknown[i] = ret->unknown[i % element];
	}
}

/* How a move is told: by what it moves and to where. */
enum move { MOVE_NONE, MOVE_LOAD, MOVE_STORE, MOVE_LOW, MOVE_STORE_LOW };

static enum move find_move(const struct vector_insn *insn,
			   unsigned int *ret_size)
{
	bool scalar = insn->prefix >= 2;

	*ret_size = insn->length;
	if (insn->map == 2)
		return insn->opcode == 0x2a && insn->prefix == 1 ? MOVE_LOAD
								 : MOVE_NONE;
	if (insn->map != 1)
		return MOVE_NONE;
	switch (insn->opcode) {
	case 0x10:
	case 0x11:
		if (scalar)
			*ret_size = insn->prefix == 2 ? 4 : 8;
		if (scalar)
			return insn->opcode == 0x10 ? MOVE_LOW : MOVE_STORE_LOW;
		return insn->opcode == 0x10 ? MOVE_LOAD : MOVE_STORE;
	case 0x28:
		return MOVE_LOAD;
	case 0x6f:
		return insn->prefix != 0 ? MOVE_LOAD : MOVE_NONE;
	case 0xf0:
		return insn->prefix == 3 ? MOVE_LOAD : MOVE_NONE;
	case 0x29:
	case 0x2b:
		return MOVE_STORE;
	case 0x7f:
	case 0xe7:
		return insn->prefix != 0 ? MOVE_STORE : MOVE_NONE;
	case 0x7e:
		*ret_size = 8;
		return insn->prefix == 2 ? MOVE_LOW : MOVE_NONE;
	case 0xd6:
		*ret_size = 8;
		return insn->prefix == 1 ? MOVE_STORE_LOW : MOVE_NONE;
	default:
		return MOVE_NONE;
	}
}

/* Of a masked move. */
static unsigned int move_element(const struct vector_insn *insn)
{
	if (insn->opcode == 0x6f || insn->opcode == 0x7f)
		return insn->prefix == 3 ? (insn->wide ? 2 : 1)
					 : (insn->wide ? 8 : 4);
	return insn->prefix == 1 ? 8 : 4;
}

static void move_store(struct uses_run *run, const struct vector_insn *insn,
		       unsigned int size)
{
	struct number address =
		uses_address(run, &insn->access, &insn->access.operands[0]);

	if (insn->mask != 0)
		uses_give_up(run);
	else
		uses_store(run, &address, &run->state.vectors[insn->reg], size);
}

/*
 * One number, from memory or a register. Above it is zero, but for movss and
 * movsd between registers, which take that from the first source.
 */
static void move_low(struct uses_run *run, const struct vector_insn *insn,
		     unsigned int size)
{
	struct vector source, ret = { 0 };
	struct vector_insn one = *insn, whole = *insn;
	bool beside = !insn->memory && insn->opcode == 0x10;

	uses_source(run, insn, size, &source);
	one.length = size;
	vector_apply_mask(run, &one, size, &source);
	whole.length = 16;
	if (beside)
		ret = run->state.vectors[insn->vex ? insn->second : insn->reg];
	vector_copy(&ret, 0, &source, 0, size);
	vector_set_result(run, &whole, insn->reg, &ret);
}

bool vector_move(struct uses_run *run, const struct vector_insn *insn)
{
	struct vector source;
	unsigned int size;
	enum move move = find_move(insn, &size);
	bool stores = move == MOVE_STORE || move == MOVE_STORE_LOW;

	if (move == MOVE_NONE)
		return false;
	if (stores && insn->memory) {
		move_store(run, insn, size);
		return true;
	}
	if (stores && (insn->mask != 0 || move == MOVE_STORE_LOW))
		return false;
	if (stores) {
		source = run->state.vectors[insn->reg];
		vector_set_result(run, insn, insn->rm, &source);
		return true;
	}
	if (move == MOVE_LOW) {
		move_low(run, insn, size);
		return true;
	}
	uses_source(run, insn, size, &source);
	vector_apply_mask(run, insn, move_element(insn), &source);
	vector_set_result(run, insn, insn->reg, &source);
	return true;
}

/* movd, movq: between general and vector registers, and memory. */
bool vector_transfer(struct uses_run *run, const struct vector_insn *insn)
{
	unsigned int size = insn->wide ? 8 : 4;
	struct vector vector = { 0 };
	struct number number;

	if (insn->map != 1 || insn->prefix != 1)
		return false;
	if (insn->opcode == 0x6e) {
		if (insn->memory) {
			load_rm(run, insn, size, &vector);
		} else {
			number = number_cut(&run->state.gpr[insn->rm & 15],
					    size);
			memcpy(vector.value, &number.value, size);
			memcpy(vector.asked, &number.asked, size);
			memcpy(vector.unknown, &number.unknown, size);
		}
		vector_set_result(run, insn, insn->reg, &vector);
		return true;
	}
	if (insn->opcode != 0x7e)
		return false;
	if (insn->memory) {
		move_store(run, insn, size);
		return true;
	}
	vector = run->state.vectors[insn->reg];
	number = number_known(0);
	memcpy(&number.value, vector.value, size);
	memcpy(&number.asked, vector.asked, size);
	memcpy(&number.unknown, vector.unknown, size);
	number = number_of_bits(number.value, number.asked, number.unknown);
	uses_set_gpr(run, insn->rm & 15, &number, size);
	return true;
}

/* Half of a register from memory, or to it: movlps, movhps and the like. */
bool vector_half(struct uses_run *run, const struct vector_insn *insn)
{
	bool high = insn->opcode >= 0x16;
	struct vector half, result = run->state.vectors[insn->second];
	unsigned int at = high ? 8 : 0;

	if (insn->map != 1 || insn->prefix > 1 || !insn->memory ||
	    (insn->opcode & 0xfa) != 0x12)
		return false;
	if (insn->opcode & 1) {
		struct number address = uses_address(run, &insn->access,
						     &insn->access.operands[0]);

		result = run->state.vectors[insn->reg];
		memmove(result.value, result.value + at, 8);
		memmove(result.asked, result.asked + at, 8);
		memmove(result.unknown, result.unknown + at, 8);
		uses_store(run, &address, &result, 8);
		return true;
	}
	load_rm(run, insn, 8, &half);
	memcpy(result.value + at, half.value, 8);
	memcpy(result.asked + at, half.asked, 8);
	memcpy(result.unknown + at, half.unknown, 8);
	vector_set_result(run, insn, insn->reg, &result);
	return true;
}

/* One element to all places. */
bool vector_broadcast(struct uses_run *run, const struct vector_insn *insn)
{
	struct vector source = { 0 }, result = { 0 };
	unsigned int element;

	if (insn->map != 2 || insn->prefix != 1 || !insn->vex)
		return false;
	switch (insn->opcode) {
	case 0x78:
	case 0x7a:
		element = 1;
		break;
	case 0x79:
	case 0x7b:
		element = 2;
		break;
	case 0x18:
	case 0x58:
		element = 4;
		break;
	case 0x19:
	case 0x59:
		element = 8;
		break;
	case 0x7c:
		element = insn->wide ? 8 : 4;
		break;
	case 0x1a:
	case 0x5a:
		element = 16;
		break;
	case 0x1b:
	case 0x5b:
		element = 32;
		break;
	default:
		return false;
	}
	if (insn->opcode >= 0x7a) {
		const struct number *gpr = &run->state.gpr[insn->rm & 15];

		memcpy(source.value, &gpr->value, 8);
		memcpy(source.asked, &gpr->asked, 8);
		memcpy(source.unknown, &gpr->unknown, 8);
	} else {
		uses_source(run, insn, element, &source);
	}
	for (unsigned int i = 0; i < insn->length; i++) {
		result.value[i] = source.value[i % element];
		result.asked[i] = source.asked[i % element];
		result.unknown[i] = source.unknown[i % element];
	}
	/* groups of elements are broadcast, each has its bit of the mask */
	if (element > 4)
		element = insn->wide ? 8 : 4;
	vector_apply_mask(run, insn, element, &result);
	vector_set_result(run, insn, insn->reg, &result);
	return true;
}
