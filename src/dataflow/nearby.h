/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What else a function does with the memory that one of its instructions
 * accesses, and with that beside it: told by the values of registers and stack
 * slots (values-parts.h), so also where each access has loaded its pointer
 * anew. From the code alone.
 */
#ifndef DATAFLOW_NEARBY_H
#define DATAFLOW_NEARBY_H

#include <stdint.h>

#include "dataflow/lockset.h"
#include "x86/access.h"

/*
 * Set what is found in *ret, an idiom of that instruction: locked_beside,
 * locked_adds, stored_plainly, retested, pair. What is set there already stays.
 */
void nearby_find(const struct function_code *code, uint64_t address,
		 unsigned int operand, struct insn_idiom *ret);

#endif
