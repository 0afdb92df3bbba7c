/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Evidence of a conflict's sides; see evidence.h.
 */
#include "conflict/evidence.h"

#include <string.h>

#include "conflict/helper.h"
#include "conflict/locked.h"
#include "dataflow/pattern.h"
#include "image/elftext.h"
#include "image/image.h"
#include "sampling/names.h"
#include "sampling/rules.h"
#include "sampling/scan.h"

static const struct elf_function *
side_function(const struct conflict_side *side)
{
	if (!side->module || !side->module->text || side->insn_address == 0)
		return NULL;
	return elftext_function_at(side->module->text,
				   side->insn_address - side->module->bias);
}

/* The loader and the threading libraries synchronize inside. */
static bool side_in_runtime(const struct conflict_side *side)
{
	const struct elf_function *function;
	enum module_part part;

	if (!side->module || side->insn_address == 0)
		return false;
	part = rules_module_part(side->module);
	if (part == PART_NONE)
		return true;
	function = side_function(side);
	if (!function)
		return false;
	return rules_synchronization_name(function->name) ||
	       (part != PART_ALL && rules_threading_name(function->name));
}

/*
 * What a rule says of the side's bytes, is it about those where the two meet? A
 * wide access may begin in a variable of another kind.
 */
static bool side_rule_holds(const struct conflict *conflict, int i)
{
	uint64_t address = conflict->sides[i].access.address;

	switch ((int)conflict->sides[i].rule) {
	case RULE_PLT:
		return true;
	case RULE_ATOMIC_TYPE:
	case RULE_GUARD:
		return address - (i == 1 ? conflict->wire.shift : 0) ==
		       conflict->overlap.address;
	default:
		return false;
	}
}

/* Evidence about the bytes, whichever side accesses them. */
static const char *evidence_of_both(const struct conflict_context *context,
				    const struct conflict *conflict)
{
	enum rule rule =
		rules_data(context->homes[0].image, conflict->overlap.address);

	if (rule_is_synchronization(rule))
		return rule_name(rule);
	for (int i = 0; i < 2; i++) {
		if (side_rule_holds(conflict, i))
			return rule_name(conflict->sides[i].rule);
	}
	return NULL;
}

void evidence_of_sides(const struct conflict_context *context,
		       struct conflict *conflict)
{
	const char *both = evidence_of_both(context, conflict);
	bool runtime = side_in_runtime(&conflict->sides[1]);

	for (int i = 0; i < 2; i++) {
		struct conflict_side *side = &conflict->sides[i];
		bool own = side->rule == RULE_SYNCHRONIZING ||
			   side->rule == RULE_ATOMIC_CODE;

		/* what the program's side itself is tells more of it */
		side->sync = both;
		if (!both && runtime && (i == 1 || !own))
			side->sync = "runtime";
		else if (!both && own)
			side->sync = rule_name(side->rule);
	}
}

unsigned int evidence_operand(const struct conflict_side *side)
{
	unsigned int found = 0;

	for (unsigned int i = 0; i < side->insn.operand_count; i++) {
		const struct mem_operand *operand = &side->insn.operands[i];

		if (operand->stack)
			continue;
		if (operand->kind == side->access.kind &&
		    operand->size == side->access.size)
			return i;
		found = i;
	}
	return found;
}

/* The side's function, and where it is; NULL: not known, or in the kernel. */
static const uint8_t *side_code(const struct conflict_side *side,
				size_t *ret_size, uint64_t *ret_start)
{
	const struct elf_function *function = side_function(side);
	const uint8_t *bytes;

	*ret_size = 0;
	if (!function || side->kernel)
		return NULL;
	bytes = elftext_bytes(side->module->text, function->start, ret_size);
	if (*ret_size > function->size)
		*ret_size = function->size;
	*ret_start = function->start + side->module->bias;
	return bytes;
}

void evidence_pattern(const struct conflict_side *side,
		      struct code_pattern *ret)
{
	uint64_t start;
	size_t size;
	const uint8_t *bytes = side_code(side, &size, &start);

