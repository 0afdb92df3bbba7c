/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The owner of a recursive lock. A thread reads the owner without the lock and
 * compares it with its own identity. Only that thread ever stores that value
 * there, so whatever others write meanwhile, the comparison has the same
 * result. If they are unequal, the thread takes the lock and then stores its
 * identity. Static analysis; the caller must find out whether the value is a
 * thread's identity.
 */
#ifndef DATAFLOW_RECURSIVE_H
#define DATAFLOW_RECURSIVE_H

#include <stdbool.h>
#include <stdint.h>

struct function_code;

struct recursive_check {
	uint8_t reg; /* enum x86_reg: has the identity when the owner is read */
	uint64_t store; /* the instruction that stores it */
	uint8_t store_reg; /* the register that it stores */
	int64_t lock; /* bytes from the owner to the lock */
};

/*
 * Is the value that the instruction at `address' reads through its operand of
 * that index only compared with a register, for equality; and does the path
 * where they are unequal lead to a store of that register to the same address,
 * and to no other store there? Before the store a lock must be taken, in memory
 * at a fixed distance: by a locked instruction, or by a call that code->call
 * knows.
 */
bool recursive_check(const struct function_code *code, uint64_t address,
		     unsigned int operand, struct recursive_check *ret);

/*
 * Is the instruction at `address' the store of such a check in its function?
 * Its check is *ret.
 */
bool recursive_owns(const struct function_code *code, uint64_t address,
		    struct recursive_check *ret);

/*
 * Does the instruction at `address' store 0 or -1, and do those behind it,
 * without a branch, write the lock, which is `lock' bytes from what is stored,
 * or release it by a call?
 */
bool recursive_releases(const struct function_code *code, uint64_t address,
			int64_t lock);

#endif
