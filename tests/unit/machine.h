/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * How long the part of a conflict's message is that has registers and memory.
 * Counted here too, not by the code under test.
 */
#ifndef TESTS_UNIT_MACHINE_H
#define TESTS_UNIT_MACHINE_H

#include <stddef.h>
#include <stdint.h>

#include "wire/conflict.h"

/* The vector registers, and the memory near pointers, of one side. */
static inline size_t machine_size(const struct wire_side *side)
{
	size_t size = side->machine.vectors_size;

	for (uint32_t i = 0; i < side->machine.window_count; i++)
		size += side->machine.windows[i].size;
	return size;
}

#endif
