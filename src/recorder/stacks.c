/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A frame is gone when the stack pointer is above it: longjmp(3), exceptions
 * and tail calls need no more than that. A program that switches stacks by
 * itself to one at a higher address loses the frames of the lower one; its
 * contexts are then shorter.
 */
#include "recorder/stacks.h"

#include "recorder/os.h"

void contexts_init(struct contexts *contexts)
{
	records_init(&contexts->all, sizeof(struct context));
	table_init(&contexts->by_returns);
	contexts->cache = os_map(STACKS_CACHE * sizeof(*contexts->cache));
}

void contexts_deinit(struct contexts *contexts)
{
	records_deinit(&contexts->all);
	table_deinit(&contexts->by_returns);
	os_unmap(contexts->cache, STACKS_CACHE * sizeof(*contexts->cache));
}

void stack_init(struct stack *stack)
{
	stack->frames = os_map(STACKS_DEPTH * sizeof(*stack->frames));
	stack->depth = 0;
}

void stack_deinit(struct stack *stack)
{
	if (stack->frames)
		os_unmap(stack->frames, STACKS_DEPTH * sizeof(*stack->frames));
	stack->frames = NULL;
	stack->depth = 0;
}

static uint32_t hash_of(const struct context *context)
{
	uint64_t hash = 0;

	for (int i = 0; i < STACKS_TOP; i++)
		hash = hash * 0x100000001b3u ^ context->returns[i];
	return table_hash(hash, 1);
}

static uint32_t intern(struct contexts *contexts, const struct context *context)
{
	uint32_t hash = hash_of(context), at = 0, id;

	while ((id = table_next(&contexts->by_returns, hash, &at)) != 0) {
		if (os_compare(context_at(contexts, id)->returns,
			       context->returns, sizeof(context->returns)) == 0)
			return id;
	}
	if (contexts->all.count == STACKS_CONTEXTS_MAX)
		return 0;
	id = records_add(&contexts->all);
	os_copy(records_at(&contexts->all, id), context, sizeof(*context));
	table_add(&contexts->by_returns, hash, id);
	return id;
}

static uint32_t step(struct contexts *contexts, uint32_t from, uint64_t address)
{
	uint32_t hash = table_hash(address, from) % STACKS_CACHE;
	struct context_step *cached = &contexts->cache[hash];
	struct context context = { .returns = { address } };

	if (cached->address == address && cached->from == from)
		return cached->to;
	for (int i = 1; i < STACKS_TOP && from != 0; i++)
		context.returns[i] = context_at(contexts, from)->returns[i - 1];
	cached->address = address;
	cached->from = from;
	cached->to = intern(contexts, &context);
	return cached->to;
}

/* Take off the frames that are not above sp. */
static void unwind(struct stack *stack, uint64_t sp)
{
	while (stack->depth > 0 && stack->frames[stack->depth - 1].sp <= sp)
		stack->depth--;
}

static uint32_t context_of(const struct stack *stack)
{
	return stack->depth == 0 ? 0 : stack->frames[stack->depth - 1].context;
}

uint32_t stack_call(struct contexts *contexts, struct stack *stack, uint64_t sp,
		    uint64_t address)
{
	uint32_t context;

	unwind(stack, sp);
	context = step(contexts, context_of(stack), address);
	if (stack->depth < STACKS_DEPTH)
		stack->frames[stack->depth++] =
			(struct frame){ .sp = sp, .context = context };
	return context;
}

uint32_t stack_return(struct stack *stack, uint64_t sp)
{
	if (sp > 0)
		unwind(stack, sp - 1);
	return context_of(stack);
}
