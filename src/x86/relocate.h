/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Copies of single instructions for another address: they do there what they do at
 * their own, and a jump behind them leads to what follows the original. Pure code.
 *
 * An operand that is relative to rip gets another displacement. Left out is what
 * depends on its address otherwise (calls, branches, system calls, traps), what
 * notes it (x87 instructions, for the handlers of their exceptions), and what is
 * not known to do neither. The bytes decide, and how many they are: what the decoder
 * says was sent by the front end, which the tracer does not believe (wire/sound.h).
 */
#ifndef X86_RELOCATE_H
#define X86_RELOCATE_H

#include <stdbool.h>
#include <stdint.h>

#include "x86/access.h"

enum {
	RELOCATE_JUMP = 5, /* bytes of the jump */
	RELOCATE_SIZE = X86_INSN_MAX + RELOCATE_JUMP,
};

/*
 * Write the copy for the address `to' of the instruction with these bytes, which
 * is at `from', and the jump; what is left of the RELOCATE_SIZE bytes is int3.
 * False: it cannot be copied, or not so far away.
 */
bool relocate(const struct insn_access *insn, const uint8_t *bytes,
	      uint64_t from, uint64_t to, uint8_t ret[RELOCATE_SIZE]);

#endif
