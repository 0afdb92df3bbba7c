/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The frame of a function; see frame.h. What instructions do to registers is
 * read from their opcodes (Intel SDM volume 2, appendix A), and only so far
 * as addresses of locals are concerned.
 */
#include "dataflow/frame.h"

#include <limits.h>
#include <string.h>

#include "dataflow/frame-parts.h"

enum {
	/* a new base after the stack pointer was moved by an unknown number */
	FRAME_SHIFT = 1 << 20,
	/*
	 * Argument n, where it is followed, is the address FRAME_ARGUMENT + n *
	 * FRAME_ARGUMENT_STEP, far from all that is in the frame.
	 */
	FRAME_ARGUMENT = 1 << 28,
	FRAME_ARGUMENT_STEP = 1 << 24,
};

static const uint8_t argument_registers[FRAME_ARGUMENTS] = {
	X86_RDI, X86_RSI, X86_RDX, X86_RCX, X86_R8, X86_R9,
};

static const uint16_t arguments = 1u << X86_RDI | 1u << X86_RSI |
				  1u << X86_RDX | 1u << X86_RCX | 1u << X86_R8 |
				  1u << X86_R9;

/* What a call does not keep. */
static const uint16_t caller_saved = arguments | 1u << X86_RAX | 1u << X86_R10 |
				     1u << X86_R11;

static int32_t argument_address(int n)
{
	return FRAME_ARGUMENT + n * FRAME_ARGUMENT_STEP;
}

/* Which argument's object has the address; -1: none, it is in the frame. */
static int argument_of(int32_t address)
{
	int64_t from =
		(int64_t)address - FRAME_ARGUMENT + FRAME_ARGUMENT_STEP / 2;

	return from < 0 || from / FRAME_ARGUMENT_STEP >= FRAME_ARGUMENTS
		       ? -1
		       : (int)(from / FRAME_ARGUMENT_STEP);
}

static void hold(struct frame *frame, uint8_t reg, int32_t value)
{
	if (reg == X86_RSP) {
		frame->rsp = value;
		return;
	}
	frame->holds |= (uint16_t)(1u << reg);
	frame->held[reg] = value;
}

/* The arguments that are still in their registers. */
static uint8_t arguments_intact(const struct frame *frame)
{
	uint8_t intact = 0;

	for (int n = 0; frame->follows_arguments && n < FRAME_ARGUMENTS; n++) {
		uint8_t reg = argument_registers[n];

		if ((frame->holds & 1u << reg) &&
		    frame->held[reg] == argument_address(n))
			intact |= (uint8_t)(1u << n);
	}
	return intact;
}

static void arguments_hold(struct frame *frame, uint8_t intact)
{
	for (int n = 0; n < FRAME_ARGUMENTS; n++) {
		if (intact & 1u << n)
			hold(frame, argument_registers[n], argument_address(n));
	}
}

void frame_begin_arguments(struct frame *frame, uint64_t start, uint64_t end)
{
	frame_begin(frame, start, end);
	frame->follows_arguments = true;
	arguments_hold(frame, (1u << FRAME_ARGUMENTS) - 1);
}

void frame_begin(struct frame *frame, uint64_t start, uint64_t end)
{
	frame->start = start;
	frame->end = end;
	frame->rsp = frame->body = frame->saved = frame->base = 0;
	frame->has_base = frame->lost = frame->follows_arguments = false;
	frame->prologue = true;
	frame->holds = 0;
	frame->object_count = frame->cell_count = 0;
	memset(frame->targets, 0, sizeof(frame->targets));
	frame->arguments = (struct frame_arguments){ 0 };
}

static struct frame_target *target_of(struct frame *frame, uint64_t address)
{
	return &frame->targets[(address ^ address >> 6) % FRAME_TARGETS];
}

/* A branch leads there. Some other one may have more arguments intact. */
static void target_set(struct frame *frame, uint64_t address)
{
	struct frame_target *target = target_of(frame, address);
	uint8_t before = target->address == address ? target->intact : 0;

	target->address = address;
	target->rsp = frame->rsp;
	target->intact = before | arguments_intact(frame);
}

