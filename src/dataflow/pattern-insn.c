/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Instructions as the code patterns want them, and what is noted of the value;
 * see pattern-parts.h.
 */
#include "dataflow/pattern-parts.h"

#include <string.h>

#include "x86/decode-capstone.h"
#include "x86/decode-parts.h"
#include "x86/decode.h"

uint64_t pattern_mask(unsigned int bytes)
{
	return bytes >= 8 ? UINT64_MAX : (UINT64_C(1) << (8 * bytes)) - 1;
}

int64_t pattern_signed(int64_t number, unsigned int bytes)
{
	uint64_t top = UINT64_C(1) << (8 * bytes - 1);
	uint64_t bits = (uint64_t)number & pattern_mask(bytes);

	return bytes >= 8 ? number : (int64_t)((bits ^ top) - top);
}

struct cs_insn *pattern_decode(const struct follow *follow, uint64_t address)
{
	uint64_t offset = address - follow->start;
	const uint8_t *at;
	size_t left;

	if (offset >= follow->size)
		return NULL;
	at = follow->bytes + offset;
	left = follow->size - offset;
	if (!cs_disasm_iter(follow->decoder->capstone, &at, &left, &address,
			    follow->decoder->insn))
		return NULL;
	return follow->decoder->insn;
}

void pattern_access(const struct follow *follow, uint64_t address,
		    struct insn_access *ret)
{
	size_t at = address - follow->start;

	decoder_decode(follow->decoder, follow->bytes + at, follow->size - at,
		       address, ret);
}

uint64_t pattern_next(const struct cs_insn *insn)
{
	return insn->address + insn->size;
}

uint8_t pattern_register(const struct cs_insn *insn, int i)
{
	const cs_x86 *x86 = &insn->detail->x86;

	if (i >= x86->op_count || x86->operands[i].type != X86_OP_REG)
		return X86_REG_NONE;
	return decode_register(x86->operands[i].reg);
}

bool pattern_high_byte(const struct cs_insn *insn, int i)
{
	unsigned int reg = insn->detail->x86.operands[i].reg;

	return reg == X86_REG_AH || reg == X86_REG_BH || reg == X86_REG_CH ||
	       reg == X86_REG_DH;
}

bool pattern_immediate(const struct cs_insn *insn, int i, int64_t *ret)
{
	const cs_x86 *x86 = &insn->detail->x86;

	if (i >= x86->op_count || x86->operands[i].type != X86_OP_IMM)
		return false;
	*ret = x86->operands[i].imm;
	return true;
}

bool pattern_adds(struct decoder *decoder, const uint8_t *bytes, size_t size,
		  uint64_t address)
{
	const struct follow follow = { .decoder = decoder,
				       .bytes = bytes,
				       .size = size,
				       .start = address };
	const struct cs_insn *insn = pattern_decode(&follow, address);

	return insn && insn->detail->x86.op_count > 0 &&
	       insn->detail->x86.operands[0].type == X86_OP_MEM &&
	       (insn->id == X86_INS_ADD || insn->id == X86_INS_XADD ||
		insn->id == X86_INS_SUB || insn->id == X86_INS_INC ||
		insn->id == X86_INS_DEC);
}

int64_t pattern_place(const struct mem_operand *operand, uint64_t next)
{
	return operand->base == X86_RIP ? (int64_t)next + operand->disp
					: operand->disp;
}

bool pattern_same_place(const struct mem_operand *a,
			const struct mem_operand *place, uint64_t a_next)
{
	return a->base == place->base && a->index == place->index &&
	       (a->index == X86_REG_NONE || a->scale == place->scale) &&
	       a->segment == place->segment && a->size == place->size &&
	       a->addr32 == place->addr32 && !a->string && !a->stack &&
	       a->bit_reg == place->bit_reg &&
	       pattern_place(a, a_next) == place->disp;
}

bool pattern_is_place(const struct follow *follow, const struct path *path,
		      const struct mem_operand *operand, uint64_t next)
{
	struct mem_operand same = *operand;

	if (path->place_lost)
		return false;
	if (follow->place.base < X86_RIP) {
		if (operand->base >= X86_RIP ||
		    !(path->bases & UINT32_C(1) << operand->base))
			return false;
		same.base = follow->place.base;
	}
	return pattern_same_place(&same, &follow->place, next);
}

void pattern_use(struct follow *follow, uint64_t bits)
{
	follow->pattern->used |= bits;
}

void pattern_use_form(struct follow *follow, const struct form *form)
{
	if (form->live)
		pattern_use(follow, form->kept);
}

void pattern_note_store(struct follow *follow, const struct form *form)
{
	struct code_pattern *pattern = follow->pattern;
	uint8_t change = form->live ? form->change : PATTERN_UNKNOWN;

	if (form->live && change == PATTERN_UNKNOWN)
		change =
			PATTERN_BITS; /* written back unchanged: no bit changes */
	if (form->live &&
	    (form->shift || (change == PATTERN_BITS &&
			     (form->kept | form->changed) !=
				     pattern_mask(follow->place.size))))
		change = PATTERN_DERIVED;
	if (follow->stored && pattern->change != change)
		change = PATTERN_DERIVED;
	if (change == PATTERN_ADD)
		pattern->delta = form->constant &&
						 (!follow->stored ||
						  pattern->delta == form->delta)
					 ? form->delta
					 : 0;
	if (change == PATTERN_BITS)
		pattern->changed |= form->changed &
				    pattern_mask(follow->place.size);
	pattern->change = change;
	follow->stored = true;
}

void pattern_kill(struct path *path, uint32_t written,
		  const struct mem_operand *place)
{
	path->bases &= ~written;
	for (int i = 0; i < 16; i++) {
		if (!(written & (UINT32_C(1) << i)))
			continue;
		path->forms[i].live = false;
		if (place->index == i)
			path->place_lost = true;
	}
}