	*ret = (struct code_pattern){ .used = UINT64_MAX };
	if (bytes)
		pattern_find(side->home->scanner->decoder, bytes, size, start,
			     side->insn_address, evidence_operand(side), ret);
}

bool evidence_constant(const struct conflict_side *side)
{
	uint64_t start;
	size_t size;
	const uint8_t *bytes = side_code(side, &size, &start);

	return bytes &&
	       pattern_stores_constant(side->home->scanner->decoder, bytes,
				       size, start, side->insn_address);
}

bool evidence_made(const struct conflict_side *side)
{
	uint64_t start;
	size_t size;
	const uint8_t *bytes = side_code(side, &size, &start);

	return bytes && pattern_stores_made(side->home->scanner->decoder, bytes,
					    size, start, side->insn_address);
}

bool evidence_helper(const struct conflict_side *side)
{
	const struct elf_function *function = side_function(side);

	return function && !function->name && !side->kernel &&
	       helper_synchronizes(side->home->scanner->decoder,
				   side->module->text, function);
}

bool evidence_locked_elsewhere(const struct conflict_side *side,
			       const struct code_pattern *pattern,
			       bool has_lines)
{
	const struct module *module;
	enum locked locked;

	if (side->kernel || side->access.size == 0 ||
	    (side->access.kind != ACCESS_READ &&
	     side->access.kind != ACCESS_WRITE) ||
	    (pattern->change != PATTERN_UNKNOWN &&
	     pattern->change != PATTERN_CONSTANT))
		return false;
	module = image_module_at(side->home->image, side->access.address);
	if (!module || !module->text)
		return false;
	locked = locked_elsewhere(side->home->scanner->decoder, module->text,
				  side->access.address - module->bias,
				  side->access.size);
	return locked == LOCKED_CHANGED ||
	       (locked == LOCKED_ADDED &&
		(!has_lines || side->access.kind == ACCESS_READ));
}

bool evidence_of_string_function(const struct conflict_side *side)
{
	const struct elf_function *function = side_function(side);

	return function && rules_module_part(side->module) == PART_STRINGS &&
	       rules_string_name(function->name);
}

enum atomics_missing evidence_missing(const struct conflict_side *side)
{
	if (side->kernel || !side->wire->present ||
	    evidence_of_string_function(side))
		return ATOMICS_MISS_NOTHING;
	if (!side->module || side->insn_address == 0)
		return ATOMICS_MISS_DEBUG;
	return atomics_missing(side->home->image, side->module,
			       side->insn_address - side->module->bias,
			       side->access.kind & ACCESS_WRITE);
}

bool evidence_decided_elsewhere(const struct conflict_side *side)
{
	const struct module *module =
		image_module_at(side->home->image, side->access.address);

	return module && module->text && side->access.size > 0 &&
	       decided_elsewhere(side->home->scanner->decoder, module->text,
				 side->access.address - module->bias,
				 side->access.size);
}

static bool side_has_all(const struct conflict *conflict, int i,
			 const struct module *module)
{
	const struct conflict_side *side = &conflict->sides[i];

	if (!side->wire->present)
		return i == 1;
	return side->module == module && !side->kernel &&
	       !side->insn.synchronizes && side->access.kind != ACCESS_RMW &&
	       side->access.address == conflict->overlap.address &&
	       side->access.size == conflict->overlap.size;
}

bool evidence_processor(const struct conflict *conflict)
{
	static const uint8_t nothing[8];
	const struct conflict_home *home = conflict->sides[0].home;
	uint64_t address = conflict->overlap.address;
	uint32_t size = conflict->overlap.size;
	const struct module *module = image_module_at(home->image, address);

	if (!module || !module->text || conflict->wire.shift != 0 ||
	    (size != 4 && size != 8) || address % size != 0 ||
	    !side_has_all(conflict, 0, module) ||
	    !side_has_all(conflict, 1, module))
		return false;
	if (memcmp(conflict->wire.before, nothing, size) != 0 &&
	    memcmp(conflict->wire.before, conflict->wire.after, size) != 0)
		return false;
	return processor_elsewhere(home->scanner->decoder, module->text,
				   address - module->bias, size);
}
