/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The locks around the two accesses of a conflict. Calls to functions that are
 * known to lock show which locks are held (dataflow/lockset.h); the registers
 * and stacks of the threads show the address of each lock.
 */
#ifndef CONFLICT_LOCKS_H
#define CONFLICT_LOCKS_H

#include <stdbool.h>
#include <stdint.h>

#include "dataflow/lockset.h"
#include "x86/access.h"

struct conflict;
struct conflict_side;
struct module;
struct scanner;

/* The code of a module that calls are made from. */
struct locks_caller {
	struct scanner *scanner;
	const struct module *module;
};

/* What a function does with a lock, by its name (mangled); may be NULL. */
enum lock_call locks_function(const char *name);

/* Are the side's instruction and registers known? */
bool locks_can_tell(const struct conflict_side *side);

/*
 * The function around a place of the side's program. *ret refers to *caller.
 */
bool locks_code(const struct conflict_side *side, uint64_t pc,
		struct locks_caller *caller, struct function_code *ret);

/*
 * Set how the side's function uses the same memory and the memory beside it:
 * dataflow/nearby.h.
 */
void locks_nearby(const struct conflict_side *side,
		  struct code_pattern *pattern);

/*
 * For a read and a write, set double_check and lock of the code patterns where
 * the read is repeated under a lock, and where the write is made under one:
 * under the very one of the read, if it is among them. Code patterns are of
 * sides 0 and 1.
 */
void locks_of_sides(const struct conflict *conflict,
		    struct code_pattern *patterns[2]);

#endif
