/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Does a region end right behind its access, but for what is the thread's own? Then
 * it makes no difference where the rest runs; see instance-parts.h.
 */
#include "replay/instance-parts.h"

#include "replay/processor-parts.h"
#include "x86/decode.h"

enum {
	BARE_INSNS = 16,
	BARE_WORD = 8,
};

/* Registers are pulled from the stack, or changed. */
static bool bare_goes_on(const struct insn_access *insn, uint64_t *rsp)
{
	if (insn->flow != X86_FLOW_NEXT || insn->refusal != X86_OK ||
	    insn->synchronizes || insn->rep != X86_REP_NONE)
		return false;
	for (unsigned int i = 0; i < insn->operand_count; i++) {
		const struct mem_operand *operand = &insn->operands[i];

		if (!operand->stack || operand->kind != ACCESS_READ ||
		    operand->size != BARE_WORD)
			return false;
		*rsp += BARE_WORD;
	}
	return true;
}

/* The kernel may do anything. */
static bool bare_calls_kernel(const uint8_t *bytes)
{
	return (bytes[0] == 0x0f && (bytes[1] == 0x05 || bytes[1] == 0x34)) ||
	       (bytes[0] == 0xcd && bytes[1] == 0x80);
}

/* From that address and stack pointer on: only that, and the region's return? */
static bool bare_returns(const struct instance *instance, int thread,
			 uint64_t rip, uint64_t rsp)
{
	struct processor *processor = instance->processor;
	struct space *space = processor_space(processor, thread);

	for (int i = 0; i < BARE_INSNS; i++) {
		uint8_t bytes[X86_INSN_MAX] = { 0 };
		struct insn_access insn;
		size_t size =
			processor_read_text(space, rip, bytes, sizeof(bytes));

		decoder_decode(processor->decoder, bytes, size, rip, &insn);
		if (insn.length == 0 || bare_calls_kernel(bytes))
			return false;
		if (insn.flow == X86_FLOW_RET)
			return rsp ==
			       processor->instance.threads[thread].return_slot;
		if (!bare_goes_on(&insn, &rsp))
			return false;
		rip += insn.length;
	}
	return false;
}

/* Are the raced bytes in the frame that the rest leaves? */
static bool bare_is_raced(const struct instance *instance, int thread,
			  uint64_t rsp)
{
	const struct mem_access *access =
		&instance->question->sides[thread].access;
	uint64_t end =
		instance->processor->instance.threads[thread].return_slot +
		BARE_WORD;

	return access->address < end && access->address + access->size > rsp;
}

bool instance_rest_is_bare(const struct instance *instance, int thread)
{
	const struct processor *processor = instance->processor;
	const struct replay_side *side = &instance->question->sides[thread];
	const struct x86_registers *start = &processor->starts[thread].regs;
	uint64_t rsp = start->gpr[X86_RSP];

	/* it may end at the next arrival, or begin before the instruction */
	if (processor->ends[REPLAY_THREADS + thread].address != 0 ||
	    processor->accesses[thread].length > 1 || start->rip != side->rip ||
	    side->insn.flow != X86_FLOW_NEXT)
		return false;
	for (unsigned int i = 0; i < side->insn.operand_count; i++) {
		if (side->insn.operands[i].stack)
			return false;
	}
	return !bare_is_raced(instance, thread, rsp) &&
	       bare_returns(instance, thread, side->rip + side->insn.length,
			    rsp);
}
