/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A thread has made an access and stands behind it: which registers it may have had
 * before. Guesses, best first; the caller runs the instruction from each and
 * takes the first that leads to the registers and the memory that are there.
 * Pure code.
 */
#ifndef REPLAY_REDO_H
#define REPLAY_REDO_H

#include <stddef.h>
#include <stdint.h>

#include "x86/access.h"

enum { REDO_MAX = 8 };

struct redo_access {
	const struct insn_access *insn;
	uint64_t rip; /* of the instruction */
	const struct mem_access *access; /* the bytes it touched */
	/* of the general registers, those it writes: bit n for enum x86_reg n */
	uint32_t written;
	/* what was in these bytes, and what is; for one that stores */
	const uint8_t *before, *after;
};

/*
 * Most instructions have changed nothing that they need. Of those that have:
 * a load overwrites its base or index, which follows from the address; an exchange
 * has stored the register, xadd has added it, and cmpxchg has found it equal. A
 * string instruction has moved its registers, push, pop and call the stack
 * pointer. Returns how many; 0: none can be told.
 */
size_t redo_guess(const struct redo_access *it, const struct x86_registers *now,
		  struct x86_registers ret[REDO_MAX]);

#endif
