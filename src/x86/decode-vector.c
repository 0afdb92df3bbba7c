/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Vector instructions by the fields of their encoding: all of EVEX, of which
 * Capstone 4 knows a fraction and takes index registers for vector registers;
 * and the VEX ones that it does not know. Direction and size of the memory operand come from
 * decode-vector-rules.c; what is not there is not decoded, but its length is
 * known.
 */
#include "x86/decode-opcodes.h"
#include "x86/decode-parts.h"

static uint8_t encoding_bit(uint8_t prefix, bool wide)
{
	return (uint8_t)(1 << (prefix * 2 + wide));
}

/*
 * Prefixes before VEX and EVEX that make the instruction undefined, and bits of
 * EVEX and maps that have no meaning.
 */
static bool is_malformed(const struct prefixes *prefixes, const uint8_t *bytes,
			 const struct vector_insn *vector)
{
	const uint8_t *at = bytes + prefixes->length;

	if (prefixes->operand16 || prefixes->repeat != 0 || prefixes->lock ||
	    prefixes->rex != 0)
		return true;
	if (vector->evex && ((at[1] & 0x08) != 0 || (at[2] & 0x04) == 0))
		return true;
	return vector->map < MAP_0F || vector->map >= MAP_REGISTERS;
}

static bool has_immediate(const struct vector_insn *vector)
{
	uint8_t opcode = vector->opcode;

	if (vector->map != MAP_0F)
		return vector->map == MAP_0F3A;
	return (opcode >= 0x70 && opcode <= 0x73) || opcode == 0xc2 ||
	       opcode == 0xc4 || opcode == 0xc5 || opcode == 0xc6;
}

/* knot, kmov, kortest, ktest: the mask instructions of two operands. */
static bool is_two_operand_mask(const struct vector_insn *vector)
{
	return !vector->evex && vector->map == MAP_0F &&
	       (vector->opcode == 0x44 || vector->opcode >= 0x90);
}

/*
 * Combinations that raise #UD: zeroing without a mask, an operand too many,
 * and the fourth vector length but for registers with a rounding mode, which
 * it then is.
 */
static bool is_undefined(const struct vector_insn *vector)
{
	if (vector->second != 0 && is_two_operand_mask(vector))
		return true;
	if (vector->zeroing && vector->mask == 0)
		return true;
	return vector->length > X86_ACCESS_MAX &&
	       (!vector->broadcast || vector->memory);
}

/* The size of a broadcast element; 0 if the tuple has no broadcast form. */
static uint16_t broadcast_size(const struct vector_insn *vector, uint8_t tuple)
{
	switch (tuple) {
	case FULL_B:
		return vector->wide ? 8 : 4;
	case HALF_B4:
		return 4;
	case FULL_B2:
	case HALF_B2:
	case QUARTER_B2:
		return 2;
	default:
		return 0;
	}
}

static uint16_t memory_size(const struct vector_insn *vector, uint8_t tuple)
{
	uint16_t full = (uint16_t)vector->length;

	if (vector->broadcast)
		return broadcast_size(vector, tuple);
	switch (tuple) {
	case FULL:
	case FULL_B:
	case FULL_B2:
	case PACKED:
	case PACKED_SMALL:
		return full;
	case HALF:
	case HALF_B4:
	case HALF_B2:
		return full / 2;
	case QUARTER:
	case QUARTER_B2:
		return full / 4;
	case EIGHTH:
		return full / 8;
	case DUPLICATE:
		return full == 16 ? 8 : full;
	default:
		return tuple;
	}
}

/* What an 8-bit displacement of EVEX is multiplied by. */
static uint16_t displacement_unit(const struct vector_insn *vector,
				  uint8_t tuple)
{
	if (tuple == PACKED)
		return vector->wide ? 8 : 4;
	if (tuple == PACKED_SMALL)
		return vector->wide ? 2 : 1;
	return memory_size(vector, tuple);
}

