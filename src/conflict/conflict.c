/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Conflicts by address; see conflict.h. Names come in describe.c.
 */
#include "conflict/conflict.h"

#include <string.h>

#include "base/error.h"
#include "base/syscalls.h"
#include "conflict/evidence.h"
#include "conflict/used.h"
#include "image/elftext.h"
#include "image/image.h"
#include "image/variables.h"
#include "sampling/scan.h"
#include "x86/decode.h"
#include "x86/effective.h"

/* On the stack, too, an atomic operation is one. */
static void side_classify(const struct conflict_context *context,
			  struct conflict_side *side)
{
	struct rules rules = *context->rules;
	unsigned int flags;

	rules.include_stack = true;
	side->rule = RULE_SITE;
	if (!side->module || side->insn_address == 0)
		return;
	flags = evidence_of_string_function(side) ? RULES_NO_MARKS : 0;
	side->rule = rules_classify(&rules, side->home->image, side->module,
				    side->insn_address - side->module->bias,
				    &side->insn, flags);
}

/* A thread that stands before its access: the instruction is at rip. */
static void side_stands(struct conflict_side *side)
{
	uint64_t rip = side->wire->regs.rip;
	struct module *module = image_module_at(side->home->image, rip);

	side->access = side->wire->access;
	if (!module || !module->text)
		return;
	side->module = module;
	side->insn_address = rip;
	scan_instruction(side->home->scanner, module, rip - module->bias,
			 &side->insn);
}

/* A function's body, as the decoder wants it. */
struct body {
	struct module *module;
	const uint8_t *bytes;
	size_t size;
	uint64_t start; /* run-time, as the registers are */
};

static bool body_at(const struct conflict_home *home, uint64_t rip,
		    struct body *ret)
{
	struct module *module = image_module_at(home->image, rip);
	const struct elf_function *function;

	if (!module || !module->text)
		return false;
	/* rip may be one past a function that ends in a call */
	function = elftext_function_at(module->text, rip - module->bias);
	if (!function)
		function = elftext_function_at(module->text,
					       rip - 1 - module->bias);
	if (!function)
		return false;
	ret->module = module;
	ret->bytes = elftext_bytes(module->text, function->start, &ret->size);
	ret->start = function->start + module->bias;
	if (ret->size > function->size)
		ret->size = function->size;
	return ret->bytes;
}

/* Find the instruction that trapped, in the function that holds rip. */
static bool side_search(struct conflict_side *side,
			const struct mem_access *watched)
{
	struct body body;

	if (!body_at(side->home, side->wire->regs.rip, &body) ||
	    !decode_find_trapped(side->home->scanner->decoder, body.bytes,
				 body.size, body.start, &side->wire->regs,
				 watched, &side->insn_address, &side->insn))
		return false;
	side->module = body.module;
	return true;
}

/* The thread has just entered a function: find the call. */
static bool side_search_call(struct conflict_side *side, uint64_t caller,
			     const struct mem_access *watched)
{
	struct body body;

	if (!body_at(side->home, caller - 1, &body) ||
	    !decode_find_call(side->home->scanner->decoder, body.bytes,
			      body.size, body.start, caller, &side->wire->regs,
			      watched, &side->insn_address, &side->insn))
		return false;
	side->module = body.module;
	return true;
}

/*
 * It was called, by name, a function that has jumped on through memory: find the
 * jump. The registers are those that it left.
 */
static bool side_search_jump(struct conflict_side *side, uint64_t caller,
			     const struct mem_access *watched)
{
	struct decoder *decoder = side->home->scanner->decoder;
	struct body body, jumps;
	uint64_t called;

	if (!body_at(side->home, caller - 1, &body) ||
	    !decode_called(decoder, body.bytes, body.size, body.start, caller,
			   &called) ||
	    !body_at(side->home, called, &jumps) || jumps.start != called ||
	    !decode_find_jump(decoder, jumps.bytes, jumps.size, jumps.start,
			      &side->wire->regs, watched, &side->insn_address,
			      &side->insn))
		return false;
	side->module = jumps.module;
	return true;
}

static bool side_return_address(const struct conflict_side *side,
				const uint8_t *stack, uint64_t *ret)
{
	const struct wire_side *wire = side->wire;
	uint64_t offset = wire->regs.gpr[X86_RSP] - wire->stack_address;

	if (wire->stack_size < sizeof(*ret) ||
	    offset > wire->stack_size - sizeof(*ret))
		return false;
	memcpy(ret, stack + offset, sizeof(*ret));
	return true;
}

