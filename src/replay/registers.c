/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Register live-outs; see registers-parts.h.
 */
#include "replay/registers-parts.h"

#include <sys/syscall.h>

#include "dataflow/liveness.h"
#include "replay/instance-parts.h"
#include "replay/processor-parts.h"
#include "x86/vectors.h"

enum {
	/* rbx, rsp, rbp, r12 to r15 (psABI 3.2.1), and results */
	RETURN_KEEPS = 1 << X86_RBX | 1 << X86_RSP | 1 << X86_RBP |
		       0xf << X86_R12 | 1 << X86_RAX | 1 << X86_RDX |
		       LIVENESS_XMM0 | LIVENESS_XMM1,
	/* a system call changes rax, rcx and r11 */
	CALL_KEEPS = 0xffff & ~(1 << X86_RAX | 1 << X86_RCX | 1 << X86_R11),
};

/* One thread in two outcomes. */
struct comparison {
	struct instance *instance;
	const struct replay_outcome *a, *b;
	int thread;
};

static size_t comparison_code(void *context, uint64_t address, uint8_t *bytes,
			      size_t size)
{
	const struct comparison *comparison = context;
	struct processor *processor = comparison->instance->processor;

	return processor_read_text(processor_space(processor,
						   comparison->thread),
				   address, bytes, size);
}

static bool comparison_memory(void *context, uint64_t address, uint8_t *bytes,
			      size_t size)
{
	const struct comparison *comparison = context;
	struct processor *processor = comparison->instance->processor;

	/* tables of functions may not have been read yet */
	return processor_read_text(processor_space(processor,
						   comparison->thread),
				   address, bytes, size) == size &&
	       outcome_read(comparison->a, processor,
			    processor_space_of(processor, comparison->thread),
			    address, bytes, size);
}

/* Of a number that is returned in a vector register. */
static bool differs_low(const struct replay_context *a,
			const struct replay_context *b, unsigned int number)
{
	return vectors_low(a->vectors, a->vectors_size, number) !=
	       vectors_low(b->vectors, b->vectors_size, number);
}

static uint32_t differing_vectors(const struct replay_context *a,
				  const struct replay_context *b)
{
	uint32_t set = 0;

	if (differs_low(a, b, 0))
		set |= LIVENESS_XMM0;
	if (differs_low(a, b, 1))
		set |= LIVENESS_XMM1;
	return set;
}

static uint32_t differing(const struct replay_context *a,
			  const struct replay_context *b)
{
	uint32_t set = differing_vectors(a, b);

	for (unsigned int i = 0; i < 16; i++) {
		if (a->regs.gpr[i] != b->regs.gpr[i])
			set |= UINT32_C(1) << i;
	}
	return set;
}

/* The arguments of a system call, of those that are numbers or buffers. */
static uint32_t registers_of_call(uint64_t number)
{
	switch (number) {
	case SYS_read:
	case SYS_write:
	case SYS_readv:
	case SYS_writev:
		return 1 << X86_RDI | 1 << X86_RSI | 1 << X86_RDX;
	default:
		return 1 << X86_RDI;
	}
}

/* Is it another call, or has it other arguments? */
static bool comparison_of_call(const struct comparison *comparison,
			       uint32_t differing)
{
	const struct replay_stop *a = &comparison->a->ends[comparison->thread];
	const struct replay_stop *b = &comparison->b->ends[comparison->thread];

	return a->number != b->number ||
	       differing & registers_of_call(a->number);
}

static bool comparison_differs(const struct comparison *comparison)
{
	const struct replay_context *a =
		&comparison->a->contexts[comparison->thread];
	const struct replay_context *b =
		&comparison->b->contexts[comparison->thread];
	const struct replay_stop *end =
		&comparison->a->ends[comparison->thread];
	struct liveness_thread thread = {
		.decoder = comparison->instance->processor->decoder,
		.regs = &a->regs,
		.code = comparison_code,
		.memory = comparison_memory,
		.context = (void *)comparison,
	};
	uint32_t set = differing(a, b), undecided = 0;
	bool differ;

	if (end->kind == REPLAY_RETURNED)
		set &= RETURN_KEEPS;
	else if (end->kind == REPLAY_SYSTEM_CALL &&
		 comparison_of_call(comparison, set))
		return true;
	else if (end->kind == REPLAY_SYSTEM_CALL)
		set &= CALL_KEEPS;
	differ = set && liveness_find(&thread, set, &undecided) != 0;
	if (undecided && end->kind == REPLAY_RETURNED)
		differ = true;
	else if (undecided)
		comparison->instance->locals = true;
	return differ;
}

bool registers_differ(struct instance *instance, const struct replay_outcome *a,
		      const struct replay_outcome *b)
{
	bool differ = false;

	for (int i = 0; i < REPLAY_THREADS; i++) {
		struct comparison comparison = { instance, a, b, i };

		differ |= comparison_differs(&comparison);
	}
	return differ;
}
