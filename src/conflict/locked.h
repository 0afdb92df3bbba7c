/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * How other code of a module uses a variable that is raced on. In machine code
 * an atomic load, and a store that is not sequentially consistent, are plain
 * moves; but a spin lock that is released by one is taken by a locked
 * instruction, somewhere else. And a number that threads only add to is no
 * statistic if other code branches on it.
 *
 * Only operands whose address is in the instruction are found. A function is
 * decoded only if its bytes contain the address, so that a question costs one
 * pass over the code.
 */
#ifndef CONFLICT_LOCKED_H
#define CONFLICT_LOCKED_H

#include <stdbool.h>
#include <stdint.h>

struct decoder;
struct elftext;

enum locked {
	LOCKED_NOWHERE,
	LOCKED_CHANGED, /* exchanged, compared, some of its bits changed */
	LOCKED_ADDED, /* somewhere something is added to it */
};

/*
 * How do the functions of the file change exactly these bytes (a file address)
 * by locked instructions, or by xchg?
 */
enum locked locked_elsewhere(struct decoder *decoder,
			     const struct elftext *text, uint64_t address,
			     uint32_t size);

/*
 * Does a function of the file branch on the value of these bytes, as far as its
 * instructions show (related_pattern_decides())? In large files only the first
 * 16 MiB of code are searched.
 */
bool decided_elsewhere(struct decoder *decoder, const struct elftext *text,
		       uint64_t address, uint32_t size);

/*
 * Does the variable hold a result of cpuid? Some function stores all of it from
 * a register, after it has executed cpuid and read nothing but its stack. All
 * other functions of the file only read the variable, and none takes its
 * address. So every thread stores the same value.
 */
bool processor_elsewhere(struct decoder *decoder, const struct elftext *text,
			 uint64_t address, uint32_t size);

#endif
