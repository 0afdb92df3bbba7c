/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Variables that a module's code changes by locked instructions. In machine
 * code an atomic load, and a store that is not sequentially consistent, are
 * plain moves; but a spin lock that is left by one is taken by a locked
 * instruction, somewhere else.
 */
#ifndef DETECT_LOCKED_H
#define DETECT_LOCKED_H

#include <stdbool.h>
#include <stdint.h>

struct decoder;
struct elftext;

/*
 * Does a function of the file change just these bytes (a file address) by a
 * locked instruction, or by xchg? Only operands whose address is in the
 * instruction are seen. Functions are decoded only where their bytes hold the
 * address, so that asking costs a pass over the code.
 */
bool locked_elsewhere(struct decoder *decoder, const struct elftext *text,
		      uint64_t address, uint32_t size);

#endif
