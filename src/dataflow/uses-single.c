/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Instructions on one element of a vector: between that and a general register
 * or memory, and arithmetic of one floating number. See uses-parts.h.
 */
#include "dataflow/uses-parts.h"

#include <string.h>

static struct number memory_address(const struct uses_run *run,
				    const struct vector_insn *insn)
{
	return uses_address(run, &insn->access, &insn->access.operands[0]);
}

/* pextrb, pextrw, pextrd, pextrq, extractps; of pextrw there are two. */
static bool extract(struct uses_run *run, const struct vector_insn *insn)
{
	bool old = insn->map == 1 && insn->opcode == 0xc5;
	unsigned int size = insn->opcode == 0x14		 ? 1
			    : old || insn->opcode == 0x15	 ? 2
			    : insn->wide && insn->opcode == 0x16 ? 8
								 : 4;
	uint8_t from = old ? insn->rm : insn->reg;
	struct number element, address;

	if (insn->prefix != 1 || (old && insn->memory) ||
	    !(old ||
	      (insn->map == 3 && insn->opcode >= 0x14 && insn->opcode <= 0x17)))
		return false;
	element = vector_element(&run->state.vectors[from],
				 insn->immediate & (16 / size - 1), size);
	if (insn->memory) {
		address = memory_address(run, insn);
		uses_store_number(run, &address, &element, size);
	} else {
		uses_set_gpr(run, (old ? insn->reg : insn->rm) & 15, &element,
			     size == 8 ? 8 : 4);
	}
	return true;
}

static bool insert(struct uses_run *run, const struct vector_insn *insn)
{
	struct vector result = run->state.vectors[insn->second];
	unsigned int size = insn->opcode == 0x20   ? 1
			    : insn->opcode == 0xc4 ? 2
			    : insn->wide	   ? 8
						   : 4;
	struct number element;

	if (insn->prefix != 1 || !((insn->map == 1 && insn->opcode == 0xc4) ||
				   (insn->map == 3 && (insn->opcode == 0x20 ||
						       insn->opcode == 0x22))))
		return false;
	if (insn->memory) {
		element = memory_address(run, insn);
		element = uses_load_number(run, &element, size);
	} else {
		element = number_cut(&run->state.gpr[insn->rm & 15], size);
	}
	vector_set_element(&result, insn->immediate & (16 / size - 1), size,
			   &element);
	vector_set_result(run, insn, insn->reg, &result);
	return true;
}

/* cvttss2si and the like */
static bool to_integer(struct uses_run *run, const struct vector_insn *insn)
{
	unsigned int size = insn->prefix == 2 ? 4 : 8;
	bool asked = false, unknown = false;
	struct vector source;
	struct number number;

	if (insn->map != 1 || insn->prefix < 2 ||
	    !(insn->opcode == 0x2c || insn->opcode == 0x2d ||
	      (insn->evex && (insn->opcode == 0x78 || insn->opcode == 0x79))))
		return false;
	uses_source(run, insn, size, &source);
	vector_add_marks(&source, 0, size, &asked, &unknown);
	number = number_lost(insn->wide ? 8 : 4, asked, unknown);
	uses_set_gpr(run, insn->reg & 15, &number, insn->wide ? 8 : 4);
	return true;
}

/* ucomiss, comisd and so on */
static bool compare(struct uses_run *run, const struct vector_insn *insn)
{
	unsigned int size = insn->prefix == 1 ? 8 : 4;
	struct flags *flags = &run->state.flags;
	bool asked = false, unknown = false;
	struct vector source;
	struct number lost;

	if (insn->map != 1 || insn->prefix > 1 ||
	    (insn->opcode != 0x2e && insn->opcode != 0x2f))
		return false;
	uses_source(run, insn, size, &source);
	vector_add_marks(&run->state.vectors[insn->reg], 0, size, &asked,
			 &unknown);
	vector_add_marks(&source, 0, size, &asked, &unknown);
	lost = number_lost(4, asked, unknown);
	flags_result(flags, &lost, 4, number_tri(&lost), TRI_NO);
	flags->parity = (uint8_t)number_tri(&lost);
	flags->sign = TRI_NO;
	flags->asked |= asked;
	return true;
}

bool vector_single(struct uses_run *run, const struct vector_insn *insn)
{
	return extract(run, insn) || insert(run, insn) ||
	       to_integer(run, insn) || compare(run, insn);
}

/* One number of a vector; what is above it comes from the second operand. */
bool vector_scalar(struct uses_run *run, const struct vector_insn *insn)
{
	struct vector result = run->state.vectors[insn->second], b;
	unsigned int size = insn->prefix == 2 ? 4 : 8;
	bool asked = false, unknown = false;
	bool one = insn->opcode >= 0x51 && insn->opcode <= 0x53;

	if (insn->map != 1 || insn->prefix < 2 || insn->mask != 0 ||
	    !(one || insn->opcode == 0x58 || insn->opcode == 0x59 ||
	      (insn->opcode >= 0x5c && insn->opcode <= 0x5f)))
		return false;
	uses_source(run, insn, size, &b);
	vector_add_marks(&b, 0, size, &asked, &unknown);
	if (!one)
		vector_add_marks(&result, 0, size, &asked, &unknown);
	memset(result.value, 0, size);
	memset(result.asked, asked ? 0xff : 0, size);
	memset(result.unknown, unknown || !asked ? 0xff : 0, size);
	memset(result.value + 16, 0, X86_VECTOR_BYTES - 16);
	memset(result.asked + 16, 0, X86_VECTOR_BYTES - 16);
	memset(result.unknown + 16, 0, X86_VECTOR_BYTES - 16);
	vector_set_result(run, insn, insn->reg, &result);
	return true;
}
