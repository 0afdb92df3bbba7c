/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What one instruction does to registers that may hold addresses of a frame.
 * Only for src/dataflow/frame*.c.
 */
#ifndef DATAFLOW_FRAME_PARTS_H
#define DATAFLOW_FRAME_PARTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "x86/access.h"

enum frame_act {
	FRAME_NOTHING,
	FRAME_LEA, /* reg = the address of operand */
	FRAME_COPY, /* to = reg, 64 bits */
	FRAME_LOAD, /* reg = what is at operand, 64 bits */
	FRAME_STORE, /* reg to operand, 64 bits */
	FRAME_ADD, /* to += number */
	FRAME_SET, /* to = anything */
	FRAME_PUSH, /* reg, X86_REG_NONE for anything else */
	FRAME_POP, /* to */
	FRAME_LEAVE,
	FRAME_TO_VECTOR, /* reg, 64 bits, to a vector register */
};

struct frame_insn {
	uint8_t act; /* enum frame_act */
	uint8_t reg, to; /* enum x86_reg */
	int32_t number;
	struct mem_operand operand;
};

/*
 * May the instruction, of at least one byte, change what is known of the frame?
 * holds: some register or slot has an address of it. Quick.
 */
bool frame_matters(const uint8_t *bytes, size_t size, bool holds);

/* Of an instruction that falls through, as the decoder has understood it. */
void frame_decode(const uint8_t *bytes, size_t size,
		  const struct insn_access *insn, struct frame_insn *ret);

#endif
