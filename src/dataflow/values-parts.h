/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The values of registers and memory cells at a place in a function: numbers,
 * or unknown values plus a distance. This shows whether two operands are the
 * same object, also through copies and stack slots. Only for
 * src/dataflow/lockset*.c.
 */
#ifndef DATAFLOW_VALUES_PARTS_H
#define DATAFLOW_VALUES_PARTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "x86/access.h"

struct cs_insn;
struct decoder;

/* root + disp; the root 0 is the number 0. */
struct value {
	uint64_t root;
	int64_t disp;
};

/* Eight bytes of memory that were stored to. */
struct cell {
	struct value at, value;
};

enum { VALUES_CELLS = 48, VALUES_LOCKS = 4 };

struct values {
	struct value regs[16];
	struct cell cells[VALUES_CELLS];
	unsigned int cell_count;
	struct value locks[VALUES_LOCKS]; /* held, by their addresses */
	unsigned int lock_count;
	bool overflow; /* more cells or locks than there is room for */
};

bool values_equal(const struct value *a, const struct value *b);

/* At the entry of a function. */
void values_enter(struct values *values);

/* The address of an operand of the instruction that ends at `next`. */
struct value values_address(const struct values *values,
			    const struct mem_operand *operand, uint64_t next);

/* Was it loaded from there, before the function stored to that memory? */
bool values_is_loaded(const struct value *value, const struct value *at);

/* Is it a number that a function would return, or rax untouched? */
bool values_returns_nothing(const struct values *values);

/* Is the address in the stack frame? */
bool values_in_frame(const struct values *values, const struct value *at);

/*
 * The values after the instruction; locks are left as they are. insn has
 * details, access is of the same instruction.
 */
void values_step(struct values *values, const struct decoder *decoder,
		 const struct cs_insn *insn, const struct insn_access *access);

/*
 * Where two ways meet at `address`: what holds on both. True if *into has
 * changed. Locks that only one way holds are not held.
 */
bool values_merge(struct values *into, const struct values *from,
		  uint64_t address);

#endif
