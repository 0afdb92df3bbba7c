/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Which accesses to a function's own stack are sampled: those to locals that
 * another thread may reach. These are locals whose address the function stores
 * outside its frame, or passes to a function that does (escapes.h); and those
 * whose address it passes to a call that creates threads (creators.h), except
 * as the first argument, where the new thread's handle is stored. Most locals
 * whose address is passed on are buffers and objects that no other thread ever
 * sees.
 */
#ifndef SAMPLING_LOCALS_H
#define SAMPLING_LOCALS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/vec.h"
#include "dataflow/frame.h"
#include "sampling/creators.h"
#include "sampling/escapes.h"

struct decoder;

struct locals {
	struct creators creators;
	struct escapes escapes;
	const struct module *module; /* borrowed, of the function */
	struct frame frame;
	struct vec accesses; /* of struct locals_access, this function's */
};

/* The decoder is borrowed. */
void locals_init(struct locals *locals, struct decoder *decoder);
void locals_deinit(struct locals *locals);

/* Before the first instruction of a function, [start, end) in the file. */
void locals_begin(struct locals *locals, const struct module *module,
		  uint64_t start, uint64_t end);

/*
 * The next instruction. on_stack: it accesses the stack through its pointers.
 * False: out of memory.
 */
bool locals_step(struct locals *locals, const uint8_t *bytes, size_t size,
		 uint64_t address, const struct insn_access *insn,
		 bool on_stack);

/* After the last instruction, before locals_shared(). */
void locals_settle(struct locals *locals);

/*
 * Does the instruction access a local that another thread may reach? Call it in
 * the order of addresses, with a *cursor that begins at 0.
 */
bool locals_shared(const struct locals *locals, uint64_t address,
		   size_t *cursor);

#endif