static uint64_t range_distance(const struct mem_access *a,
			       const struct mem_access *b)
{
	if (mem_access_overlap(a, b))
		return 0;
	return a->address < b->address ? b->address - (a->address + a->size)
				       : a->address - (b->address + b->size);
}

/*
 * The bytes one operand touched, by the registers after the access. String
 * instructions have moved on by an element by then.
 */
static struct mem_access side_operand(const struct conflict_side *side,
				      const struct mem_operand *operand)
{
	struct x86_registers regs = side->wire->regs;
	struct mem_access access = { .kind = operand->kind,
				     .size = operand->size };
	bool down = regs.rflags & (UINT64_C(1) << 10);

	regs.rip = side->insn_address;
	access.address = effective_address(&side->insn, operand, &regs);
	if (operand->string)
		access.address += down ? operand->size
				       : -(uint64_t)operand->size;
	return access;
}

/*
 * Where the access must have been when its address register was overwritten:
 * at the watched bytes, and aligned as compilers do it.
 */
static uint64_t side_aligned(const struct conflict_side *side,
			     const struct mem_access *watched)
{
	uint64_t size = side->access.size;

	if (size == 0 || size > 8 || (size & (size - 1)) != 0)
		return watched->address;
	return watched->address & ~(size - 1);
}

/* Of the instruction found, the operand that touched the watched bytes. */
static void side_access(struct conflict_side *side,
			const struct mem_access *watched)
{
	uint64_t nearest = UINT64_MAX;

	for (unsigned int i = 0; i < side->insn.operand_count; i++) {
		struct mem_access access =
			side_operand(side, &side->insn.operands[i]);
		uint64_t distance = range_distance(&access, watched);

		if (distance > nearest ||
		    (distance == nearest && distance > 0 && i > 0))
			continue;
		if (distance == nearest && distance == 0)
			access.kind |= side->access.kind;
		nearest = distance;
		side->access = access;
	}
	if (nearest > 0 && nearest < UINT64_MAX)
		side->access.address = side_aligned(side, watched);
	side->guessed = nearest > 0;
}

/* A thread that has made its access. */
static void side_trapped(struct conflict_side *side, const uint8_t *stack,
			 const struct mem_access *watched)
{
	uint64_t caller;

	if (side_search(side, watched) ||
	    (side_return_address(side, stack, &caller) &&
	     (side_search_call(side, caller, watched) ||
	      side_search_jump(side, caller, watched))))
		side_access(side, watched);
}

/* The kernel has made the access for the thread. */
static void side_kernel(struct conflict_side *side)
{
	side->kernel = true;
	side->access = side->wire->access;
	switch (syscall_direction(side->wire->syscall)) {
	case SYSCALL_READS:
		side->access.kind = ACCESS_READ;
		break;
	case SYSCALL_WRITES:
		side->access.kind = ACCESS_WRITE;
		break;
	case SYSCALL_UNKNOWN:
		break;
	}
}

/*
 * The base register of the access as it was before. An instruction that has
 * overwritten it (mov (%rax), %rax) has told by the bytes what it was.
 */
static void side_base(struct conflict_side *side)
{
	const struct mem_operand *operand = &side->insn.operands[0];
	struct frame_registers *registers = &side->frames[0].registers;
	uint64_t base;

	if (side->insn.operand_count != 1 || operand->base >= X86_RIP ||
	    operand->string || operand->stack || operand->addr32 ||
	    operand->segment != X86_SEG_NONE ||
	    operand->bit_reg != X86_REG_NONE || side->access.size == 0)
		return;
	base = registers->gpr[operand->base];
	if (operand->index == X86_REG_NONE)
		base = side->access.address - (uint64_t)operand->disp;
	registers->gpr[operand->base] = base;
	side->base = base;
}

static struct error *side_unwind(struct conflict_side *side,
				 const uint8_t *stack)
{
	const struct wire_side *wire = side->wire;
	struct unwind_input input = {
		.tid = wire->tid,
		.regs = wire->regs,
		.stack_address = wire->stack_address,
		.stack = stack,
		.stack_size = wire->stack_size,
	};
	struct error *err = unwind_frames(side->home->image, &input,
					  side->frames, CONFLICT_FRAMES,
					  &side->frame_count);

	if (err)
		return err;
	/* rip is after the system call, the access was in it */
	side->frames[0].is_return = side->kernel;
	if (side->kernel || side->insn_address == 0)
		return NULL;
	if (wire->before) {
		side_base(side);
		return NULL;
	}
	if (side->insn.flow == X86_FLOW_CALL && side->frame_count > 1 &&
	    side->frames[1].pc == side->insn_address + side->insn.length) {
		side->frame_count--;
		memmove(side->frames, side->frames + 1,
			side->frame_count * sizeof(side->frames[0]));
	}
	side->frames[0].pc = side->insn_address;
	side->frames[0].is_return = false;
	side_base(side);
	return NULL;
}