void frame_arrive(struct frame *frame, uint64_t address)
{
	const struct frame_target *target;

	if (!frame->lost)
		return;
	target = target_of(frame, address);
	frame->rsp = target->address == address ? target->rsp : frame->body;
	if (target->address == address)
		arguments_hold(frame, target->intact);
	frame->lost = false;
}

/* The address that a register holds. */
static bool register_held(const struct frame *frame, uint8_t reg, int32_t *ret)
{
	if (reg == X86_RSP)
		*ret = frame->rsp;
	else if (reg == X86_RBP && frame->has_base)
		*ret = frame->base;
	else if (reg < 16 && (frame->holds & 1u << reg) != 0)
		*ret = frame->held[reg];
	else
		return false;
	return true;
}

bool frame_slot(const struct frame *frame, const struct mem_operand *operand,
		int32_t *ret)
{
	int32_t at;

	if (operand->stack || operand->segment != X86_SEG_NONE ||
	    operand->addr32 || !register_held(frame, operand->base, &at) ||
	    __builtin_add_overflow(at, operand->disp32, &at))
		return false;
	*ret = at;
	return true;
}

/* The object that starts last at or before offset; NULL: none does. */
static struct frame_object *object_at(struct frame *frame, int32_t offset)
{
	unsigned int low = 0, high = frame->object_count;

	while (low < high) {
		unsigned int middle = (low + high) / 2;

		if (frame->objects[middle].start <= offset)
			low = middle + 1;
		else
			high = middle;
	}
	return low > 0 ? &frame->objects[low - 1] : NULL;
}

/* An address of the frame is taken: of the object that starts there. */
static void object_add(struct frame *frame, int32_t start)
{
	struct frame_object *before = object_at(frame, start);
	unsigned int i = before ? (unsigned int)(before - frame->objects) + 1
				: 0;

	if ((before && before->start == start) || argument_of(start) >= 0 ||
	    frame->object_count == FRAME_OBJECTS)
		return;
	memmove(&frame->objects[i + 1], &frame->objects[i],
		(frame->object_count - i) * sizeof(frame->objects[0]));
	frame->objects[i] = (struct frame_object){ .start = start };
	frame->object_count++;
}

/* The address is stored to where others may find it, or is not followed. */
static void object_escape(struct frame *frame, int32_t start)
{
	struct frame_object *object;
	int argument = argument_of(start);

	if (argument >= 0) {
		frame->arguments.escape |= (uint8_t)(1u << argument);
		return;
	}
	object = object_at(frame, start);
	if (object)
		object->escapes = true;
}

static void drop(struct frame *frame, uint8_t reg)
{
	frame->holds &= (uint16_t) ~(1u << reg);
}

/* The stack pointer is moved by a number that is not known. */
static void shift(struct frame *frame, uint8_t reg)
{
	if (reg == X86_RSP && frame->rsp > INT_MIN / 2)
		frame->rsp -= FRAME_SHIFT;
	drop(frame, reg);
}

/*
 * The address is stored to another one. Where an argument points to, others may
 * find it if they know the argument's object: what is stored to itself is found by
 * nobody else.
 */
static void cell_store(struct frame *frame, int32_t at, int32_t value)
{
	int to = argument_of(at), argument = argument_of(value);

	if (to >= 0 && argument >= 0 && to != argument)
		frame->arguments.stored[argument] |= (uint8_t)(1u << to);
	if (to >= 0)
		return;
	for (unsigned int i = 0; i < frame->cell_count; i++) {
		if (frame->cells[i].at == at) {
			frame->cells[i].value = value;
			return;
		}
	}
	if (frame->cell_count == FRAME_CELLS)
		object_escape(frame, value);
	else
		frame->cells[frame->cell_count++] =
			(struct frame_cell){ at, value };
}

static bool cell_load(const struct frame *frame, int32_t at, int32_t *ret)
{
	for (unsigned int i = 0; i < frame->cell_count; i++) {
		if (frame->cells[i].at == at) {
			*ret = frame->cells[i].value;
			return true;
		}
	}
	return false;
}

