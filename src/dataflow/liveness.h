/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Which registers a thread may read before it writes them: a short scan forward, on
 * all ways. Told from the code and the thread's stack pointer; nothing is run.
 * PLDI'07, section 4.3, compares live-outs; registers that are dead differ between
 * two runs in most functions.
 */
#ifndef DATAFLOW_LIVENESS_H
#define DATAFLOW_LIVENESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "x86/access.h"

struct decoder;

/* Sets of registers: bit n is enum x86_reg n, or the lowest 8 bytes of a vector. */
enum {
	LIVENESS_XMM0 = 1 << 16,
	LIVENESS_XMM1 = 1 << 17,
	LIVENESS_ALL = (1 << 18) - 1,
};

struct liveness_thread {
	struct decoder *decoder;
	/* rip is where it is next; rsp and rbp are used too */
	const struct x86_registers *regs;
	/* Copy code; returns how many bytes there are, at most `size'. */
	size_t (*code)(void *context, uint64_t address, uint8_t *bytes,
		       size_t size);
	/* Copy memory, as the thread would read it; false: not known. */
	bool (*memory)(void *context, uint64_t address, uint8_t *bytes,
		       size_t size);
	void *context;
};

/*
 * Those of the registers in `asked' that are read on some way. *ret_undecided:
 * others that are not shown to be dead, as a way is too long. What a call or a
 * return leaves in no certain state (psABI 3.2.1) is dead unless code is seen to
 * read it; at a call, a register of its arguments that the callee reads soon is
 * read: it passes a result on. (Of one that is called by the procedure linkage table,
 * vector registers only.) A loop decides nothing of what calls keep: an
 * exception may leave it. Returns lead to the callers, as far as the stack tells.
 */
uint32_t liveness_find(const struct liveness_thread *thread, uint32_t asked,
		       uint32_t *ret_undecided);

#endif
