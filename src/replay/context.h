/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The registers of a thread, all that user code can see but for the segment
 * selectors: what goes into the virtual processor and comes out of it (PLDI'07,
 * section 4.2: "the register states of the two threads").
 */
#ifndef REPLAY_CONTEXT_H
#define REPLAY_CONTEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "x86/access.h"

struct error;

enum {
	/* bytes: x87 to AVX-512 and protection keys; AMX follows */
	REPLAY_VECTORS_MAX = 4096,
	/* the whole area, with AMX */
	REPLAY_AREA_MAX = 16384,
};

struct replay_context {
	struct x86_registers regs;
	/* XSAVE's area in its standard format: x87, SSE, AVX, AVX-512 */
	_Alignas(64) uint8_t vectors[REPLAY_VECTORS_MAX];
	size_t vectors_size;
	/* of the whole area: what follows is not in use; REPLAY_AREA_MAX at most */
	size_t area_size;
};

/* The registers that a stopped scratch process has. Zeroed: not known. */
struct replay_held {
	bool known; /* the general registers */
	struct x86_registers regs;
	size_t vectors_size; /* 0: the vector registers are not known */
	uint8_t vectors[REPLAY_VECTORS_MAX];
};

/*
 * Of a thread in a ptrace-stop. ERROR_UNSUPPORTED: it uses what there is no room
 * for (AMX), and cannot be replayed.
 */
struct error *replay_context_read(pid_t tid, struct replay_context *ret);
/* Its vector registers alone; *held becomes what they are. */
struct error *replay_context_read_vectors(pid_t tid, struct replay_context *ret,
					  struct replay_held *held);

/*
 * Into the stopped scratch process: it goes on there as the thread would, not
 * in a system call, and not in single steps. *held: of that process; what it has is
 * not written again, and the general registers are not known afterwards, since it
 * will run.
 */
struct error *replay_context_write(pid_t tid,
				   const struct replay_context *context,
				   struct replay_held *held);

#endif
