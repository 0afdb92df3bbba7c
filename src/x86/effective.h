/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Effective addresses: from operands and registers to the bytes accessed. Pure
 * code. Intel SDM volume 1, section 3.7.5 (Specifying an Offset), and volume 2
 * for string instructions, bit tests and pop.
 */
#ifndef X86_EFFECTIVE_H
#define X86_EFFECTIVE_H

#include "x86/access.h"

/*
 * The accesses that the instruction will make when executed next with these
 * registers (regs->rip at its first byte). ret has room for X86_OPERANDS_MAX;
 * returns how many (a `rep` with count 0 makes none). A rep string operation
 * gives the bytes it will touch first, as many whole elements as fit in
 * X86_ACCESS_MAX, by its direction flag. repe and repne may stop earlier.
 * Operands with `stack` set are left out.
 */
int effective_accesses(const struct insn_access *insn,
		       const struct x86_registers *regs,
		       struct mem_access *ret);

/*
 * The address of one operand of insn; for string, stack and plain forms alike.
 * For a string operand it is that of the next element, with the direction flag
 * set too.
 */
uint64_t effective_address(const struct insn_access *insn,
			   const struct mem_operand *operand,
			   const struct x86_registers *regs);

/* Do the two accesses overlap? Empty ones never do. Ranges may not wrap. */
bool mem_access_overlap(const struct mem_access *a, const struct mem_access *b);

/* Do they conflict: overlap, with a write on at least one side? */
bool mem_access_conflict(const struct mem_access *a,
			 const struct mem_access *b);

#endif
