/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * How a function uses a value in memory: it adds to it, changes some of its
 * bits, tests some of its bits. Found by static analysis of the instructions on
 * the paths around one access. It is evidence for DataCollider's pruning of
 * counters and flag bits (section 3.3).
 */
#ifndef DATAFLOW_IDIOM_H
#define DATAFLOW_IDIOM_H

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
void idiom_find(struct decoder *decoder, const uint8_t *bytes, size_t size,
		uint64_t start, uint64_t address, unsigned int operand,
		struct insn_idiom *ret);

/*
 * Does the instruction add to memory, or subtract, as "lock xadd" does? Then
 * its result depends on the value before.
 */
bool idiom_adds(struct decoder *decoder, const uint8_t *bytes, size_t size,
		uint64_t address);

/* Is the new value computed from the old one? */
static inline bool idiom_is_update(const struct insn_idiom *idiom)
{
	return idiom->change == IDIOM_ADD || idiom->change == IDIOM_BITS ||
	       idiom->change == IDIOM_DERIVED;
}

#endif
