/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Looking for instructions by the address they name; see locked.h.
 */
#include "conflict/locked.h"

#include <string.h>

#include "dataflow/pattern.h"
#include "image/elftext.h"
#include "report/related.h"
#include "sampling/rules.h"
#include "x86/access.h"
#include "x86/decode.h"

/* Bytes of code that are looked through for what decides. */
static const size_t DECIDED_MAX = (size_t)16 << 20;

/* The code of one function. */
struct code {
	const uint8_t *bytes;
	size_t size;
	uint64_t start;
};

struct search {
	uint64_t address;
	uint32_t size;
	struct decoder *decoder;
	/* look at the instruction at that address; true: nothing is left to do */
	bool (*ends)(struct search *search, const struct code *code,
		     uint64_t address, const struct insn_access *insn);
	enum locked locked; /* what has been found of locked instructions */
	bool stored; /* by functions that ask the processor */
};

/*
 * The bytes at `at` (of that file address) are a displacement that leads to
 * the datum: from the end of the instruction, up to four bytes of an immediate
 * further on, or from zero.
 */
static bool names_it(const struct search *search, const uint8_t *bytes,
		     uint64_t at)
{
	int32_t disp;
	uint64_t after;

	memcpy(&disp, bytes, sizeof(disp));
	if ((uint64_t)(int64_t)disp == search->address)
		return true;
	after = search->address - (at + sizeof(disp) + (uint64_t)(int64_t)disp);
	return after <= 4;
}

static bool may_name_it(const struct search *search, const uint8_t *bytes,
			size_t size, uint64_t start)
{
	for (size_t i = 0; i + 4 <= size; i++) {
		if (names_it(search, bytes + i, start + i))
			return true;
	}
	return false;
}

/* Its only operand is just the datum. */
static bool is_there(const struct search *search, uint64_t address,
		     const struct insn_access *insn)
{
	uint64_t target;

	return insn->operand_count == 1 &&
	       insn->operands[0].size == search->size &&
	       rules_fixed_address(address, insn, &insn->operands[0],
				   &target) &&
	       target == search->address;
}

/* An addition is the most that can be found. */
static bool note_locked(struct search *search, const struct code *code,
			uint64_t address, const struct insn_access *insn)
{
	size_t at = (size_t)(address - code->start);

	if (!insn->synchronizes || !is_there(search, address, insn))
		return false;
	search->locked = pattern_adds(search->decoder, code->bytes + at,
				      code->size - at, address)
				 ? LOCKED_ADDED
				 : LOCKED_CHANGED;
	return search->locked == LOCKED_ADDED;
}

static bool is_decided_there(struct search *search, const struct code *code,
			     uint64_t address, const struct insn_access *insn)
{
	struct code_pattern pattern;

	if (!is_there(search, address, insn) ||
	    !(insn->operands[0].kind & ACCESS_READ))
		return false;
	pattern_find(search->decoder, code->bytes, code->size, code->start,
		     address, 0, &pattern);
	return related_pattern_decides(&pattern);
}

/* With the address as a displacement or a number, for any purpose. */
static bool refers(const struct search *search, const struct code *code,
		   uint64_t address, const struct insn_access *insn)
{
	size_t at = (size_t)(address - code->start);
	int32_t disp;

	for (size_t i = at; i + sizeof(disp) <= at + insn->length &&
			    i + sizeof(disp) <= code->size;
	     i++) {
		memcpy(&disp, code->bytes + i, sizeof(disp));
		if ((uint64_t)(int64_t)disp == search->address ||
		    address + insn->length + (uint64_t)(int64_t)disp ==
			    search->address)
			return true;
	}
	return false;
}

/* "movq %rax, 0x29736c(%rip)" */
static bool stores_register(const struct search *search,
			    const struct code *code, uint64_t address)
{
	size_t at = (size_t)(address - code->start);
	char text[64];

	decoder_text(search->decoder, code->bytes + at, code->size - at, 0,
		     text, sizeof(text));
	return strncmp(text, "mov", 3) == 0 && strstr(text, " %");
}

