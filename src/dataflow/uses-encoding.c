/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The fields of a vector instruction and what it accesses; see uses-parts.h.
 */
#include "dataflow/uses-parts.h"

#include "x86/decode-parts.h"
#include "x86/decode.h"

bool vector_insn_decode(struct decoder *decoder, const uint8_t *bytes,
			size_t size, uint64_t address, struct vector_insn *ret)
{
	struct prefixes prefixes;

	decode_prefixes(bytes, size, &prefixes);
	if (!decode_encoding(&prefixes, bytes, size, ret))
		return false;
	decoder_decode(decoder, bytes, size, address, &ret->access);
	if (ret->access.refusal == X86_REFUSED_MASKMOV && !ret->evex) {
		/* refused without a word of its address */
		prefixes.rex = ret->rex & (REX_X | REX_B);
		decode_modrm_address(&prefixes, bytes, size, ret->modrm_at,
				     &ret->access.operands[0]);
	}
	if (ret->access.refusal == X86_REFUSED_UNDECODABLE)
		return false;
	/* vzeroupper, and emms */
	if (ret->map == 1 && ret->opcode == 0x77)
		return true;
	if (ret->modrm_at == size)
		return false;
	ret->immediate = bytes[ret->access.length - 1];
	return true;
}