static struct error *conflict_side(const struct conflict_context *context,
				   struct conflict *conflict, int i,
				   const uint8_t *stack)
{
	struct conflict_side *side = &conflict->sides[i];
	struct mem_access watched = { 0 };

	memset(side, 0, sizeof(*side));
	side->home = &context->homes[i];
	side->wire = &conflict->wire.sides[i];
	if (!side->wire->present)
		return NULL;
	side->stack = stack;
	if (side->wire->before)
		side_stands(side);
	else if (side->wire->syscall != -1)
		side_kernel(side);
	else {
		watched = conflict->sides[0].access;
		watched.address += conflict->wire.shift;
		side_trapped(side, stack, &watched);
	}
	side_classify(context, side);
	return side_unwind(side, stack);
}

static bool conflict_changed(const struct conflict *conflict)
{
	return memcmp(conflict->wire.before, conflict->wire.after,
		      X86_ACCESS_MAX) != 0;
}

/*
 * What the racing access must have been when its instruction does not say: a
 * watch for a read traps on writes only, and changed bytes were written.
 */
static void conflict_infer(struct conflict *conflict)
{
	const struct mem_access *stalled = &conflict->sides[0].access;
	struct mem_access *racing = &conflict->sides[1].access;

	if (racing->kind != ACCESS_NONE)
		return;
	if (stalled->kind == ACCESS_READ || conflict_changed(conflict))
		racing->kind = ACCESS_WRITE;
}

/* Does the mask of the racing side select any of the watched bytes? */
static bool conflict_selects(const struct conflict *conflict)
{
	const struct conflict_side *side = &conflict->sides[1];
	struct mem_access watched = conflict->sides[0].access;

	watched.address += conflict->wire.shift;
	for (uint32_t i = 0; i < side->access.size; i++) {
		struct mem_access byte = { side->access.address + i, 1, 0 };

		if ((side->selected >> i & 1) &&
		    mem_access_overlap(&byte, &watched))
			return true;
	}
	return false;
}

/*
 * Did the other side touch the watched bytes? A masked move traps for bytes of
 * its operand that the mask leaves out (seen with AVX-512 on AMD processors; SDM
 * volume 3, 17.2.4 makes no promise), and memset's last store is one. Where the
 * mask is not known any more, bytes that changed were not left out.
 */
static bool conflict_is_shown(const struct conflict *conflict)
{
	if (conflict->sides[1].masked)
		return conflict_selects(conflict);
	switch (conflict->sides[1].insn.refusal) {
	case X86_REFUSED_MASKMOV:
	case X86_REFUSED_GATHER:
	case X86_REFUSED_SCATTER:
		return conflict_changed(conflict);
	default:
		return true;
	}
}

static void conflict_overlap(struct conflict *conflict)
{
	const struct mem_access *a = &conflict->sides[0].access;
	struct mem_access b = conflict->sides[1].access;
	uint64_t start, end;

	conflict->overlap = *a;
	b.address -= conflict->wire.shift;
	if (!mem_access_overlap(a, &b))
		return;
	start = a->address > b.address ? a->address : b.address;
	end = a->address + a->size < b.address + b.size ? a->address + a->size
							: b.address + b.size;
	conflict->overlap.address = start;
	conflict->overlap.size = (uint32_t)(end - start);
}

static uint64_t key_mix(uint64_t key, uint64_t value)
{
	key = (key ^ value) * 0x9fb21c651e98df25u;
	return key ^ (key >> 29);
}

/* The same in all executions of the program, wherever its modules are. */
static uint64_t conflict_offset(const struct conflict_home *home,
				uint64_t address)
{
	const struct module *module = image_module_at(home->image, address);

	return module ? key_mix(module->id, address - module->bias) : address;
}

/* The same of bytes that were accessed; 0 for those that are not a module's. */
static uint64_t conflict_global(const struct conflict_context *context,
				const struct conflict *conflict)
{
	const struct conflict_home *home = &context->homes[0];
	uint64_t address = conflict->overlap.address;

	return image_module_at(home->image, address)
		       ? conflict_offset(home, address)
		       : 0;
}

