/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Which locals of a function others may reach: the parts of its stack frame
 * whose address the function takes and passes on. Found in one pass over the
 * function's instructions, in the order of their addresses. Offsets are in
 * bytes from the stack pointer at the function's entry, where the return
 * address is: locals are below 0. The stack pointer is followed by the
 * instructions themselves, so that no unwind information is needed.
 *
 * The same pass tells what a function does with its own arguments
 * (frame_begin_arguments): those that it stores where others may find them.
 *
 * What is found is a good guess, not a proof: registers are followed in the
 * order of addresses, not along each path. A wrong guess makes an instruction
 * sampled or left out in vain and does no harm.
 */
#ifndef DATAFLOW_FRAME_H
#define DATAFLOW_FRAME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "x86/access.h"

enum {
	/* per function; what there is more is not looked at */
	FRAME_OBJECTS = 128,
	FRAME_CELLS = 32,
	FRAME_TARGETS = 64,
	/* bytes that an object has at most */
	FRAME_OBJECT_MAX = 128,
	/* arguments that are in registers: rdi, rsi, rdx, rcx, r8, r9 */
	FRAME_ARGUMENTS = 6,
};

/* What becomes of the addresses that a function is given as arguments. */
struct frame_arguments {
	/* bit n: argument n is stored outside the frame, or see frame_pass() */
	uint8_t escape;
	/* bit m of [n]: argument n is stored where argument m points to */
	uint8_t stored[FRAME_ARGUMENTS];
};

/* A place in the frame whose address the function takes. */
struct frame_object {
	int32_t start;
	int32_t end; /* set by frame_settle() */
	/* its address is stored outside the frame, or see frame_pass() */
	bool escapes;
};

/* A slot of the frame that the address of another one was stored to. */
struct frame_cell {
	int32_t at, value;
};

/* What is known at the target of a branch ahead. */
struct frame_target {
	uint64_t address; /* 0: none */
	int32_t rsp;
	uint8_t intact; /* arguments that are still in their registers there */
};

struct frame {
	uint64_t start, end; /* of the function */
	int32_t rsp; /* before the next instruction */
	int32_t body; /* the same, at the last branch within the function */
	int32_t saved; /* the registers saved at entry are from here upward */
	int32_t base; /* rbp, if has_base */
	bool has_base; /* rbp is the frame pointer */
	bool prologue; /* no stack was reserved yet */
	bool lost; /* the instruction before does not lead here */
	bool follows_arguments; /* see frame_begin_arguments() */
	uint16_t holds; /* bit n: register n has the address held[n] */
	int32_t held[16];
	unsigned int object_count, cell_count;
	struct frame_object objects[FRAME_OBJECTS]; /* by start */
	struct frame_cell cells[FRAME_CELLS];
	struct frame_target targets[FRAME_TARGETS];
	struct frame_arguments arguments; /* if they are followed */
};

/*
 * May the function whose bytes these are take an address of its frame? Quick;
 * in most functions it does not, and nothing of what follows is needed.
 */
bool frame_takes_address(const uint8_t *bytes, size_t size);

/* Before the first instruction of a function. */
void frame_begin(struct frame *frame, uint64_t start, uint64_t end);
/*
 * The same, and the function's arguments are followed as if each were the address
 * of an object: what becomes of them is in `arguments' after frame_settle().
 */
void frame_begin_arguments(struct frame *frame, uint64_t start, uint64_t end);

/*
 * The next instruction, at `address`, is looked at: the stack pointer is what
 * it is there. Call before frame_slot() and frame_step().
 */
void frame_arrive(struct frame *frame, uint64_t address);

/* The offset of an operand of the next instruction; false: not in the frame. */
bool frame_slot(const struct frame *frame, const struct mem_operand *operand,
		int32_t *ret);

/* The instruction is done. Before a call, see frame_pass(). */
void frame_step(struct frame *frame, const uint8_t *bytes, size_t size,
		const struct insn_access *insn);

/* Has the call now an address of the frame, or an argument, among its arguments? */
bool frame_passes(const struct frame *frame);

/*
 * The call now passes the addresses that it has as arguments to another thread.
 * handle: not the first, which is where the thread's handle goes.
 */
void frame_pass(struct frame *frame, bool handle);
/* The call now is of a function that does this with its arguments. */
void frame_pass_to(struct frame *frame, const struct frame_arguments *callee);

/* After the last instruction: find the extents, and what escapes. */
void frame_settle(struct frame *frame);

/* Is one of these bytes in an object that escapes? */
bool frame_escapes(const struct frame *frame, int32_t offset, uint32_t size);

#endif
