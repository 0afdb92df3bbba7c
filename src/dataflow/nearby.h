/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What else a function does with the memory that one of its instructions
 * accesses, and with the adjacent memory. Static analysis of the values of
 * registers and stack slots (values-parts.h) finds this also where each access
 * loads its pointer again.
 */
#ifndef DATAFLOW_NEARBY_H
#define DATAFLOW_NEARBY_H

#include <stdint.h>

#include "dataflow/lockset.h"
#include "x86/access.h"

/*
 * Set what is found in *ret, a code pattern of that instruction: locked_beside,
 * locked_adds, stored_plainly, retested, pair. What is set there already stays.
 */
void nearby_find(const struct function_code *code, uint64_t address,
		 unsigned int operand, struct code_pattern *ret);

#endif
