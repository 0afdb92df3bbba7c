/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * An instruction's operands; see operands.h. The plain decoder has no C library, and
 * needs none; of a vector instruction the address is enough.
 */
#include "recorder/valgrind/operands.h"

#include "x86/access.h"
#include "x86/decode-parts.h"

static bool is_on_stack(const struct mem_operand *operand)
{
	return operand->stack ||
	       (operand->base == X86_RSP && operand->index == X86_REG_NONE);
}

static bool vector_is_on_stack(struct prefixes *prefixes, const uint8_t *bytes,
			       size_t size)
{
	struct vector_insn insn;
	struct mem_operand operand;

	if (!decode_encoding(prefixes, bytes, size, &insn) || !insn.memory)
		return false;
	prefixes->rex = insn.rex;
	return decode_modrm_address(prefixes, bytes, size, insn.modrm_at,
				    &operand) != 0 &&
	       is_on_stack(&operand);
}

bool operands_on_stack(const uint8_t *bytes, size_t size)
{
	struct insn_access access = { 0 };
	struct prefixes prefixes;

	decode_prefixes(bytes, size, &prefixes);
	if (!decode_plain(&prefixes, bytes, size, 0, &access))
		return vector_is_on_stack(&prefixes, bytes, size);
	for (int i = 0; i < access.operand_count; i++) {
		if (!is_on_stack(&access.operands[i]))
			return false;
	}
	return access.refusal == X86_OK;
}
