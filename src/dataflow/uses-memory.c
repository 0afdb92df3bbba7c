/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Loads and stores of the simulated thread; see uses-parts.h. Bytes that it
 * stored are kept here; all other memory is as it was.
 */
#include "dataflow/uses-parts.h"

#include <string.h>

#include "x86/effective.h"

struct number uses_address(const struct uses_run *run,
			   const struct insn_access *insn,
			   const struct mem_operand *operand)
{
	const struct uses_state *state = &run->state;
	struct number base = number_known(0), index = number_known(0);
	struct number scaled = number_known(0), ret;
	uint64_t fixed = (uint64_t)operand->disp;

	if (operand->base < X86_RIP)
		base = state->gpr[operand->base];
	else if (operand->base == X86_RIP)
		fixed += state->rip + insn->length;
	if (operand->index < X86_RIP)
		index = state->gpr[operand->index];
	for (int i = 0; i < operand->scale; i++)
		scaled = number_add(&scaled, &index, 8);
	if (operand->segment == X86_SEG_FS)
		fixed += run->thread->regs->fs_base;
	if (operand->segment == X86_SEG_GS)
		fixed += run->thread->regs->gs_base;
	ret = number_add(&base, &scaled, 8);
	index = number_known(fixed);
	ret = number_add(&ret, &index, 8);
	return operand->addr32 ? number_cut(&ret, 4) : ret;
}

static const struct stored *stored_at(const struct uses_state *state,
				      uint64_t address)
{
	for (unsigned int i = 0; i < state->stored_count; i++) {
		if (state->stored[i].address == address)
			return &state->stored[i];
	}
	return NULL;
}

/*
 * Where the access begins in the operand: of a masked vector move that has been
 * executed it is what the mask selects. Other instructions may have overwritten
 * the register with the address.
 */
static unsigned int access_offset(const struct uses_question *question,
				  const struct number *address,
				  unsigned int size)
{
	uint64_t offset = question->access.address - address->value;

	return question->done && size > sizeof(uint64_t) &&
			       number_is_known(address) && offset < size
		       ? (unsigned int)offset
		       : 0;
}

/* The bytes in question, wherever the registers say that they are. */
static void load_asked(const struct uses_question *question,
		       unsigned int offset, unsigned int size,
		       struct vector *ret)
{
	for (unsigned int i = 0; i + offset < size && i < question->access.size;
	     i++) {
		bool asked = question->asked >> i & 1;

		ret->value[i + offset] = asked ? 0 : question->bytes[i];
		ret->asked[i + offset] = asked ? 0xff : 0;
		ret->unknown[i + offset] = 0;
	}
}

/*
 * Where the bytes asked about decide what is done, they do so in whatever loads
 * of them follow.
 */
static void ask_again(const struct uses_question *question, uint64_t address,
		      unsigned int size, struct vector *ret)
{
	for (unsigned int i = 0; i < size; i++) {
		uint64_t offset = address + i - question->access.address;

		if (offset < question->access.size &&
		    (question->asked >> offset & 1)) {
			ret->value[i] = 0;
			ret->asked[i] = 0xff;
		}
	}
}

void uses_load(struct uses_run *run, const struct number *address,
	       unsigned int size, struct vector *ret)
{
	memset(ret, 0, sizeof(*ret));
	memset(ret->unknown, 0xff, size);
	if (run->first) {
		load_asked(run->question,
			   access_offset(run->question, address, size), size,
			   ret);
		return;
	}
	uses_of_number(run, address);
	if (!number_is_known(address))
		return;
	if (run->thread->memory(run->thread->context, address->value,
				ret->value, size))
		memset(ret->unknown, 0, size);
	if (run->compared)
		ask_again(run->question, address->value, size, ret);
	for (unsigned int i = 0; i < size; i++) {
		const struct stored *stored =
			stored_at(&run->state, address->value + i);

		if (ret->unknown[i])
			ret->value[i] = 0;
		if (!stored)
			continue;
		ret->value[i] = stored->value;
		ret->asked[i] = stored->asked;
		ret->unknown[i] = stored->unknown;
	}
}

bool uses_is_own(const struct uses_run *run, uint64_t address)
{
	uint64_t rsp = run->thread->regs->gpr[X86_RSP];

	return address - (rsp - 4096) < 8192;
}

void uses_store(struct uses_run *run, const struct number *address,
		const struct vector *bytes, unsigned int size)
{
	struct uses_state *state = &run->state;

	uses_of_number(run, address);
	for (unsigned int i = 0; i < size && !run->ended; i++) {
		struct number byte = number_of_bits(
			bytes->value[i], bytes->asked[i], bytes->unknown[i]);
		struct stored *stored;

		if (!number_is_known(address) ||
		    !uses_is_own(run, address->value + i))
			uses_of_number(run, &byte);
		if (!number_is_known(address)) {
			if (run->compared)
				uses_give_up(run);
			continue;
		}
		stored = (struct stored *)stored_at(state, address->value + i);
		if (!stored && state->stored_count == USES_CELLS) {
			uses_give_up(run);
			return;
		}
		if (!stored)
			stored = &state->stored[state->stored_count++];
		*stored = (struct stored){ .address = address->value + i,
					   .value = bytes->value[i],
					   .asked = bytes->asked[i],
					   .unknown = bytes->unknown[i] };
	}
}

struct number uses_load_number(struct uses_run *run,
			       const struct number *address, unsigned int size)
{
	uint64_t value = 0, asked = 0, unknown = 0;
	struct vector bytes;

	uses_load(run, address, size, &bytes);
	memcpy(&value, bytes.value, size);
	memcpy(&asked, bytes.asked, size);
	memcpy(&unknown, bytes.unknown, size);
	return number_of_bits(value, asked, unknown);
}

void uses_store_number(struct uses_run *run, const struct number *address,
		       const struct number *number, unsigned int size)
{
	struct vector bytes = { 0 };

	memcpy(bytes.value, &number->value, size);
	memcpy(bytes.asked, &number->asked, size);
	memcpy(bytes.unknown, &number->unknown, size);
	uses_store(run, address, &bytes, size);
}

bool uses_stored_asked(const struct uses_state *state)
{
	for (unsigned int i = 0; i < state->stored_count; i++) {
		if (state->stored[i].asked)
			return true;
	}
	return false;
}
