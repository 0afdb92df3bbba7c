/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Locks around an access, by static analysis of its function: which locks are
 * held there on every path from the entry, whether a value is read again under
 * a lock that is taken after the first read, and whether a store is the last
 * access before the lock is released. The caller says what the targets of calls
 * do. Nothing is found in a function with an indirect jump, or in one that is
 * too large.
 */
#ifndef DATAFLOW_LOCKSET_H
#define DATAFLOW_LOCKSET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct decoder;
struct insn_access;

enum lock_call {
	LOCK_CALL_OTHER,
	LOCK_CALL_LOCK, /* takes the lock that its first argument points to */
	LOCK_CALL_LOCK_SECOND, /* its second one, as std::lock_guard's makers */
	LOCK_CALL_UNLOCK, /* releases the lock that its first one points to */
	LOCK_CALL_UNLOCK_ALL, /* of one that is not known */
};

struct function_code {
	struct decoder *decoder;
	const uint8_t *bytes; /* of the function */
	size_t size;
	uint64_t start; /* where they are */
	/* what the function called at this address does */
	enum lock_call (*call)(void *context, uint64_t address,
			       const struct insn_access *insn);
	void *context;
};

enum lock_where {
	LOCK_AT_UNKNOWN,
	LOCK_AT_FIXED, /* disp is its address */
	LOCK_AT_BESIDE, /* so far from the operand's address */
	LOCK_AT_REGISTER, /* from the value of the register */
	LOCK_AT_CELL, /* from the 8 bytes at `offset' from the register's value */
};

/* The address of a lock, by registers and memory at the instruction. */
struct lock_place {
	uint8_t where; /* enum lock_where */
	uint8_t reg; /* enum x86_reg */
	int64_t offset;
	int64_t disp;
};

enum { LOCKSET_MAX = 4 };

/* The locks held at an instruction. */
struct lockset {
	struct lock_place locks[LOCKSET_MAX];
	unsigned int count;
	/*
	 * Something may be stored outside the stack frame, or another function
	 * called, between the instruction and the release.
	 */
	bool early;
};

/*
 * Is the value that the instruction at `address' reads through its operand of
 * that index read again under a lock on one path, and is there a path that does
 * not take the lock? The lock taken last is *ret_lock. *ret_idle: the paths
 * without a lock access nothing outside the stack frame and return a number or
 * nothing.
 */
bool lockset_rereads(const struct function_code *code, uint64_t address,
		     unsigned int operand, struct lock_place *ret_lock,
		     bool *ret_idle);

/*
 * The locks held on every path to `address', and what follows the instruction
 * there. In a caller, `address' is the return address, and what follows begins
 * with the instruction there.
 */
void lockset_at(const struct function_code *code, uint64_t address,
		unsigned int operand, bool caller, struct lockset *ret);

#endif
