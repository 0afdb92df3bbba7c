/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Variables in the stack frame, as code that is not optimized has all of them:
 * the one that holds the pointer of the place, and those that a value goes
 * through. A slot at or above one whose address the function takes is not
 * followed: others may use it. See pattern-parts.h.
 */
#include "dataflow/pattern-parts.h"

#include <string.h>

#include "x86/decode-capstone.h"
#include "x86/decode-parts.h"
#include "x86/decode.h"

enum {
	BEFORE = 4, /* instructions in which the pointer is loaded */
	PROLOGUE = 16, /* bytes in which the frame pointer is set */
};

/* Operand i, if it is a variable in the frame. */
static bool slot_operand(const struct follow *follow,
			 const struct cs_insn *insn, int i, struct slot *ret)
{
	const cs_x86_op *op = &insn->detail->x86.operands[i];

	if (!follow->framed || i >= insn->detail->x86.op_count ||
	    op->type != X86_OP_MEM || op->mem.base != X86_REG_RBP ||
	    op->mem.index != X86_REG_INVALID ||
	    op->mem.segment != X86_REG_INVALID || op->mem.disp >= 0)
		return false;
	*ret = (struct slot){ .size = op->size, .disp = op->mem.disp };
	return true;
}

static bool overlap(const struct slot *a, const struct slot *b)
{
	return a->disp < b->disp + b->size && b->disp < a->disp + a->size;
}

static bool equal(const struct slot *a, const struct slot *b)
{
	return a->disp == b->disp && a->size == b->size;
}

/* mov %rsp, %rbp: rbp is the frame pointer from there. */
static bool makes_frame(const struct cs_insn *insn)
{
	return insn->id == X86_INS_MOV &&
	       pattern_register(insn, 0) == X86_RBP &&
	       pattern_register(insn, 1) == X86_RSP;
}

/* The lowest address in the frame that a lea computes; is it one? */
static void note_shown(struct follow *follow, const struct cs_insn *insn)
{
	const x86_op_mem *mem = &insn->detail->x86.operands[1].mem;

	if (insn->id != X86_INS_LEA)
		return;
	if (mem->base == X86_REG_RSP)
		follow->shown = INT64_MIN;
	if (mem->base == X86_REG_RBP && mem->disp < follow->shown)
		follow->shown = mem->disp;
}

void pattern_find_frame(struct follow *follow)
{
	follow->shown = INT64_MAX;
	follow->framed = false;
	for (size_t at = 0; at < follow->size;) {
		const struct cs_insn *insn =
			pattern_decode(follow, follow->start + at);

		if (!insn)
			break;
		if (at < PROLOGUE && makes_frame(insn))
			follow->framed = true;
		note_shown(follow, insn);
		at += insn->size;
	}
}

bool pattern_same_slot(const struct slot *a, const struct slot *b)
{
	return equal(a, b);
}

bool pattern_find_slot(const struct follow *follow, uint64_t address,
		       uint8_t reg, struct slot *ret)
{
	uint64_t last[BEFORE] = { 0 };
	unsigned int count = 0;

	if (!follow->framed || reg >= X86_RIP || reg == X86_RSP ||
	    reg == X86_RBP)
		return false;
	for (uint64_t at = follow->start; at < address;) {
		struct insn_access access;

		pattern_access(follow, at, &access);
		last[count++ % BEFORE] = at;
		/* a block of its own begins behind a jump */
		if (access.flow != X86_FLOW_NEXT)
			count = 0;
		at += access.length;
	}
	for (unsigned int i = 0; i < BEFORE && i < count; i++) {
		const struct cs_insn *insn =
			pattern_decode(follow, last[(count - 1 - i) % BEFORE]);

		if (!insn || insn->id == X86_INS_PUSH)
			return false;
		if (insn->id == X86_INS_MOV && pattern_register(insn, 0) == reg)
			return slot_operand(follow, insn, 1, ret) &&
			       ret->size == 8 && ret->disp < follow->shown;
		if (insn->detail->x86.op_count > 0 &&
		    pattern_register(insn, 0) == reg)
			return false;
	}
	return false;
}

static struct kept_form *find_kept(struct path *path, const struct slot *slot)
{
	for (int i = 0; i < PATH_SLOTS; i++) {
		if (path->kept[i].form.live && equal(&path->kept[i].slot, slot))
			return &path->kept[i];
	}
	return NULL;
}

