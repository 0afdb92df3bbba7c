/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A function followed from its entry, on all ways at once. Only for
 * src/dataflow/lockset.c and nearby.c.
 */
#ifndef DATAFLOW_FLOW_PARTS_H
#define DATAFLOW_FLOW_PARTS_H

#include <stdbool.h>
#include <stdint.h>

#include "dataflow/lockset.h"
#include "dataflow/pattern-parts.h"
#include "dataflow/values-parts.h"
#include "x86/access.h"

/* One instruction that is reached; with the values before it. */
typedef void flow_observer(void *context, uint64_t address,
			   const struct values *values);

/* One instruction; false where the function's bytes end. */
bool flow_step(const struct function_code *code, const struct follow *follow,
	       struct values *values, uint64_t address,
	       struct insn_access *access);

/*
 * The values before the instruction at the address; false if they are not
 * known. Then `see', if not NULL, is called for each instruction.
 */
bool flow_to(const struct function_code *code, uint64_t address,
	     struct values *ret, flow_observer *see, void *context);

#endif
