/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The decoder on bytes nobody wrote: whatever they are, what it says of them
 * is within the limits that its callers rely on. Decodes on from each
 * instruction's end, as the sampling set does; then the bytes are a function
 * in which a trapped instruction and a call are looked for.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "x86/decode.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(int fact)
{
	if (!fact)
		abort();
}

static void check_operand(const struct mem_operand *operand)
{
	require(operand->kind >= ACCESS_READ && operand->kind <= ACCESS_RMW);
	require(operand->size >= 1 && operand->size <= X86_ACCESS_MAX);
	require(operand->base <= X86_REG_NONE);
	require(operand->index <= X86_REG_NONE);
	require(operand->bit_reg <= X86_REG_NONE);
	require(operand->segment <= X86_SEG_GS);
	require(operand->scale == 1 || operand->scale == 2 ||
		operand->scale == 4 || operand->scale == 8);
}

static void check_insn(const struct insn_access *insn, size_t size)
{
	require(insn->length >= 1 && insn->length <= X86_INSN_MAX);
	require(insn->length <= size);
	require(insn->refusal < X86_REFUSALS);
	require(insn->rep <= X86_REPNE && insn->flow <= X86_FLOW_STOP);
	require(insn->operand_count <= X86_OPERANDS_MAX);
	require(insn->refusal == X86_OK || insn->operand_count == 0);
	for (unsigned int i = 0; i < insn->operand_count; i++)
		check_operand(&insn->operands[i]);
}

/* Registers and a place to stand, taken from the bytes themselves. */
static void check_find(struct decoder *decoder, const uint8_t *data,
		       size_t size, uint64_t start)
{
	struct x86_registers regs = { .rip = 0 };
	struct mem_access watched = { 0x1000, X86_ACCESS_MAX, ACCESS_WRITE };
	uint64_t address = 0;
	struct insn_access insn;
	uint64_t at = start + (data[0] | data[size / 2] << 8) % (size + 2);

	for (int i = 0; i < 16; i++)
		regs.gpr[i] = 0x1000u + data[(size_t)i % size];
	regs.rip = at;
	if (decode_find_trapped(decoder, data, size, start, &regs, &watched,
				&address, &insn)) {
		require(address >= start && address - start < size);
		require(address <= at || insn.flow == X86_FLOW_JUMP ||
			insn.flow == X86_FLOW_NEXT);
		check_insn(&insn, size - (address - start));
	}
	if (decode_find_call(decoder, data, size, start, at, &regs, &watched,
			     &address, &insn)) {
		require(address + insn.length == at);
		require(insn.flow == X86_FLOW_CALL);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct decoder *decoder;
	const uint64_t start = 0x400000;
	struct insn_access insn;
	char text[64];

	if (!decoder)
		require(decoder_create(&decoder) == NULL);
	for (size_t at = 0; at < size; at += insn.length) {
		memset(&insn, 0xa5, sizeof(insn));
		decoder_decode(decoder, data + at, size - at, start + at,
			       &insn);
		check_insn(&insn, size - at);
		decoder_text(decoder, data + at, size - at, start + at, text,
			     sizeof(text));
		require(memchr(text, '\0', sizeof(text)) != NULL);
	}
	if (size > 0)
		check_find(decoder, data, size, start);
	return 0;
}
