/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What is common to all ways of unwinding; see unwindwalk.h.
 */
#include "image/unwindwalk.h"

#include <string.h>

#include "image/image.h"

unsigned int unwind_register(unsigned int dwarf)
{
	static const uint8_t order[16] = {
		X86_RAX, X86_RDX, X86_RCX, X86_RBX, X86_RSI, X86_RDI,
		X86_RBP, X86_RSP, X86_R8,  X86_R9,  X86_R10, X86_R11,
		X86_R12, X86_R13, X86_R14, X86_R15,
	};

	return order[dwarf];
}

void unwind_walk_start(struct unwind_walk *walk)
{
	struct unwind_frame *frame = &walk->frames[0];

	memset(frame, 0, sizeof(*frame));
	frame->pc = walk->input->regs.rip;
	memcpy(frame->registers.gpr, walk->input->regs.gpr,
	       sizeof(frame->registers.gpr));
	frame->registers.known = 0xffff;
	walk->count = 1;
	walk->end = walk->max > 1 ? UNWIND_LOST : UNWIND_FULL;
}

/* May code be there? Without maps nothing is known against it. */
static bool is_code(const struct image *image, uint64_t pc)
{
	const struct maps *maps = image_maps(image);
	const struct map_entry *entry;

	if (image_module_at(image, pc) || maps->entries.count == 0)
		return true;
	entry = maps_find(maps, pc);
	return entry && entry->exec;
}

/* 0: not known */
static uint64_t stack_pointer(const struct unwind_frame *frame)
{
	if (!(frame->registers.known & UINT32_C(1) << X86_RSP))
		return 0;
	return frame->registers.gpr[X86_RSP];
}

/*
 * Damaged instructions can lead round and round in the same bytes: a caller's
 * frame is above. (A signal may have switched stacks, and then the other one's
 * bytes are not here.)
 */
static bool leads_back(const struct unwind_walk *walk,
		       const struct unwind_frame *frame)
{
	const struct unwind_input *input = walk->input;
	uint64_t from = stack_pointer(&walk->frames[walk->count - 1]);
	uint64_t to = stack_pointer(frame);

	return from != 0 && to != 0 && to <= from &&
	       to - input->stack_address < input->stack_size;
}

bool unwind_walk_add(struct unwind_walk *walk, const struct unwind_frame *frame)
{
	struct unwind_frame *last = &walk->frames[walk->count - 1];

	if (walk->count == walk->max) {
		walk->end = UNWIND_FULL;
		return false;
	}
	if (frame->pc == 0 || !is_code(walk->image, frame->pc) ||
	    leads_back(walk, frame)) {
		walk->end = UNWIND_LOST;
		return false;
	}
	last->registers.cfa = stack_pointer(frame);
	walk->frames[walk->count++] = *frame;
	if (walk->count < walk->max)
		return true;
	walk->end = UNWIND_FULL;
	return false;
}

bool unwind_walk_stack(const struct unwind_walk *walk, uint64_t address,
		       uint64_t *ret)
{
	const struct unwind_input *input = walk->input;
	uint64_t skip = address - input->stack_address;

	if (skip >= input->stack_size ||
	    input->stack_size - skip < sizeof(*ret))
		return false;
	memcpy(ret, input->stack + skip, sizeof(*ret));
	return true;
}

bool unwind_walk_beyond(const struct unwind_walk *walk, uint64_t address)
{
	const struct unwind_input *input = walk->input;
	uint64_t end = input->stack_address + input->stack_size;
	const struct map_entry *entry =
		maps_find(image_maps(walk->image), input->regs.gpr[X86_RSP]);

	return entry && address + sizeof(uint64_t) > end &&
	       address < entry->end;
}
