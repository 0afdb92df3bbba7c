/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What a module's code does with a variable elsewhere than at a race. In machine
 * code an atomic load, and a store that is not sequentially consistent, are
 * plain moves; but a spin lock that is left by one is taken by a locked
 * instruction, somewhere else. And a number that threads only add to is no
 * statistic if other code decides by it.
 *
 * Only operands whose address is in the instruction are seen. Functions are
 * decoded only where their bytes hold the address, so that asking costs a pass
 * over the code.
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
 * How do the functions of the file change just these bytes (a file address) by
 * locked instructions, or by xchg?
 */
enum locked locked_elsewhere(struct decoder *decoder,
			     const struct elftext *text, uint64_t address,
			     uint32_t size);

/*
 * Does a function of the file decide something by the value of these bytes, as
 * far as its instructions tell (kin_idiom_decides())? Of large files only the
 * first 16 MiB of code are looked at.
 */
bool decided_elsewhere(struct decoder *decoder, const struct elftext *text,
		       uint64_t address, uint32_t size);

/*
 * Is the variable what the processor says of itself? Some function stores it,
 * all at once, from a register, having executed cpuid and read nothing but its
 * stack; and no function of the file does anything else with it but to read it,
 * nor takes its address. So every thread stores the same.
 */
bool processor_elsewhere(struct decoder *decoder, const struct elftext *text,
			 uint64_t address, uint32_t size);

#endif
