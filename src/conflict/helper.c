/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Whom a function without a name works for; see helper.h.
 */
#include "conflict/helper.h"

#include "image/elftext.h"
#include "sampling/names.h"
#include "x86/access.h"
#include "x86/decode.h"

static bool leads_to(struct decoder *decoder, const struct elftext *text,
		     const struct elf_function *from, uint64_t target)
{
	struct insn_access insn;
	size_t size = 0;
	const uint8_t *bytes = elftext_bytes(text, from->start, &size);

	if (!bytes)
		return false;
	if (size > from->size)
		size = from->size;
	for (size_t at = 0; at < size; at += insn.length ? insn.length : 1) {
		decoder_decode(decoder, bytes + at, size - at, from->start + at,
			       &insn);
		if (insn.target == target)
			return true;
	}
	return false;
}

bool helper_synchronizes(struct decoder *decoder, const struct elftext *text,
			 const struct elf_function *function)
{
	const struct elf_function *functions;
	size_t count;

	if (function->name)
		return false;
	functions = elftext_functions(text, &count);
	for (size_t i = 0; i < count; i++) {
		if (rules_synchronization_name(functions[i].name) &&
		    leads_to(decoder, text, &functions[i], function->start))
			return true;
	}
	return false;
}
