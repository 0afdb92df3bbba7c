/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Which bytes a masked move accesses (Intel SDM volume 2, VMASKMOV, VPMASKMOV
 * and 2.7.4 for EVEX); see uses.h.
 */
#include "dataflow/uses-parts.h"

#include "x86/effective.h"

/* The move, as far as its mask needs it. */
struct masked {
	struct vector_insn insn;
	unsigned int element; /* bytes */
	bool stores;
};

static bool find_evex(struct masked *masked)
{
	const struct vector_insn *insn = &masked->insn;

	if (insn->map != 1 || insn->mask == 0)
		return false;
	switch (insn->opcode) {
	case 0x6f:
	case 0x7f:
		masked->element = insn->prefix == 3 ? 1u << insn->wide
						    : 4u << insn->wide;
		masked->stores = insn->opcode == 0x7f;
		return true;
	case 0x10:
	case 0x11:
	case 0x28:
	case 0x29:
		masked->element = insn->prefix == 1 ? 8 : 4;
		masked->stores = insn->opcode & 1;
		return insn->prefix <= 1;
	default:
		return false;
	}
}

/* The mask is a vector; a load may have overwritten it. */
static bool find_vex(struct masked *masked)
{
	const struct vector_insn *insn = &masked->insn;

	if (insn->map != 2 || insn->prefix != 1 || !insn->vex)
		return false;
	if (insn->opcode >= 0x2c && insn->opcode <= 0x2f) {
		masked->element = insn->opcode & 1 ? 8 : 4;
		masked->stores = insn->opcode >= 0x2e;
	} else if (insn->opcode == 0x8c || insn->opcode == 0x8e) {
		masked->element = insn->wide ? 8 : 4;
		masked->stores = insn->opcode == 0x8e;
	} else {
		return false;
	}
	return masked->stores || insn->reg != insn->second;
}

static bool selects(const struct masked *masked,
		    const struct x86_vectors *vectors, unsigned int i)
{
	const struct vector_insn *insn = &masked->insn;

	if (insn->evex)
		return vectors->mask[insn->mask] >> i & 1;
	return vectors->reg[insn->second][(i + 1) * masked->element - 1] >> 7;
}

bool uses_masked(const struct uses_thread *thread, uint64_t address,
		 struct mem_access *ret, uint64_t *ret_bytes)
{
	uint8_t bytes[X86_INSN_MAX];
	size_t size =
		thread->code(thread->context, address, bytes, sizeof(bytes));
	struct x86_registers regs = *thread->regs;
	struct masked masked = { 0 };
	uint64_t selected = 0;
	unsigned int first;

	if (size == 0 || !thread->vectors->known ||
	    !vector_insn_decode(thread->decoder, bytes, size, address,
				&masked.insn) ||
	    !masked.insn.memory ||
	    !(masked.insn.evex ? find_evex(&masked) : find_vex(&masked)))
		return false;
	for (unsigned int i = 0; i < masked.insn.length; i++) {
		if (selects(&masked, thread->vectors, i / masked.element))
			selected |= UINT64_C(1) << i;
	}
	first = selected ? (unsigned int)__builtin_ctzll(selected) : 0;
	regs.rip = address;
	*ret = (struct mem_access){
		.address = effective_address(&masked.insn.access,
					     &masked.insn.access.operands[0],
					     &regs) +
			   first,
		.kind = masked.stores ? ACCESS_WRITE : ACCESS_READ,
	};
	if (selected)
		ret->size = 64 - (uint32_t)__builtin_clzll(selected) - first;
	*ret_bytes = selected >> first;
	return true;
}
