/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Vector instructions by the shape of their encoding (Intel SDM volume 2,
 * sections 2.3 and 2.7): all of EVEX, of which Capstone 4 knows a fraction and
 * takes index registers for vector registers; and the VEX ones that it does
 * not know. Direction and size of the memory operand come from
 * decode-vector-rules.c; what is not there is not decoded, but its length is
 * known.
 */
#include "x86/decode-opcodes.h"
#include "x86/decode-parts.h"

/* The fields of a VEX or EVEX prefix, inverted bits set right. */
struct vector {
	struct prefixes address; /* with REX bits for the address */
	bool evex;
	uint8_t map;
	uint8_t encoding; /* the bit of prefix and W */
	uint8_t opcode;
	uint8_t modrm;
	bool wide; /* W */
	uint8_t length; /* 0, 1, 2: 16, 32, 64 bytes */
	bool broadcast;
	uint8_t mask; /* mask register; 0 is none */
	bool zeroing; /* z */
	bool three_operands; /* vvvv names a register */
	size_t modrm_at;
};

static uint8_t encoding_bit(uint8_t prefix, bool wide)
{
	return (uint8_t)(1 << (prefix * 2 + wide));
}

/* C5 RvvvvLpp, or C4 RXBmmmmm WvvvvLpp. */
static void parse_vex(const uint8_t *vex, struct vector *ret)
{
	bool three = vex[0] == BYTE_VEX3;
	uint8_t last = three ? vex[2] : vex[1];

	ret->map = three ? vex[1] & 31 : MAP_0F;
	ret->wide = three && (last & 0x80) != 0;
	ret->encoding = encoding_bit(last & 3, ret->wide);
	ret->length = (last >> 2) & 1;
	ret->three_operands = (last & 0x78) != 0x78;
	ret->address.rex = 0;
	if (three)
		ret->address.rex = (uint8_t)(~vex[1] >> 5) & (REX_X | REX_B);
}

/* 62 RXBR'0mmm Wvvvv1pp zLLbV'aaa; false if a fixed bit is not as here. */
static bool parse_evex(const uint8_t *evex, struct vector *ret)
{
	ret->map = evex[1] & 7;
	ret->wide = (evex[2] & 0x80) != 0;
	ret->encoding = encoding_bit(evex[2] & 3, ret->wide);
	ret->length = (evex[3] >> 5) & 3;
	ret->broadcast = (evex[3] & 0x10) != 0;
	ret->mask = evex[3] & 7;
	ret->zeroing = (evex[3] & 0x80) != 0;
	ret->address.rex = (uint8_t)(~evex[1] >> 5) & (REX_X | REX_B);
	return (evex[1] & 0x08) == 0 && (evex[2] & 0x04) != 0;
}

static bool parse(const struct prefixes *prefixes, const uint8_t *bytes,
		  size_t size, struct vector *ret)
{
	const uint8_t *at = bytes + prefixes->length;
	size_t left = size - prefixes->length;
	size_t length = at[0] == BYTE_VEX2 ? 2 : at[0] == BYTE_VEX3 ? 3 : 4;

	*ret = (struct vector){ .address = *prefixes };
	if (left < length + 2 ||
	    (at[0] != BYTE_VEX2 && at[0] != BYTE_VEX3 && at[0] != BYTE_EVEX))
		return false;
	/* these prefixes make it undefined */
	if (prefixes->operand16 || prefixes->repeat != 0 || prefixes->lock ||
	    prefixes->rex != 0)
		return false;
	ret->evex = at[0] == BYTE_EVEX;
	if (!ret->evex)
		parse_vex(at, ret);
	else if (!parse_evex(at, ret))
		return false;
	ret->opcode = at[length];
	ret->modrm = at[length + 1];
	ret->modrm_at = prefixes->length + length + 1;
	return ret->map >= MAP_0F && ret->map < MAP_REGISTERS;
}

static bool has_immediate(const struct vector *vector)
{
	uint8_t opcode = vector->opcode;

	if (vector->map != MAP_0F)
		return vector->map == MAP_0F3A;
	return (opcode >= 0x70 && opcode <= 0x73) || opcode == 0xc2 ||
	       opcode == 0xc4 || opcode == 0xc5 || opcode == 0xc6;
}

/* knot, kmov, kortest, ktest: the mask instructions of two operands. */
static bool is_two_operand_mask(const struct vector *vector)
{
	return !vector->evex && vector->map == MAP_0F &&
	       (vector->opcode == 0x44 || vector->opcode >= 0x90);
}

/*
 * Combinations that raise #UD: zeroing without a mask, an operand too many,
 * and the fourth vector length but for registers with a rounding mode, which
 * it then is.
 */
static bool is_undefined(const struct vector *vector)
{
	if (vector->three_operands && is_two_operand_mask(vector))
		return true;
	if (vector->zeroing && vector->mask == 0)
		return true;
	return vector->length == 3 &&
	       (!vector->broadcast || vector->modrm < 0xc0);
}

/* The size of a broadcast element; 0 if the tuple has no broadcast form. */
static uint16_t broadcast_size(const struct vector *vector, uint8_t tuple)
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

static uint16_t memory_size(const struct vector *vector, uint8_t tuple)
{
	uint16_t full = (uint16_t)(16 << vector->length);

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
		return vector->length == 0 ? 8 : full;
	default:
		return tuple;
	}
}

/* What an 8-bit displacement of EVEX is multiplied by. */
static uint16_t displacement_unit(const struct vector *vector, uint8_t tuple)
{
	if (tuple == PACKED)
		return vector->wide ? 8 : 4;
	if (tuple == PACKED_SMALL)
		return vector->wide ? 2 : 1;
	return memory_size(vector, tuple);
}

/*
 * Memory forms with more than one place in memory: gathers, scatters, tiles.
 * Prefetches of a gather or scatter access nothing.
 */
static uint8_t special_refusal(const struct vector *vector, bool *ret_prefetch)
{
	bool unmasked = vector->evex && vector->mask == 0;

	*ret_prefetch = false;
	if (vector->map != MAP_0F38)
		return X86_OK;
	/* all but the tiles have prefix 66 */
	if (vector->opcode >= 0x90 &&
	    (vector->encoding &
	     (encoding_bit(1, false) | encoding_bit(1, true))) == 0)
		return X86_OK;
	switch (vector->opcode) {
	case 0x49:
	case 0x4b:
		return vector->evex ? X86_OK : X86_REFUSED_TILE;
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
static uint8_t fill_memory(const struct vector *vector,
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

bool decode_vector(const struct prefixes *prefixes, const uint8_t *bytes,
		   size_t size, struct insn_access *ret)
{
	const struct vector_rule *rule;
	struct vector vector;
	struct mem_operand operand;
	bool prefetch;
	size_t end;

	if (!parse(prefixes, bytes, size, &vector))
		return false;
	end = decode_address(&vector.address, bytes, size, vector.modrm_at,
			     &operand);
	if (end == 0 || end + has_immediate(&vector) > size)
		return false;
	ret->length = (uint8_t)(end + has_immediate(&vector));
	rule = decode_vector_rule(vector.evex, vector.map, vector.encoding,
				  vector.opcode);
	if (is_undefined(&vector) || (vector.modrm >= 0xc0 && !rule)) {
		ret->refusal = X86_REFUSED_UNDECODABLE;
		return true;
	}
	if (vector.modrm >= 0xc0)
		return true;
	ret->refusal = special_refusal(&vector, &prefetch);
	ret->vector = !prefetch;
	if (ret->refusal == X86_OK && !prefetch)
		ret->refusal = fill_memory(&vector, rule, &operand, ret);
	return true;
}
