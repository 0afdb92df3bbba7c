/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Stacks from a snapshot: registers and stack bytes copied at the conflict,
 * unwound later by CFI (libunwind; libdwfl where that does not come to the end),
 * frame pointers where there is none. Code bytes come from the ELF files, so
 * inserted breakpoints are never seen. Nothing is read from the process.
 */
#ifndef IMAGE_UNWIND_H
#define IMAGE_UNWIND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "x86/access.h"

struct error;
struct image;

struct unwind_input {
	int tid;
	struct x86_registers regs;
	/* stack bytes, from stack_address (at or a little below rsp) upward */
	uint64_t stack_address;
	const uint8_t *stack;
	size_t stack_size;
};

/* What a frame's function finds in the registers at its pc. */
struct frame_registers {
	uint64_t gpr[16]; /* by enum x86_reg */
	uint32_t known; /* bit n: gpr[n] is */
	/* the stack pointer before the frame's call; 0: not known */
	uint64_t cfa;
};

struct unwind_frame {
	uint64_t pc;
	/*
	 * The pc follows a call: for the innermost frame, and for one that a
	 * signal interrupted, it is the instruction itself instead.
	 */
	bool is_return;
	struct frame_registers registers;
};

/*
 * Fill frames with the innermost pc and then its callers, up to max (at least
 * 1); *ret_count is at least 1. Ends quietly where the stack bytes end or a
 * frame makes no sense.
 */
struct error *unwind_frames(struct image *image,
			    const struct unwind_input *input,
			    struct unwind_frame *frames, size_t max,
			    size_t *ret_count);

enum unwind_library {
	UNWIND_BOTH, /* libunwind, and libdwfl where it finds more */
	UNWIND_UNW,
	UNWIND_DWFL,
};

/* The same by one of the libraries, for tests and measurements. */
struct error *unwind_frames_by(enum unwind_library library, struct image *image,
			       const struct unwind_input *input,
			       struct unwind_frame *frames, size_t max,
			       size_t *ret_count);

#endif