static bool reads_elsewhere(const struct insn_access *insn)
{
	for (unsigned int i = 0; i < insn->operand_count; i++) {
		const struct mem_operand *operand = &insn->operands[i];

		if ((operand->kind & ACCESS_READ) && !operand->stack &&
		    operand->base != X86_RSP && operand->base != X86_RBP &&
		    insn->flow != X86_FLOW_CALL)
			return true;
	}
	return false;
}

/* From its start to that address it executes cpuid, and reads only its stack. */
static bool asks_processor(const struct search *search, const struct code *code,
			   uint64_t end)
{
	static const uint8_t cpuid[] = { 0x0f, 0xa2 };
	struct insn_access insn;
	bool asks = false;

	for (size_t at = 0; at < end - code->start;
	     at += insn.length ? insn.length : 1) {
		decoder_decode(search->decoder, code->bytes + at,
			       code->size - at, code->start + at, &insn);
		if (reads_elsewhere(&insn))
			return false;
		asks |= insn.length == sizeof(cpuid) &&
			memcmp(code->bytes + at, cpuid, sizeof(cpuid)) == 0;
	}
	return asks;
}

/* Ends where something else is done with it. */
static bool is_no_answer(struct search *search, const struct code *code,
			 uint64_t address, const struct insn_access *insn)
{
	if (!refers(search, code, address, insn))
		return false;
	if (!is_there(search, address, insn) || insn->synchronizes)
		return true;
	if (insn->operands[0].kind == ACCESS_READ)
		return false;
	search->stored = insn->operands[0].kind == ACCESS_WRITE &&
			 stores_register(search, code, address) &&
			 asks_processor(search, code, address);
	return !search->stored;
}

static bool ends_in(struct search *search, const struct code *code)
{
	struct insn_access insn;

	for (size_t at = 0; at < code->size;
	     at += insn.length ? insn.length : 1) {
		decoder_decode(search->decoder, code->bytes + at,
			       code->size - at, code->start + at, &insn);
		if (search->ends(search, code, code->start + at, &insn))
			return true;
	}
	return false;
}

/* In the functions of the file, of which the first `most' bytes are read. */
static bool found_in(struct search *search, const struct elftext *text,
		     size_t most)
{
	const struct elf_function *functions;
	size_t count, seen = 0;

	functions = elftext_functions(text, &count);
	for (size_t i = 0; i < count && seen < most; i++) {
		struct code code = { .start = functions[i].start };

		code.bytes = elftext_bytes(text, code.start, &code.size);
		if (!code.bytes)
			continue;
		if (code.size > functions[i].size)
			code.size = functions[i].size;
		seen += code.size;
		if (may_name_it(search, code.bytes, code.size, code.start) &&
		    ends_in(search, &code))
			return true;
	}
	return false;
}

enum locked locked_elsewhere(struct decoder *decoder,
			     const struct elftext *text, uint64_t address,
			     uint32_t size)
{
	struct search search = {
		.address = address,
		.size = size,
		.decoder = decoder,
		.ends = note_locked,
		.locked = LOCKED_NOWHERE,
	};

	found_in(&search, text, SIZE_MAX);
	return search.locked;
}

bool decided_elsewhere(struct decoder *decoder, const struct elftext *text,
		       uint64_t address, uint32_t size)
{
	struct search search = {
		.address = address,
		.size = size,
		.decoder = decoder,
		.ends = is_decided_there,
	};

	return found_in(&search, text, DECIDED_MAX);
}

bool processor_elsewhere(struct decoder *decoder, const struct elftext *text,
			 uint64_t address, uint32_t size)
{
	struct search search = {
		.address = address,
		.size = size,
		.decoder = decoder,
		.ends = is_no_answer,
	};

	return !found_in(&search, text, SIZE_MAX) && search.stored;
}
