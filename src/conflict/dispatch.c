/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Pointers to functions that are chosen at the first call; see dispatch.h.
 */
#include "conflict/dispatch.h"

#include <string.h>

#include "conflict/conflict.h"
#include "conflict/evidence.h"
#include "conflict/locks.h"
#include "dataflow/dispatch.h"
#include "image/elftext.h"
#include "image/image.h"
#include "sampling/dynamic.h"

/* Does one of the module's functions begin at the run-time address? */
static bool is_function(const struct module *module, uint64_t address)
{
	const struct elf_function *function =
		elftext_function_at(module->text, address - module->bias);

	return function && function->start == address - module->bias;
}

static bool side_calls(const struct conflict_side *side)
{
	struct locks_caller caller;
	struct function_code code;

	return locks_code(side, side->insn_address, &caller, &code) &&
	       dispatch_calls(&code, side->insn_address,
			      evidence_operand(side));
}

/* It is in the function `first', and stores another one's address. */
static bool side_replaces(const struct conflict_side *side,
			  const struct module *module, uint64_t first)
{
	const struct frame_registers *registers = &side->frames[0].registers;
	struct locks_caller caller;
	struct function_code code;
	uint64_t stored;
	int64_t imm;
	uint8_t reg;

	if (!locks_code(side, side->insn_address, &caller, &code) ||
	    code.start != first ||
	    !dispatch_stores(&code, side->insn_address, &reg, &imm))
		return false;
	if (reg < X86_RIP && !(registers->known & UINT32_C(1) << reg))
		return false;
	stored = reg < X86_RIP ? registers->gpr[reg] : (uint64_t)imm;
	return stored != first && is_function(module, stored);
}

/*
 * An instruction that jumps through memory is not known by where it led. But
 * the thread has just arrived where the pointer points to.
 */
static bool side_jumped(const struct conflict *conflict,
			const struct conflict_side *side,
			const struct module *module)
{
	uint64_t before, after;

	memcpy(&before, conflict->wire.before, sizeof(before));
	memcpy(&after, conflict->wire.after, sizeof(after));
	return side->insn_address == 0 && !side->kernel &&
	       (side->wire->regs.rip == before ||
		side->wire->regs.rip == after) &&
	       is_function(module, side->wire->regs.rip);
}

static bool side_takes_part(const struct conflict *conflict, int i,
			    const struct module *module, uint64_t first)
{
	const struct conflict_side *side = &conflict->sides[i];

	if (i == 1 && side_jumped(conflict, side, module))
		return true;
	if (!locks_can_tell(side) || side->insn.synchronizes || side->kernel ||
	    side->access.size != 8 ||
	    side->access.address != conflict->overlap.address ||
	    conflict->overlap.size != 8 || side->access.address % 8 != 0)
		return false;
	if (side->access.kind == ACCESS_READ)
		return side_calls(side);
	return side->access.kind == ACCESS_WRITE &&
	       side_replaces(side, module, first);
}

bool dispatch_pointer(const struct conflict *conflict)
{
	uint64_t address = conflict->overlap.address;
	const struct module *module;
	uint64_t first;

	/* the same variable in two processes is elsewhere in each */
	if (conflict->overlap.size != 8 || conflict->wire.shift != 0 ||
	    conflict->sides[0].access.address != address ||
	    !conflict->sides[1].wire->present)
		return false;
	module = image_module_at(conflict->sides[0].home->image, address);
	if (!module || !module->text)
		return false;
	first = dynamic_initial(module, address - module->bias);
	if (first == 0 || !is_function(module, first + module->bias))
		return false;
	first += module->bias;
	return side_takes_part(conflict, 0, module, first) &&
	       side_takes_part(conflict, 1, module, first);
}
