/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The messages about instances of races that are to be replayed: WIRE_INSTANCE,
 * WIRE_REPLAY (message.h).
 */
#ifndef WIRE_INSTANCE_H
#define WIRE_INSTANCE_H

#include <stdbool.h>
#include <stdint.h>

#include "x86/access.h"

enum {
	WIRE_THREADS_RACING = 2,
	/* bytes of vector registers that a message has of a thread */
	WIRE_INSTANCE_VECTORS_MAX = 4096,
	WIRE_PAGE = 4096,
	WIRE_PAGES_MAX = 140,
	WIRE_HINTS_MAX = 64,
};

struct wire_instance_thread {
	struct x86_registers regs;
	uint32_t vectors_size; /* bytes of XSAVE's area that follow */
	uint32_t area_size; /* of the whole area; the rest is not in use */
};

/*
 * The two threads of the conflict that was told just before, as they were held.
 * WIRE_REPLAY answers each, in their order; schedule/pace.h says how many may wait.
 */
struct wire_instance {
	/* of the pair of instructions, in all processes of the program */
	uint64_t pair;
	/* for which the threads were held in addition to have this copied */
	uint64_t held_ns;
	uint32_t pages; /* that follow */
	/*
	 * of these, the first ones, of thread 0's process; the others are of
	 * thread 1's, if that is another one
	 */
	uint32_t of_first;
	uint32_t absent; /* pages that were not there: they follow, as hints */
	bool two; /* they have two address spaces */
	struct wire_instance_thread threads[WIRE_THREADS_RACING];
};

/* What a replay has taught about the next instance of the pair. */
struct wire_replay {
	uint64_t pair;
	/* CPU time that it took, and of that what the scratch process used */
	uint64_t cpu_ns, scratch_ns;
	/*
	 * take no more of it for a while; not for good, since the same
	 * instructions may race on another variable
	 */
	bool enough;
	bool counts; /* it has a result; else there was only this to learn: */
	bool still; /* in no order did the raced bytes change: it tells nothing */
	uint32_t count; /* of hints */
	/* pages that were missed in earlier ones; replay/likely.h has the form */
	uint64_t hints[WIRE_HINTS_MAX];
};

#endif
