/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A pointer to a function that is chosen when it is called first: it points to
 * a function that chooses, stores another function's address in the pointer and
 * calls that. From the code alone, one instruction and those behind it.
 */
#ifndef DATAFLOW_DISPATCH_H
#define DATAFLOW_DISPATCH_H

#include <stdbool.h>
#include <stdint.h>

struct function_code;

/*
 * Is the pointer that the instruction at `address' reads, through its operand
 * of that index, called or jumped to, and used for nothing else? The code is
 * followed as far as the first branch.
 */
bool dispatch_calls(const struct function_code *code, uint64_t address,
		    unsigned int operand);

/*
 * Is the instruction at `address' a plain store of 8 bytes, of the register
 * *ret_reg (enum x86_reg), or where that is X86_REG_NONE, of the number *ret_imm?
 */
bool dispatch_stores(const struct function_code *code, uint64_t address,
		     uint8_t *ret_reg, int64_t *ret_imm);

#endif