static bool keep(struct path *path, const struct slot *slot,
		 const struct form *form)
{
	for (int i = 0; i < PATH_SLOTS; i++) {
		if (path->kept[i].form.live)
			continue;
		path->kept[i] = (struct kept_form){ *slot, *form };
		return true;
	}
	return false;
}

/* A slot gets a value, of which *form is what is known. */
static bool step_to_slot(struct follow *follow, struct path *path,
			 const struct slot *slot, const struct form *form)
{
	if (follow->has_slot && overlap(&follow->slot, slot))
		path->slot_lost = true;
	for (int i = 0; i < PATH_SLOTS; i++) {
		struct kept_form *kept = &path->kept[i];

		if (!kept->form.live || !overlap(&kept->slot, slot))
			continue;
		/* of what is half overwritten a half goes on */
		if (!equal(&kept->slot, slot))
			pattern_use_form(follow, &kept->form);
		kept->form.live = false;
	}
	if (!form || !form->live)
		return form;
	return slot->disp < follow->shown && keep(path, slot, form);
}

static bool step_from_slot(struct follow *follow, struct path *path,
			   const struct cs_insn *insn, const struct slot *slot)
{
	struct kept_form *kept = find_kept(path, slot);
	uint8_t to = pattern_register(insn, 0);
	bool base = follow->has_slot && !path->slot_lost &&
		    equal(slot, &follow->slot);
	struct form form = { 0 };

	if (to >= X86_RIP || insn->detail->x86.operands[0].size < 4 ||
	    (!kept && !base))
		return false;
	if (kept)
		form = kept->form;
	pattern_kill(path, UINT32_C(1) << to, &follow->place);
	path->forms[to] = form;
	if (base)
		path->bases |= UINT32_C(1) << to;
	path->flags = false;
	return true;
}

/* cmp and test of a slot with a number. */
static bool step_compare_slot(struct follow *follow, struct path *path,
			      const struct cs_insn *insn,
			      const struct slot *slot)
{
	struct kept_form *kept = find_kept(path, slot);
	int64_t imm;

	if (!kept || !pattern_immediate(insn, 1, &imm))
		return false;
	follow->pattern->compared = true;
	if (insn->id == X86_INS_TEST && !kept->form.shift)
		pattern_use(follow, kept->form.kept & (uint64_t)imm &
					    pattern_mask(slot->size));
	else
		pattern_use_form(follow, &kept->form);
	path->flags = false;
	return true;
}

/* Anything else that touches a slot with the value uses it as a whole. */
static void use_slots(struct follow *follow, const struct path *path,
		      const struct cs_insn *insn)
{
	struct slot slot;

	for (int i = 0; i < insn->detail->x86.op_count; i++) {
		if (!slot_operand(follow, insn, i, &slot))
			continue;
		for (int j = 0; j < PATH_SLOTS; j++) {
			if (overlap(&path->kept[j].slot, &slot))
				pattern_use_form(follow, &path->kept[j].form);
		}
	}
}

bool pattern_step_slot(struct follow *follow, struct path *path,
		       const struct cs_insn *insn)
{
	uint8_t from = pattern_register(insn, 1);
	struct slot slot;

	switch (insn->id) {
	case X86_INS_MOV:
		if (slot_operand(follow, insn, 1, &slot))
			return step_from_slot(follow, path, insn, &slot);
		if (!slot_operand(follow, insn, 0, &slot))
			break;
		/* a form that is not kept is used by the mov itself */
		return step_to_slot(follow, path, &slot,
				    from < X86_RIP &&
						    !pattern_high_byte(insn, 1)
					    ? &path->forms[from]
					    : NULL);
	case X86_INS_MOVZX:
	case X86_INS_MOVSX:
	case X86_INS_MOVSXD:
		if (slot_operand(follow, insn, 1, &slot))
			return step_from_slot(follow, path, insn, &slot);
		break;
	case X86_INS_CMP:
	case X86_INS_TEST:
		if (slot_operand(follow, insn, 0, &slot) &&
		    step_compare_slot(follow, path, insn, &slot))
			return true;
		break;
	case X86_INS_LEA:
		return false;
	default:
		break;
	}
	use_slots(follow, path, insn);
	if (slot_operand(follow, insn, 0, &slot) && insn->id != X86_INS_CMP &&
	    insn->id != X86_INS_TEST)
		step_to_slot(follow, path, &slot, NULL);
	return false;
}