static bool is_tile(const struct vector_insn *vector)
{
	return !vector->evex && vector->map == MAP_0F38 &&
	       (vector->opcode == 0x49 || vector->opcode == 0x4b);
}

/*
 * Memory forms with more than one place in memory: gathers, scatters, tiles.
 * Prefetches of a gather or scatter access nothing.
 */
static uint8_t special_refusal(const struct vector_insn *vector,
			       bool *ret_prefetch)
{
	bool unmasked = vector->evex && vector->mask == 0;

	*ret_prefetch = false;
	if (vector->map != MAP_0F38)
		return X86_OK;
	/* all but the tiles have prefix 66 */
	if (vector->opcode >= 0x90 && vector->prefix != 1)
		return X86_OK;
	if (is_tile(vector))
		return X86_REFUSED_TILE;
	switch (vector->opcode) {
	case 0x90 ... 0x93:
		return unmasked ? X86_REFUSED_UNDECODABLE : X86_REFUSED_GATHER;
	case 0xa0 ... 0xa3:
		return unmasked ? X86_REFUSED_UNDECODABLE : X86_REFUSED_SCATTER;
	case 0xc6 ... 0xc7:
		*ret_prefetch = vector->evex;
		return X86_OK;
	default:
		return X86_OK;
	}
}

/* The memory operand, whose address is in *operand; or why there is none. */
static uint8_t fill_memory(const struct vector_insn *vector,
			   const struct vector_rule *rule,
			   const struct mem_operand *operand,
			   struct insn_access *ret)
{
	struct mem_operand *memory = &ret->operands[0];

	if (!rule || memory_size(vector, rule->tuple) == 0)
		return X86_REFUSED_UNDECODABLE;
	*memory = *operand;
	memory->kind = rule->kind;
	memory->size = memory_size(vector, rule->tuple);
	if (vector->evex && (vector->modrm & 0xc0) == 0x40) {
		memory->disp *= displacement_unit(vector, rule->tuple);
		memory->disp32 = (int32_t)memory->disp;
	}
	/* which of its elements are accessed, only the mask register tells */
	if (vector->mask != 0)
		return X86_REFUSED_MASKMOV;
	ret->operand_count = 1;
	return X86_OK;
}

/* A valid instruction of a rule, or one that is refused. */
static void fill(const struct vector_insn *vector,
		 const struct vector_rule *rule,
		 const struct mem_operand *operand, struct insn_access *ret)
{
	bool prefetch;

	ret->refusal = X86_OK;
	if (!vector->memory)
		return;
	ret->refusal = special_refusal(vector, &prefetch);
	ret->vector = !prefetch;
	if (ret->refusal == X86_OK && !prefetch)
		ret->refusal = fill_memory(vector, rule, operand, ret);
}

bool decode_vector(const struct prefixes *prefixes, const uint8_t *bytes,
		   size_t size, struct insn_access *ret)
{
	struct prefixes address = *prefixes;
	const struct vector_rule *rule;
	struct vector_insn vector;
	struct mem_operand operand;
	size_t end;

	if (!decode_encoding(prefixes, bytes, size, &vector) ||
	    is_malformed(prefixes, bytes, &vector))
		return false;
	address.rex = vector.rex & (REX_X | REX_B);
	end = decode_modrm_address(&address, bytes, size, vector.modrm_at,
				   &operand);
	if (end == 0 || end + has_immediate(&vector) > size)
		return false;
	ret->length = (uint8_t)(end + has_immediate(&vector));
	ret->refusal = X86_REFUSED_UNDECODABLE;
	rule = decode_vector_rule(vector.evex, vector.map,
				  encoding_bit(vector.prefix, vector.wide),
				  vector.opcode);
	if (!vector.evex && !rule && !is_tile(&vector))
		return false;
	if (!is_undefined(&vector) && (vector.memory || rule))
		fill(&vector, rule, &operand, ret);
	return true;
}
