/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Locations of variables; see location.h. A stack machine for the operations
 * that compilers write for variables on x86-64; with any other the variable is
 * not found.
 */
#include "image/location.h"

#include <dwarf.h>
#include <string.h>

#include "image/pointers.h"
#include "image/unwind.h"
#include "x86/access.h"

enum { STACK_MAX = 16 };

struct machine {
	const struct frame_view *frame;
	Dwarf_Attribute *attribute;
	uint64_t stack[STACK_MAX];
	size_t depth;
	bool is_value; /* the top is what the variable holds, not where */
	bool failed;
};

/* From DWARF's numbers (System V ABI x86-64, figure 3.36). */
static const uint8_t register_order[16] = {
	X86_RAX, X86_RDX, X86_RCX, X86_RBX, X86_RSI, X86_RDI, X86_RBP, X86_RSP,
	X86_R8,	 X86_R9,  X86_R10, X86_R11, X86_R12, X86_R13, X86_R14, X86_R15,
};

static bool register_value(const struct frame_view *frame, uint64_t number,
			   uint64_t *ret)
{
	unsigned int reg;

	if (number >= 16)
		return false;
	reg = register_order[number];
	if (!(frame->registers->known & UINT32_C(1) << reg))
		return false;
	*ret = frame->registers->gpr[reg];
	return true;
}

static bool read_memory(const struct frame_view *frame, uint64_t address,
			void *bytes, size_t size)
{
	return frame->memory && frame->memory->read(frame->memory->context,
						    address, bytes, size);
}

static void push(struct machine *machine, uint64_t value)
{
	if (machine->depth == STACK_MAX)
		machine->failed = true;
	else
		machine->stack[machine->depth++] = value;
}

static uint64_t pop(struct machine *machine)
{
	if (machine->depth == 0) {
		machine->failed = true;
		return 0;
	}
	return machine->stack[--machine->depth];
}

static void push_register(struct machine *machine, uint64_t number,
			  uint64_t offset)
{
	uint64_t value;

	if (register_value(machine->frame, number, &value))
		push(machine, value + offset);
	else
		machine->failed = true;
}

/* DW_AT_frame_base: the CFA, or a register. */
static bool frame_base(const struct frame_view *frame, uint64_t *ret)
{
	Dwarf_Die function = frame->function;
	Dwarf_Attribute attribute;
	Dwarf_Op *ops;
	size_t count;

	if (!dwarf_attr_integrate(&function, DW_AT_frame_base, &attribute) ||
	    dwarf_getlocation_addr(&attribute, frame->pc, &ops, &count, 1) !=
		    1 ||
	    count == 0)
		return false;
	if (ops[0].atom == DW_OP_call_frame_cfa && count == 1) {
		*ret = frame->registers->cfa;
		return *ret != 0;
	}
	if (count == 1 && ops[0].atom >= DW_OP_reg0 &&
	    ops[0].atom <= DW_OP_reg31)
		return register_value(frame, ops[0].atom - DW_OP_reg0, ret);
	if (count == 1 && ops[0].atom >= DW_OP_breg0 &&
	    ops[0].atom <= DW_OP_breg31 &&
	    register_value(frame, ops[0].atom - DW_OP_breg0, ret)) {
		*ret += ops[0].number;
		return true;
	}
	return false;
}

static void push_address(struct machine *machine, const Dwarf_Op *op)
{
	Dwarf_Attribute indirect;
	Dwarf_Addr address = op->number;

	if (op->atom != DW_OP_addr &&
	    (dwarf_getlocation_attr(machine->attribute, op, &indirect) != 0 ||
	     dwarf_formaddr(&indirect, &address) != 0))
		machine->failed = true;
	push(machine, address + machine->frame->bias);
}

static void dereference(struct machine *machine, size_t size)
{
	uint64_t value = 0;

	if (size > sizeof(value) ||
	    !read_memory(machine->frame, pop(machine), &value, size))
		machine->failed = true;
	push(machine, value);
}

static void binary(struct machine *machine, unsigned int atom)
{
	uint64_t b = pop(machine);
	uint64_t a = pop(machine);

	switch (atom) {
	case DW_OP_plus:
		push(machine, a + b);
		break;
	case DW_OP_minus:
		push(machine, a - b);
		break;
	case DW_OP_mul:
		push(machine, a * b);
		break;
	case DW_OP_and:
		push(machine, a & b);
		break;
	case DW_OP_or:
		push(machine, a | b);
		break;
	case DW_OP_xor:
		push(machine, a ^ b);
		break;
	case DW_OP_shl:
		push(machine, b < 64 ? a << b : 0);
		break;
	case DW_OP_shr:
		push(machine, b < 64 ? a >> b : 0);
		break;
	default:
		machine->failed = true;
		break;
	}
}

