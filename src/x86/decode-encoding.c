/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The fields of a vector instruction: legacy SSE, VEX and EVEX in one shape
 * (Intel SDM volume 2, sections 2.1, 2.3 and 2.7).
 */
#include "x86/decode-parts.h"

/* C5 RvvvvLpp, or C4 RXBmmmmm WvvvvLpp. Returns where the opcode is. */
static size_t read_vex(const uint8_t *vex, struct vector_insn *ret)
{
	bool three = vex[0] == BYTE_VEX3;
	uint8_t last = three ? vex[2] : vex[1];

	ret->vex = true;
	ret->map = three ? vex[1] & 31 : 1;
	ret->prefix = last & 3;
	ret->wide = three && last >> 7;
	ret->length = 16u << (last >> 2 & 1);
	ret->second = (uint8_t)(~last >> 3 & 15);
	ret->rex = (uint8_t)(~vex[1] >> 5) &
		   (three ? REX_R | REX_X | REX_B : REX_R);
	return three ? 3 : 2;
}

/* 62 RXBR'0mmm Wvvvv1pp zLLbV'aaa. Returns where the opcode is. */
static size_t read_evex(const uint8_t *evex, struct vector_insn *ret)
{
	ret->vex = ret->evex = true;
	ret->map = evex[1] & 7;
	ret->prefix = evex[2] & 3;
	ret->wide = evex[2] >> 7;
	ret->length = 16u << (evex[3] >> 5 & 3);
	ret->second = (uint8_t)((~evex[2] >> 3 & 15) | ((~evex[3] & 8) << 1));
	ret->reg = evex[1] & 0x10 ? 0 : 16;
	ret->rex = (uint8_t)(~evex[1] >> 5) & (REX_R | REX_X | REX_B);
	ret->mask = evex[3] & 7;
	ret->zeroing = evex[3] >> 7;
	ret->broadcast = evex[3] >> 4 & 1;
	return 4;
}

static size_t read_legacy(const struct prefixes *prefixes, const uint8_t *at,
			  struct vector_insn *ret)
{
	ret->map = at[1] == 0x38 ? 2 : at[1] == 0x3a ? 3 : 1;
	ret->prefix = prefixes->operand16;
	if (prefixes->repeat != 0)
		ret->prefix = prefixes->repeat == 0xf3 ? 2 : 3;
	ret->wide = (prefixes->rex & REX_W) != 0;
	ret->length = 16;
	ret->rex = prefixes->rex & (REX_R | REX_X | REX_B);
	return ret->map == 1 ? 1 : 2;
}

bool decode_encoding(const struct prefixes *prefixes, const uint8_t *bytes,
		     size_t size, struct vector_insn *ret)
{
	const uint8_t *at = bytes + prefixes->length;
	size_t left = size - prefixes->length, opcode;

	*ret = (struct vector_insn){ 0 };
	if (left > 1 && at[0] == BYTE_ESCAPE)
		opcode = read_legacy(prefixes, at, ret);
	else if (left > 2 && (at[0] == BYTE_VEX2 || at[0] == BYTE_VEX3))
		opcode = read_vex(at, ret);
	else if (left > 3 && at[0] == BYTE_EVEX)
		opcode = read_evex(at, ret);
	else
		return false;
	if (left <= opcode)
		return false;
	ret->opcode = at[opcode];
	ret->modrm_at = (uint8_t)(prefixes->length + opcode + 1);
	/* vzeroupper and emms have no ModRM byte */
	if (ret->modrm_at == size || (ret->map == 1 && ret->opcode == 0x77))
		return true;
	ret->modrm = bytes[ret->modrm_at];
	ret->memory = ret->modrm < 0xc0;
	ret->reg |= (ret->modrm >> 3 & 7) | (ret->rex & REX_R ? 8 : 0);
	ret->rm = (ret->modrm & 7) | (ret->rex & REX_B ? 8 : 0);
	if (ret->evex && !ret->memory && ret->rex & REX_X)
		ret->rm |= 16;
	if (!ret->vex)
		ret->second = ret->reg;
	return true;
}
