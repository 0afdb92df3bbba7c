/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The call stack of a thread, kept at calls and returns, and contexts: stack
 * tops of up to STACKS_TOP return addresses, as numbers.
 */
#ifndef RECORDER_STACKS_H
#define RECORDER_STACKS_H

#include <stdint.h>

#include "recorder/table.h"

enum {
	STACKS_TOP = 8, /* TRACE_STACK_MAX */
	STACKS_DEPTH = 4096, /* deeper frames are not kept */
	STACKS_CACHE = 8192,
	STACKS_CONTEXTS_MAX = 1 << 20,
};

struct context {
	uint64_t returns[STACKS_TOP]; /* innermost first; 0: no more */
	uint32_t descriptor; /* its id in the trace; 0: not written */
};

/* From a context, by a call that returns to an address, to another. */
struct context_step {
	uint64_t address;
	uint32_t from, to;
};

struct contexts {
	struct records all;
	struct table by_returns;
	struct context_step *cache; /* of STACKS_CACHE */
};

struct frame {
	uint64_t sp; /* where the return address is */
	uint32_t context, reserved;
};

struct stack {
	struct frame *frames; /* of STACKS_DEPTH */
	uint32_t depth;
};

void contexts_init(struct contexts *contexts);
void contexts_deinit(struct contexts *contexts);

static inline struct context *context_at(const struct contexts *contexts,
					 uint32_t id)
{
	return records_at(&contexts->all, id);
}

void stack_init(struct stack *stack);
void stack_deinit(struct stack *stack);

/*
 * A call was made: the address that it returns to is at sp. The context of the
 * called function; 0: there are STACKS_CONTEXTS_MAX.
 */
uint32_t stack_call(struct contexts *contexts, struct stack *stack, uint64_t sp,
		    uint64_t address);
/* The stack pointer is sp, after a return: the context. 0: of no caller. */
uint32_t stack_return(struct stack *stack, uint64_t sp);

#endif