/* Operations without an operand of their own. */
static void simple(struct machine *machine, unsigned int atom)
{
	uint64_t value;

	switch (atom) {
	case DW_OP_call_frame_cfa:
		machine->failed |= machine->frame->registers->cfa == 0;
		push(machine, machine->frame->registers->cfa);
		break;
	case DW_OP_dup:
		value = pop(machine);
		push(machine, value);
		push(machine, value);
		break;
	case DW_OP_drop:
		pop(machine);
		break;
	case DW_OP_neg:
		push(machine, -pop(machine));
		break;
	case DW_OP_not:
		push(machine, ~pop(machine));
		break;
	case DW_OP_deref:
		dereference(machine, sizeof(value));
		break;
	case DW_OP_stack_value:
		machine->is_value = true;
		break;
	case DW_OP_nop:
		break;
	default:
		binary(machine, atom);
		break;
	}
}

static void constant_or_register(struct machine *machine, const Dwarf_Op *op)
{
	unsigned int atom = op->atom;

	if (atom >= DW_OP_lit0 && atom <= DW_OP_lit31) {
		push(machine, atom - DW_OP_lit0);
	} else if (atom >= DW_OP_breg0 && atom <= DW_OP_breg31) {
		push_register(machine, atom - DW_OP_breg0, op->number);
	} else if (atom >= DW_OP_reg0 && atom <= DW_OP_reg31) {
		push_register(machine, atom - DW_OP_reg0, 0);
		machine->is_value = true;
	} else {
		simple(machine, atom);
	}
}

static void step(struct machine *machine, const Dwarf_Op *op)
{
	uint64_t base = 0;

	switch (op->atom) {
	case DW_OP_addr:
	case DW_OP_addrx:
	case DW_OP_GNU_addr_index:
		push_address(machine, op);
		break;
	case DW_OP_const1u:
	case DW_OP_const2u:
	case DW_OP_const4u:
	case DW_OP_const8u:
	case DW_OP_constu:
	case DW_OP_const1s:
	case DW_OP_const2s:
	case DW_OP_const4s:
	case DW_OP_const8s:
	case DW_OP_consts:
		push(machine, op->number);
		break;
	case DW_OP_fbreg:
		if (!frame_base(machine->frame, &base))
			machine->failed = true;
		push(machine, base + op->number);
		break;
	case DW_OP_bregx:
		push_register(machine, op->number, op->number2);
		break;
	case DW_OP_regx:
		push_register(machine, op->number, 0);
		machine->is_value = true;
		break;
	case DW_OP_plus_uconst:
		push(machine, pop(machine) + op->number);
		break;
	case DW_OP_deref_size:
		dereference(machine, op->number);
		break;
	default:
		constant_or_register(machine, op);
		break;
	}
}

/* What has been computed is the next `size` bytes of the variable. */
static void add_piece(struct machine *machine, uint64_t size, size_t *at,
		      struct location *ret)
{
	uint8_t bytes[LOCATION_BYTES_MAX] = { 0 };
	uint64_t value = 0;
	bool known = false;

	if (size > LOCATION_BYTES_MAX - *at)
		size = LOCATION_BYTES_MAX - *at;
	if (machine->depth > 0 && !machine->failed) {
		value = pop(machine);
		known = machine->is_value ? size <= sizeof(value)
					  : read_memory(machine->frame, value,
							bytes, size);
		if (machine->is_value && known)
			memcpy(bytes, &value, size);
	}
	if (known) {
		memcpy(ret->bytes + *at, bytes, size);
		for (uint64_t i = 0; i < size; i++)
			ret->known |= UINT64_C(1) << (*at + i);
	}
	*at += size;
	machine->depth = 0;
	machine->is_value = false;
	machine->failed = false;
}

static bool evaluate(struct machine *machine, const Dwarf_Op *ops, size_t count,
		     struct location *ret)
{
	bool pieces = false;
	size_t at = 0;

	for (size_t i = 0; i < count; i++) {
		if (ops[i].atom == DW_OP_piece) {
			add_piece(machine, ops[i].number, &at, ret);
			pieces = true;
		} else if (!machine->failed) {
			step(machine, &ops[i]);
		}
	}
	if (pieces)
		return ret->known != 0;
	if (machine->failed || machine->depth == 0)
		return false;
	if (machine->is_value)
		add_piece(machine, sizeof(uint64_t), &at, ret);
	else
		ret->address = pop(machine);
	ret->in_memory = ret->known == 0;
	return true;
}

bool location_find(const struct frame_view *frame, Dwarf_Die *variable,
		   struct location *ret)
{
	struct location found = { 0 };
	Dwarf_Attribute attribute;
	struct machine machine = { .frame = frame, .attribute = &attribute };
	Dwarf_Op *ops;
	size_t count;

	if (!dwarf_attr(variable, DW_AT_location, &attribute) ||
	    dwarf_getlocation_addr(&attribute, frame->pc, &ops, &count, 1) !=
		    1 ||
	    count == 0 || !evaluate(&machine, ops, count, &found))
		return false;
	*ret = found;
	return true;
}

bool location_read(const struct frame_view *frame,
		   const struct location *location, uint64_t offset,
		   void *bytes, size_t size)
{
	if (location->in_memory)
		return read_memory(frame, location->address + offset, bytes,
				   size);
	if (offset > LOCATION_BYTES_MAX || size > LOCATION_BYTES_MAX - offset)
		return false;
	for (size_t i = 0; i < size; i++) {
		if (!(location->known & UINT64_C(1) << (offset + i)))
			return false;
	}
	memcpy(bytes, location->bytes + offset, size);
	return true;
}