static uint64_t conflict_key(const struct conflict_context *context,
			     const struct conflict *conflict)
{
	uint64_t key = conflict->wire.evidence + 1;

	for (int i = 0; i < 2; i++) {
		const struct conflict_side *side = &conflict->sides[i];

		key = key_mix(key, side->access.kind);
		key = key_mix(key, context->homes[i].program);
		key = key_mix(key, (uint64_t)(int64_t)side->wire->syscall);
		for (size_t f = 0; f < side->frame_count; f++)
			key = key_mix(key, conflict_offset(&context->homes[i],
							   side->frames[f].pc));
	}
	/* globals are named by their address, the rest is not */
	key = key_mix(key, conflict_global(context, conflict));
	return key_mix(key, conflict->overlap.size);
}

uint64_t conflict_place(const struct conflict_context *context,
			const struct conflict *conflict, int side)
{
	uint64_t address = conflict->sides[side].insn_address;

	if (address == 0)
		return 0;
	address = key_mix(conflict_offset(&context->homes[side], address),
			  context->homes[side].program);
	return key_mix(address, conflict_global(context, conflict));
}

/* The stacks, and then what is known of the sides' registers and memory. */
enum { CONFLICT_STACKS = 4, CONFLICT_PARTS = 6 };

/* Bytes that wire->machine says to follow; false if it cannot be. */
static bool conflict_machine_size(const struct wire_machine *machine,
				  size_t *ret)
{
	*ret = machine->vectors_size;
	if (machine->window_count > WIRE_WINDOWS_MAX ||
	    machine->vectors_size > WIRE_VECTORS_MAX)
		return false;
	for (uint32_t i = 0; i < machine->window_count; i++) {
		if (machine->windows[i].size > WIRE_WINDOW)
			return false;
		*ret += machine->windows[i].size;
	}
	return true;
}

/* Where in the payload each of them begins. */
static bool conflict_stacks(const struct wire_conflict *wire,
			    const uint8_t *payload, size_t size,
			    const uint8_t *ret[CONFLICT_PARTS])
{
	size_t sizes[CONFLICT_PARTS] = {
		wire->sides[0].stack_size,
		wire->sides[1].stack_size,
		wire->sides[0].birth.stack_size,
		wire->sides[1].birth.stack_size,
	};
	size_t at = sizeof(*wire);

	if (wire->sides[0].locks.count > WIRE_LOCKS_MAX ||
	    wire->sides[1].locks.count > WIRE_LOCKS_MAX)
		return false;
	if (!conflict_machine_size(&wire->sides[0].machine, &sizes[4]) ||
	    !conflict_machine_size(&wire->sides[1].machine, &sizes[5]))
		return false;
	for (int i = 0; i < CONFLICT_PARTS; i++) {
		if (sizes[i] > size - at)
			return false;
		ret[i] = payload + at;
		at += sizes[i];
	}
	return true;
}

struct error *conflict_read(const struct conflict_context *context,
			    const void *payload, size_t size,
			    struct conflict *ret)
{
	const uint8_t *stacks[CONFLICT_PARTS];
	struct error *err;

	if (size < sizeof(ret->wire))
		return error_create(ERROR_FORMAT,
				    "a conflict message is cut short");
	memcpy(&ret->wire, payload, sizeof(ret->wire));
	if (!conflict_stacks(&ret->wire, payload, size, stacks))
		return error_create(ERROR_FORMAT,
				    "a conflict's stacks are cut short");
	for (int i = 0; i < 2; i++) {
		err = conflict_side(context, ret, i, stacks[i]);
		if (err)
			return err;
		ret->sides[i].birth_stack = stacks[2 + i];
		ret->sides[i].machine = stacks[CONFLICT_STACKS + i];
	}
	used_place_masked(&ret->sides[1]);
	conflict_infer(ret);
	conflict_overlap(ret);
	ret->race = !(ret->sides[0].access.kind == ACCESS_READ &&
		      ret->sides[1].access.kind == ACCESS_READ) &&
		    ret->sides[1].rule != RULE_GO_CHECK &&
		    conflict_is_shown(ret);
	ret->unused = ret->race && !used_overlap(ret);
	ret->race = ret->race && !ret->unused;
	err = variables_prepare(context->homes[0].image, ret->overlap.address);
	if (err)
		return err;
	evidence_of_sides(context, ret);
	ret->key = conflict_key(context, ret);
	return NULL;
}
