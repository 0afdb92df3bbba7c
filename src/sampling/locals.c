/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Accesses to locals that other threads may reach; see locals.h.
 */
#include "sampling/locals.h"

#include "image/image.h"
#include "x86/access.h"

/* An instruction that accesses the frame. */
struct locals_access {
	uint64_t address;
	int32_t offset; /* in the frame, as dataflow/frame.h counts */
	uint32_t size;
};

void locals_init(struct locals *locals, struct decoder *decoder)
{
	creators_init(&locals->creators);
	escapes_init(&locals->escapes, &locals->creators, decoder);
	locals->accesses = (struct vec)VEC_INIT(struct locals_access);
}

void locals_deinit(struct locals *locals)
{
	escapes_deinit(&locals->escapes);
	creators_deinit(&locals->creators);
	vec_deinit(&locals->accesses);
}

void locals_begin(struct locals *locals, const struct module *module,
		  uint64_t start, uint64_t end)
{
	locals->module = module;
	vec_clear(&locals->accesses);
	frame_begin(&locals->frame, start, end);
}

static bool locals_note(struct locals *locals, uint64_t address,
			const struct insn_access *insn)
{
	struct locals_access access = { .address = address };

	for (unsigned int i = 0; i < insn->operand_count; i++) {
		const struct mem_operand *operand = &insn->operands[i];

		if (!frame_slot(&locals->frame, operand, &access.offset))
			continue;
		access.size = operand->size;
		return vec_push(&locals->accesses, &access);
	}
	return true;
}

bool locals_step(struct locals *locals, const uint8_t *bytes, size_t size,
		 uint64_t address, const struct insn_access *insn,
		 bool on_stack)
{
	frame_arrive(&locals->frame, address);
	if (on_stack && !locals_note(locals, address, insn))
		return false;
	if (insn->flow == X86_FLOW_CALL && frame_passes(&locals->frame))
		escapes_call(&locals->escapes, locals->module, address, insn,
			     &locals->frame);
	frame_step(&locals->frame, bytes, size, insn);
	return true;
}

void locals_settle(struct locals *locals)
{
	if (locals->accesses.count > 0)
		frame_settle(&locals->frame);
}

bool locals_shared(const struct locals *locals, uint64_t address,
		   size_t *cursor)
{
	const struct locals_access *access;

	while (*cursor < locals->accesses.count) {
		access = vec_at(&locals->accesses, *cursor);
		if (access->address > address)
			return false;
		++*cursor;
		if (access->address == address)
			return frame_escapes(&locals->frame, access->offset,
					     access->size);
	}
	return false;
}
