/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Looking for locked instructions by the address they name; see locked.h.
 */
#include "detect/locked.h"

#include <string.h>

#include "detect/rules.h"
#include "image/elftext.h"
#include "x86/access.h"
#include "x86/decode.h"

struct search {
	uint64_t address;
	uint32_t size;
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

static bool is_locked_there(const struct search *search, uint64_t address,
			    const struct insn_access *insn)
{
	uint64_t target;

	return insn->synchronizes && insn->operand_count == 1 &&
	       insn->operands[0].size == search->size &&
	       rules_fixed_address(address, insn, &insn->operands[0],
				   &target) &&
	       target == search->address;
}

static bool function_locks(const struct search *search, struct decoder *decoder,
			   const uint8_t *bytes, size_t size, uint64_t start)
{
	struct insn_access insn;

	for (size_t at = 0; at < size; at += insn.length ? insn.length : 1) {
		decoder_decode(decoder, bytes + at, size - at, start + at,
			       &insn);
		if (is_locked_there(search, start + at, &insn))
			return true;
	}
	return false;
}

bool locked_elsewhere(struct decoder *decoder, const struct elftext *text,
		      uint64_t address, uint32_t size)
{
	struct search search = { .address = address, .size = size };
	const struct elf_function *functions;
	size_t count;

	functions = elftext_functions(text, &count);
	for (size_t i = 0; i < count; i++) {
		uint64_t start = functions[i].start;
		size_t length = 0;
		const uint8_t *bytes = elftext_bytes(text, start, &length);

		if (!bytes)
			continue;
		if (length > functions[i].size)
			length = functions[i].size;
		if (may_name_it(&search, bytes, length, start) &&
		    function_locks(&search, decoder, bytes, length, start))
			return true;
	}
	return false;
}
