/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Does anything depend on certain bytes that one instruction loads? Vector
 * searches load 16 to 64 bytes whatever the length of the string; the bytes
 * behind the terminator have no effect. In C11 that is no race: compilers and
 * libraries may load more than they use.
 *
 * To answer, we simulate the instructions from the load on with one thread's
 * registers and memory, and mark each bit of a value that could differ if the
 * bytes asked about had other values. A branch, an address, a store or a result
 * that could differ is a use.
 */
#ifndef DATAFLOW_USES_H
#define DATAFLOW_USES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "x86/access.h"
#include "x86/vectors.h"

struct decoder;

enum uses_answer {
	USES_NONE, /* the code does the same whatever those bytes are */
	USES_SOME,
	/*
	 * An instruction is not supported here, or a value that is needed is
	 * unknown.
	 */
	USES_UNKNOWN,
	/*
	 * The same, but a vector compare of bytes like these was searched: the
	 * search may end before these bytes.
	 */
	USES_UNKNOWN_SEARCH,
};

/* One thread: its registers, and how to read its memory. */
struct uses_thread {
	struct decoder *decoder;
	const struct x86_registers *regs;
	const struct x86_vectors *vectors;
	/*
	 * Copy the instruction bytes at the address, at most `size'; returns
	 * how many there are.
	 */
	size_t (*code)(void *context, uint64_t address, uint8_t *bytes,
		       size_t size);
	/* Copy memory as the thread sees it; false if any byte is not known. */
	bool (*memory)(void *context, uint64_t address, uint8_t *bytes,
		       size_t size);
	void *context;
	/*
	 * the function that the instruction is in, if it is known, at its
	 * address; borrowed
	 */
	const uint8_t *body;
	size_t body_size;
	uint64_t body_start;
};

struct uses_question {
	uint64_t address; /* of the instruction */
	/* false: it is executed next; true: the registers are those after it */
	bool done;
	struct mem_access access; /* what it loads */
	uint8_t bytes[X86_ACCESS_MAX]; /* that are there */
	uint64_t asked; /* bit i: is byte i used? */
};

/* *ret_where, if not NULL: the instruction at which that was decided. */
enum uses_answer uses_find(const struct uses_thread *thread,
			   const struct uses_question *question,
			   uint64_t *ret_where);

/*
 * What a masked vector move at the address accessed, with the registers as
 * after it: from the first byte that its mask selects to the last. *ret_bytes
 * has a bit for each selected byte, bit 0 for the first. False: it is none, or
 * its mask is not known any more. A size of 0: none was selected.
 */
bool uses_masked(const struct uses_thread *thread, uint64_t address,
		 struct mem_access *ret, uint64_t *ret_bytes);

/*
 * The bits of the byte range [start, +size) within the access, for `asked'.
 */
uint64_t uses_range(const struct mem_access *access, uint64_t start,
		    uint64_t size);

#endif
