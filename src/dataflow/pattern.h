/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * How a function uses a value in memory: it adds to it, changes some of its
 * bits, tests some of its bits. Found by static analysis of the instructions on
 * the paths around one access. It is evidence for DataCollider's pruning of
 * counters and flag bits (section 3.3).
 */
#ifndef DATAFLOW_PATTERN_H
#define DATAFLOW_PATTERN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "x86/access.h"

struct decoder;

/*
 * Look at the access of the instruction at `address` (in the function body
 * `bytes`, which begins at `start`) to its memory operand of that index.
 * Accesses of more than 8 bytes, and by vector registers, are unknown.
 * Always sets *ret. Stops looking after a few hundred instructions.
 */
void pattern_find(struct decoder *decoder, const uint8_t *bytes, size_t size,
		  uint64_t start, uint64_t address, unsigned int operand,
		  struct code_pattern *ret);

/*
 * Does the instruction add to memory, or subtract, as "lock xadd" does? Then
 * its result depends on the value before.
 */
bool pattern_adds(struct decoder *decoder, const uint8_t *bytes, size_t size,
		  uint64_t address);

/*
 * Is the instruction a plain store of a value that is the same each time: an
 * immediate, or a register that is made of some or of addresses of the module, on
 * all ways there? False in a function of more than 4096 bytes.
 */
bool pattern_stores_constant(struct decoder *decoder, const uint8_t *bytes,
			     size_t size, uint64_t start, uint64_t address);

/*
 * The same, or of a value that is made of nothing but constants and what the address
 * is made of, too, as `table[i] = 7 * i': no other argument, no memory, no result
 * of a call. What a caller makes of the old value and hands over is none.
 */
bool pattern_stores_made(struct decoder *decoder, const uint8_t *bytes,
			 size_t size, uint64_t start, uint64_t address);

/* Is the new value computed from the old one? */
static inline bool pattern_is_update(const struct code_pattern *pattern)
{
	return pattern->change == PATTERN_ADD ||
	       pattern->change == PATTERN_BITS ||
	       pattern->change == PATTERN_DERIVED;
}

#endif