static void step_lea(struct frame *frame, const struct frame_insn *insn)
{
	int32_t at;

	if (insn->operand.index != X86_REG_NONE ||
	    !frame_slot(frame, &insn->operand, &at)) {
		drop(frame, insn->reg);
		return;
	}
	if (insn->reg != X86_RSP)
		object_add(frame, at);
	hold(frame, insn->reg, at);
}

/* To a register, from a register. */
static void step_copy(struct frame *frame, uint8_t to, uint8_t from)
{
	int32_t at;

	if (!register_held(frame, from, &at)) {
		shift(frame, to);
		return;
	}
	if (to == X86_RBP && from == X86_RSP && frame->saved < 0 &&
	    frame->prologue) {
		frame->has_base = true;
		frame->base = at;
		return;
	}
	if (from == X86_RSP)
		object_add(frame, at);
	hold(frame, to, at);
}

static void step_load(struct frame *frame, const struct frame_insn *insn)
{
	int32_t at, value;

	if (insn->operand.index == X86_REG_NONE &&
	    frame_slot(frame, &insn->operand, &at) &&
	    cell_load(frame, at, &value))
		hold(frame, insn->reg, value);
	else
		drop(frame, insn->reg);
}

static void step_store(struct frame *frame, const struct frame_insn *insn)
{
	int32_t at, value;

	if (insn->reg == X86_RSP || (insn->reg == X86_RBP && frame->has_base) ||
	    /* thread-local: no other thread finds it there */
	    insn->operand.segment != X86_SEG_NONE ||
	    !register_held(frame, insn->reg, &value))
		return;
	if (!frame_slot(frame, &insn->operand, &at)) {
		object_escape(frame, value);
		return;
	}
	if (insn->operand.index == X86_REG_NONE || argument_of(at) >= 0)
		cell_store(frame, at, value);
	else
		object_escape(frame, value);
}

static void step_add(struct frame *frame, uint8_t reg, int32_t number)
{
	if (reg == X86_RSP) {
		frame->rsp += number;
		frame->prologue = false;
	} else if ((frame->holds & 1u << reg) &&
		   __builtin_add_overflow(frame->held[reg], number,
					  &frame->held[reg])) {
		drop(frame, reg);
	}
}

static void step_push(struct frame *frame, uint8_t reg)
{
	int32_t value;

	frame->rsp -= 8;
	if (frame->prologue)
		frame->saved = frame->rsp;
	else if (reg < 16 && reg != X86_RBP && reg != X86_RSP &&
		 register_held(frame, reg, &value))
		object_escape(frame, value);
}

static void step_insn(struct frame *frame, const struct frame_insn *insn)
{
	switch (insn->act) {
	case FRAME_NOTHING:
		break;
	case FRAME_LEA:
		step_lea(frame, insn);
		break;
	case FRAME_COPY:
		step_copy(frame, insn->to, insn->reg);
		break;
	case FRAME_LOAD:
		step_load(frame, insn);
		break;
	case FRAME_STORE:
		step_store(frame, insn);
		break;
	case FRAME_ADD:
		step_add(frame, insn->to, insn->number);
		break;
	case FRAME_SET:
		shift(frame, insn->to);
		break;
	case FRAME_PUSH:
		step_push(frame, insn->reg);
		break;
	case FRAME_POP:
		frame->rsp += 8;
		drop(frame, insn->to);
		break;
	case FRAME_LEAVE:
		frame->rsp = frame->base + 8;
		break;
	case FRAME_TO_VECTOR:
		if (frame->holds & 1u << insn->reg)
			object_escape(frame, frame->held[insn->reg]);
		break;
	}
}

