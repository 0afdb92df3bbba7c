/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The fields of a vector instruction: legacy SSE, VEX and EVEX in one shape
 * (Intel SDM volume 2, 2.1, 2.3 and 2.7); see uses-parts.h.
 */
#include "x86/uses-parts.h"

#include "x86/decode-parts.h"
#include "x86/decode.h"

/* Where the opcode is; the fields of the prefix are set. */
static size_t read_vex(const uint8_t *vex, struct vector_insn *ret)
{
	bool three = vex[0] == BYTE_VEX3;
	uint8_t last = three ? vex[2] : vex[1];

	ret->vex = true;
	ret->map = three ? vex[1] & 31 : 1;
	ret->prefix = last & 3;
	ret->wide = three && last >> 7;
	ret->length = last & 4 ? 32 : 16;
	ret->second = (uint8_t)(~last >> 3) & 15;
	ret->reg = vex[1] & 0x80 ? 0 : 8;
	ret->rm = three && !(vex[1] & 0x20) ? 8 : 0;
	return three ? 3 : 2;
}

static size_t read_evex(const uint8_t *evex, struct vector_insn *ret)
{
	ret->vex = ret->evex = true;
	ret->map = evex[1] & 7;
	ret->prefix = evex[2] & 3;
	ret->wide = evex[2] >> 7;
	ret->length = 16u << (evex[3] >> 5 & 3);
	ret->second = (uint8_t)((~evex[2] >> 3 & 15) | ((~evex[3] & 8) << 1));
	ret->reg =
		(uint8_t)((evex[1] & 0x80 ? 0 : 8) | (evex[1] & 0x10 ? 0 : 16));
	ret->rm =
		(uint8_t)((evex[1] & 0x20 ? 0 : 8) | (evex[1] & 0x40 ? 0 : 16));
	ret->mask = evex[3] & 7;
	ret->zeroing = evex[3] >> 7;
	ret->broadcast = evex[3] >> 4 & 1;
	return 4;
}

static size_t read_legacy(const struct prefixes *prefixes, const uint8_t *at,
			  size_t left, struct vector_insn *ret)
{
	ret->map = 1;
	if (left > 2 && at[1] == 0x38)
		ret->map = 2;
	else if (left > 2 && at[1] == 0x3a)
		ret->map = 3;
	ret->prefix = prefixes->repeat == 0xf3	 ? 2
		      : prefixes->repeat == 0xf2 ? 3
						 : prefixes->operand16;
	ret->wide = (prefixes->rex & REX_W) != 0;
	ret->length = 16;
	ret->reg = prefixes->rex & REX_R ? 8 : 0;
	ret->rm = prefixes->rex & REX_B ? 8 : 0;
	return ret->map == 1 ? 1 : 2;
}

bool vector_insn_decode(struct decoder *decoder, const uint8_t *bytes,
			size_t size, uint64_t address, struct vector_insn *ret)
{
	struct prefixes prefixes;
	const uint8_t *at;
	size_t left, opcode;

	*ret = (struct vector_insn){ 0 };
	decode_prefixes(bytes, size, &prefixes);
	at = bytes + prefixes.length;
	left = size - prefixes.length;
	if (left < 2)
		return false;
	if (at[0] == BYTE_ESCAPE)
		opcode = read_legacy(&prefixes, at, left, ret);
	else if (left > 4 && (at[0] == BYTE_VEX2 || at[0] == BYTE_VEX3))
		opcode = read_vex(at, ret);
	else if (left > 5 && at[0] == BYTE_EVEX)
		opcode = read_evex(at, ret);
	else
		return false;
	if (left <= opcode)
		return false;
	ret->opcode = at[opcode];
	decoder_decode(decoder, bytes, size, address, &ret->access);
	if (ret->access.refusal == X86_REFUSED_MASKMOV && !ret->evex) {
		/* refused without a word of its address */
		prefixes.rex = ret->rm & 8 ? REX_B : 0;
		if (at[0] == BYTE_VEX3 && !(at[1] & 0x40))
			prefixes.rex |= REX_X;
		decode_address(&prefixes, bytes, size,
			       prefixes.length + opcode + 1,
			       &ret->access.operands[0]);
	}
	if (ret->access.refusal == X86_REFUSED_UNDECODABLE)
		return false;
	/* vzeroupper, and emms */
	if (ret->map == 1 && ret->opcode == 0x77)
		return true;
	if (left <= opcode + 1)
		return false;
	ret->reg |= at[opcode + 1] >> 3 & 7;
	ret->memory = at[opcode + 1] < 0xc0;
	ret->rm |= at[opcode + 1] & 7;
	if (ret->memory || !ret->evex)
		ret->rm &= 15;
	ret->immediate = bytes[ret->access.length - 1];
	if (!ret->vex)
		ret->second = ret->reg;
	return true;
}