static void step_flow(struct frame *frame, const struct insn_access *insn)
{
	bool within = insn->target >= frame->start && insn->target < frame->end;

	if (insn->flow == X86_FLOW_CALL) {
		frame->holds &= (uint16_t)~caller_saved;
		return;
	}
	if (within && insn->flow != X86_FLOW_NEXT) {
		frame->body = frame->rsp;
		target_set(frame, insn->target);
	}
	if (insn->flow == X86_FLOW_BRANCH)
		return;
	frame->lost = true;
	frame->holds &= (uint16_t)~caller_saved;
}

void frame_step(struct frame *frame, const uint8_t *bytes, size_t size,
		const struct insn_access *insn)
{
	struct frame_insn found;

	if (insn->flow != X86_FLOW_NEXT) {
		step_flow(frame, insn);
		return;
	}
	if (!frame_matters(bytes, size,
			   frame->holds != 0 || frame->cell_count > 0))
		return;
	frame_decode(bytes, size, insn, &found);
	step_insn(frame, &found);
}

bool frame_passes(const struct frame *frame)
{
	return (frame->holds & arguments) != 0;
}

void frame_pass(struct frame *frame, bool handle)
{
	uint16_t passed = frame->holds & arguments;

	if (handle)
		passed &= (uint16_t) ~(1u << X86_RDI);
	for (uint8_t reg = 0; reg < 16; reg++) {
		if (passed & 1u << reg)
			object_escape(frame, frame->held[reg]);
	}
}

/* The address in the register of argument n of the call now. */
static bool argument_held(const struct frame *frame, int n, int32_t *ret)
{
	uint8_t reg = argument_registers[n];

	*ret = frame->held[reg];
	return (frame->holds & 1u << reg) != 0;
}

/* Argument n of the callee is stored where argument m points to. */
static void pass_stored(struct frame *frame, int m, int32_t value)
{
	int32_t at;

	if (argument_held(frame, m, &at))
		cell_store(frame, at, value);
	else
		object_escape(frame, value);
}

void frame_pass_to(struct frame *frame, const struct frame_arguments *callee)
{
	for (int n = 0; n < FRAME_ARGUMENTS; n++) {
		int32_t value;

		if (!argument_held(frame, n, &value))
			continue;
		if (callee->escape & 1u << n)
			object_escape(frame, value);
		for (int m = 0; m < FRAME_ARGUMENTS; m++) {
			if (callee->stored[n] & 1u << m)
				pass_stored(frame, m, value);
		}
	}
}

static struct frame_object *object_around(struct frame *frame, int32_t offset)
{
	struct frame_object *object = object_at(frame, offset);

	return object && offset < object->end ? object : NULL;
}

/* An address that is stored to an object that escapes does so too. */
static bool settle_cell(struct frame *frame, const struct frame_cell *cell)
{
	const struct frame_object *at = object_around(frame, cell->at);
	struct frame_object *value;

	if (!at || !at->escapes)
		return false;
	if (argument_of(cell->value) >= 0) {
		object_escape(frame, cell->value);
		return false;
	}
	value = object_around(frame, cell->value);
	if (!value || value->escapes)
		return false;
	value->escapes = true;
	return true;
}

static bool settle_cells(struct frame *frame)
{
	bool changed = false;

	for (unsigned int i = 0; i < frame->cell_count; i++)
		changed |= settle_cell(frame, &frame->cells[i]);
	return changed;
}

void frame_settle(struct frame *frame)
{
	for (unsigned int i = 0; i < frame->object_count; i++) {
		struct frame_object *object = &frame->objects[i];
		int32_t end = object->start + FRAME_OBJECT_MAX;

		if (object->start < frame->saved && end > frame->saved)
			end = frame->saved;
		if (i + 1 < frame->object_count &&
		    frame->objects[i + 1].start < end)
			end = frame->objects[i + 1].start;
		object->end = end;
	}
	while (settle_cells(frame))
		;
}

bool frame_escapes(const struct frame *frame, int32_t offset, uint32_t size)
{
	for (unsigned int i = 0; i < frame->object_count; i++) {
		const struct frame_object *object = &frame->objects[i];

		if (object->start >= offset + (int32_t)size)
			break;
		if (object->escapes && offset < object->end)
			return true;
	}
	return false;
}
