/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * One instruction on the way of a value: how the registers that hold it
 * change, and what it is used for. What is not understood counts as a use of
 * the whole value. See pattern-parts.h.
 */
#include "dataflow/pattern-parts.h"

#include <string.h>

#include "x86/decode-capstone.h"
#include "x86/decode-parts.h"
#include "x86/decode.h"

/* Is it 8 or 16 bits of a register? The rest keeps its value then. */
static bool is_partial(const struct follow *follow, unsigned int reg)
{
	const char *name = cs_reg_name(follow->decoder->capstone, reg);
	size_t length = name ? strlen(name) : 0;

	if (length == 0 || name[0] == 'e')
		return false;
	return name[0] != 'r' || name[length - 1] == 'b' ||
	       name[length - 1] == 'w';
}

static bool is_low_byte(const struct follow *follow, unsigned int reg)
{
	const char *name = cs_reg_name(follow->decoder->capstone, reg);
	size_t length = name ? strlen(name) : 0;

	return length >= 2 &&
	       (name[length - 1] == 'b' ||
		(name[length - 1] == 'l' && name[0] != 'e')) &&
	       is_partial(follow, reg);
}

uint32_t pattern_registers(const struct follow *follow,
			   const struct cs_insn *insn, uint32_t *written,
			   uint32_t *byte)
{
	cs_regs read, write;
	uint8_t reads = 0, writes = 0;
	uint32_t set;

	*written = UINT32_MAX;
	*byte = 0;
	if (cs_regs_access(follow->decoder->capstone, insn, read, &reads, write,
			   &writes) != CS_ERR_OK)
		return UINT32_MAX;
	*written = decode_register_set(write, writes);
	set = decode_register_set(read, reads);
	for (int i = 0; i < writes; i++) {
		if (is_low_byte(follow, write[i]))
			*byte |= decode_register_set(write + i, 1);
		else if (is_partial(follow, write[i]))
			set |= decode_register_set(write + i, 1);
	}
	*byte &= ~set;
	return set;
}

/* The value in an address: a pointer that is followed, or an index. */
static void note_addresses(struct follow *follow, const struct path *path,
			   const struct cs_insn *insn)
{
	const cs_x86 *x86 = &insn->detail->x86;

	for (int i = 0; i < x86->op_count; i++) {
		uint8_t parts[2];

		if (x86->operands[i].type != X86_OP_MEM ||
		    insn->id == X86_INS_LEA || insn->id == X86_INS_NOP)
			continue;
		parts[0] = decode_register(x86->operands[i].mem.base);
		parts[1] = decode_register(x86->operands[i].mem.index);
		for (int j = 0; j < 2; j++) {
			const struct form *form = &path->forms[parts[j] & 15];

			if (parts[j] < X86_RIP && form->live &&
			    form->change != PATTERN_BITS)
				follow->pattern->dereferenced = true;
		}
	}
}

/* The lowest byte of these registers is something else now. */
static void keep_upper(struct follow *follow, struct path *path, uint32_t byte)
{
	for (int i = 0; i < 16; i++) {
		struct form *form = &path->forms[i];

		if (!(byte & (UINT32_C(1) << i)))
			continue;
		path->bases &= ~(UINT32_C(1) << i);
		if (follow->place.index == i)
			path->place_lost = true;
		if (!form->live)
			continue;
		if (form->shift || form->change != PATTERN_UNKNOWN)
			pattern_use_form(follow, form);
		form->kept &= ~UINT64_C(0xff);
	}
}

/* Not understood: what it reads is used as a whole. */
static void step_other(struct follow *follow, struct path *path,
		       const struct cs_insn *insn)
{
	uint32_t written, byte;
	uint32_t read = pattern_registers(follow, insn, &written, &byte);
	bool compares = insn->id == X86_INS_CMP || insn->id == X86_INS_TEST ||
			insn->id == X86_INS_BT;

	note_addresses(follow, path, insn);
	for (int i = 0; i < 16; i++) {
		if (compares && (read & (UINT32_C(1) << i)) &&
		    path->forms[i].live)
			follow->pattern->compared = true;
		if (read & (UINT32_C(1) << i))
			pattern_use_form(follow, &path->forms[i]);
	}
	keep_upper(follow, path, byte);
	pattern_kill(path, written & ~byte, &follow->place);
	path->flags = false;
}

/* A sum's bits depend on all below them, by what is carried. */
static uint64_t form_needs(const struct form *form, uint64_t bits)
{
	if (form->change != PATTERN_ADD)
		return bits;
	for (unsigned int by = 1; by < 64; by *= 2)
		bits |= bits >> by;
	return bits;
}

bool pattern_step_constant(struct path *path, const struct cs_insn *insn,
			   struct form *form, unsigned int size, int64_t imm)
{
	uint64_t mask = pattern_mask(size), bits = (uint64_t)imm & mask;
	uint64_t above = form->shift < 64 ? bits << form->shift : 0;

	switch (insn->id) {
	case X86_INS_ADD:
	case X86_INS_SUB:
	case X86_INS_INC:
	case X86_INS_DEC:
		if (form->shift || (form->change != PATTERN_UNKNOWN &&
				    form->change != PATTERN_ADD))
			return false;
		form->constant = form->change == PATTERN_UNKNOWN ||
				 form->constant;
		form->change = PATTERN_ADD;
		imm = pattern_signed(imm, size);
		form->delta += insn->id == X86_INS_SUB ||
					       insn->id == X86_INS_DEC
				       ? -imm
				       : imm;
		break;
	case X86_INS_AND:
		/* of an extracted field only uses matter, not what comes back */
		form->kept &= form->shift ? above
					  : form_needs(form, bits) | ~mask;
		if (form->change == PATTERN_UNKNOWN)
			form->change = PATTERN_BITS;
		form->changed |= ~bits & mask;
		break;
	case X86_INS_OR:
	case X86_INS_XOR:
		if (form->change != PATTERN_UNKNOWN &&
		    form->change != PATTERN_BITS)
			return false;
		form->change = PATTERN_BITS;
		form->changed |= bits;
		break;
	default:
		return false;
	}
	path->flags = true;
	path->flag_bits = form->change == PATTERN_ADD ? 0 : form->kept;
	return true;
}

/* bts, btr, btc and bt of a register by a constant. */
static bool step_bit(struct follow *follow, struct path *path,
		     const struct cs_insn *insn, struct form *form)
{
	int64_t imm;
	uint64_t bit;

	if (!pattern_immediate(insn, 1, &imm))
		return false;
	bit = UINT64_C(1) << ((unsigned int)(imm + form->shift) & 63);
	pattern_use(follow, form->kept & bit);
	path->flags = false;
	if (insn->id == X86_INS_BT)
		return true;
	if (form->shift ||
	    (form->change != PATTERN_UNKNOWN && form->change != PATTERN_BITS))
		return false;
	form->change = PATTERN_BITS;
	form->changed |= bit;
	return true;
}

static bool step_shift(struct path *path, const struct cs_insn *insn,
		       struct form *form)
{
	int64_t imm = 1;

	if (insn->detail->x86.op_count > 1 && !pattern_immediate(insn, 1, &imm))
		return false;
	if (form->change != PATTERN_UNKNOWN || imm < 0 ||
	    form->shift + imm > 63)
		return false;
	form->shift = (uint8_t)(form->shift + imm);
	form->kept &= UINT64_MAX << form->shift;
	path->flags = true;
	path->flag_bits = form->kept;
	return true;
}

/* mov, movzx, movsx between registers. */
static bool step_copy(struct follow *follow, struct path *path,
		      const struct cs_insn *insn)
{
	const cs_x86 *x86 = &insn->detail->x86;
	uint8_t to = pattern_register(insn, 0),
		from = pattern_register(insn, 1);
	struct form form;
	bool base;

	if (to >= X86_RIP || from >= X86_RIP || pattern_high_byte(insn, 0) ||
	    pattern_high_byte(insn, 1))
		return false;
	form = path->forms[from];
	if (form.live) {
		uint64_t low = pattern_mask(x86->operands[1].size);

		form.kept &= form.shift ? low << form.shift : low;
	}
	/* a part of a register is written: the rest of its value goes on */
	if (x86->operands[0].size < 4)
		pattern_use_form(follow, &path->forms[to]);
	base = x86->operands[0].size == 8 &&
	       (path->bases & UINT32_C(1) << from);
	pattern_kill(path, UINT32_C(1) << to, &follow->place);
	path->forms[to] = form;
	path->bases |= base ? UINT32_C(1) << to : 0;
	return true;
}

/* lea of the value and a constant. */
static bool step_lea(struct follow *follow, struct path *path,
		     const struct cs_insn *insn)
{
	const cs_x86_op *op = &insn->detail->x86.operands[1];
	uint8_t to = pattern_register(insn, 0),
		from = decode_register(op->mem.base);
	struct form form;

	if (to >= X86_RIP || from >= X86_RIP || !path->forms[from].live ||
	    op->mem.index != X86_REG_INVALID)
		return false;
	form = path->forms[from];
	if (form.shift ||
	    (form.change != PATTERN_UNKNOWN && form.change != PATTERN_ADD))
		return false;
	form.constant = form.change == PATTERN_UNKNOWN || form.constant;
	form.change = PATTERN_ADD;
	form.delta += op->mem.disp;
	pattern_kill(path, UINT32_C(1) << to, &follow->place);
	path->forms[to] = form;
	return true;
}

/* The value and some number that is not known. */
static bool form_add(struct form *form)
{
	if (form->shift ||
	    (form->change != PATTERN_UNKNOWN && form->change != PATTERN_ADD))
		return false;
	form->change = PATTERN_ADD;
	form->constant = false;
	return true;
}

/* lea of the value and another register. */
static bool step_lea_sum(struct follow *follow, struct path *path,
			 const struct cs_insn *insn)
{
	const cs_x86_op *op = &insn->detail->x86.operands[1];
	uint8_t to = pattern_register(insn, 0),
		base = decode_register(op->mem.base);
	uint8_t index = decode_register(op->mem.index);
	struct form form;

	if (to >= X86_RIP || base >= X86_RIP || index >= X86_RIP ||
	    op->mem.scale != 1 ||
	    path->forms[base].live == path->forms[index].live)
		return false;
	form = path->forms[base].live ? path->forms[base] : path->forms[index];
	if (!form_add(&form))
		return false;
	pattern_kill(path, UINT32_C(1) << to, &follow->place);
	path->forms[to] = form;
	return true;
}

/* add and sub with a register: the value and some number. */
static bool step_sum(struct follow *follow, struct path *path,
		     const struct cs_insn *insn)
{
	uint8_t to = pattern_register(insn, 0),
		from = pattern_register(insn, 1);
	struct form *form, *other, sum;

	if (to >= X86_RIP || from >= X86_RIP || to == from)
		return false;
	form = &path->forms[to];
	other = &path->forms[from];
	if (form->live == other->live ||
	    (other->live && insn->id != X86_INS_ADD))
		return false;
	sum = form->live ? *form : *other;
	if (!form_add(&sum))
		return false;
	/* what is taken off may be more than was added */
	if (insn->id == X86_INS_SUB)
		sum.change = PATTERN_DERIVED;
	pattern_kill(path, UINT32_C(1) << to, &follow->place);
	*form = sum;
	path->flags = true;
	path->flag_bits = 0;
	return true;
}

/* add of other memory to the value: the same. */
static bool step_sum_memory(struct follow *follow, struct path *path,
			    const struct cs_insn *insn)
{
	const cs_x86_op *op = &insn->detail->x86.operands[1];
	uint8_t to = pattern_register(insn, 0), parts[2];

	if (insn->id != X86_INS_ADD || to >= X86_RIP ||
	    op->type != X86_OP_MEM || pattern_high_byte(insn, 0) ||
	    insn->detail->x86.operands[0].size < 4)
		return false;
	parts[0] = decode_register(op->mem.base);
	parts[1] = decode_register(op->mem.index);
	for (int i = 0; i < 2; i++) {
		if (parts[i] < X86_RIP && path->forms[parts[i]].live)
			return false;
	}
	if (!path->forms[to].live || !form_add(&path->forms[to]))
		return false;
	path->bases &= ~(UINT32_C(1) << to);
	if (follow->place.index == to)
		path->place_lost = true;
	path->flags = true;
	path->flag_bits = path->forms[to].kept;
	return true;
}

/* test and cmp: what they look at. */
static bool step_compare(struct follow *follow, struct path *path,
			 const struct cs_insn *insn)
{
	uint8_t reg = pattern_register(insn, 0),
		other = pattern_register(insn, 1);
	struct form *form;
	int64_t imm;

	if (reg >= X86_RIP || !path->forms[reg].live ||
	    pattern_high_byte(insn, 0))
		return false;
	form = &path->forms[reg];
	follow->pattern->compared = true;
	if (insn->id == X86_INS_TEST && pattern_immediate(insn, 1, &imm)) {
		uint64_t bits =
			(uint64_t)imm &
			pattern_mask(insn->detail->x86.operands[0].size);

		bits = form_needs(form, bits);
		pattern_use(follow,
			    form->kept &
				    (form->shift ? bits << form->shift : bits));
		path->flags = false;
		return true;
	}
	if (insn->id == X86_INS_TEST && other != reg)
		return false;
	if (insn->id == X86_INS_CMP && !pattern_immediate(insn, 1, &imm))
		return false;
	path->flags = form->change == PATTERN_ADD && insn->id == X86_INS_TEST;
	path->flag_bits = 0;
	pattern_use(follow,
		    form->kept &
			    (form->shift ? UINT64_MAX
					 : pattern_mask(
						   insn->detail->x86.operands[0]
							   .size)));
	return true;
}

/* Arithmetic on a register that holds the value. */
static bool step_register(struct follow *follow, struct path *path,
			  const struct cs_insn *insn)
{
	uint8_t reg = pattern_register(insn, 0);
	unsigned int size = insn->detail->x86.operands[0].size;
	struct form *form;
	int64_t imm = 1;

	if (reg >= X86_RIP || !path->forms[reg].live ||
	    pattern_high_byte(insn, 0))
		return false;
	form = &path->forms[reg];
	switch (insn->id) {
	case X86_INS_INC:
	case X86_INS_DEC:
		return pattern_step_constant(path, insn, form, size, 1);
	case X86_INS_BT:
	case X86_INS_BTS:
	case X86_INS_BTR:
	case X86_INS_BTC:
		return step_bit(follow, path, insn, form);
	case X86_INS_SHR:
	case X86_INS_SAR:
		return step_shift(path, insn, form);
	default:
		return pattern_immediate(insn, 1, &imm) &&
		       pattern_step_constant(path, insn, form, size, imm);
	}
}

/* xor and sub of a register with itself: zero, whatever it was. */
static bool step_zero(struct follow *follow, struct path *path,
		      const struct cs_insn *insn)
{
	uint8_t reg = pattern_register(insn, 0);

	if ((insn->id != X86_INS_XOR && insn->id != X86_INS_SUB) ||
	    reg >= X86_RIP || pattern_register(insn, 1) != reg ||
	    insn->detail->x86.operands[0].size < 4)
		return false;
	pattern_kill(path, UINT32_C(1) << reg, &follow->place);
	path->flags = false;
	return true;
}

static bool step_known(struct follow *follow, struct path *path,
		       const struct cs_insn *insn)
{
	switch (insn->id) {
	case X86_INS_MOV:
	case X86_INS_MOVZX:
	case X86_INS_MOVSX:
	case X86_INS_MOVSXD:
		return step_copy(follow, path, insn);
	case X86_INS_LEA:
		return step_lea(follow, path, insn) ||
		       step_lea_sum(follow, path, insn);
	case X86_INS_TEST:
	case X86_INS_CMP:
		return step_compare(follow, path, insn);
	case X86_INS_ADD:
	case X86_INS_SUB:
		return step_sum(follow, path, insn) ||
		       step_sum_memory(follow, path, insn) ||
		       step_register(follow, path, insn);
	default:
		return step_register(follow, path, insn);
	}
}

/* A plain mov of a general register to the place. */
static bool step_store(struct follow *follow, struct path *path,
		       const struct cs_insn *insn)
{
	struct insn_access access;
	uint8_t reg = pattern_register(insn, 1);

	if (insn->id != X86_INS_MOV || reg >= X86_RIP ||
	    insn->detail->x86.operands[0].type != X86_OP_MEM)
		return false;
	pattern_access(follow, insn->address, &access);
	if (access.operand_count != 1 ||
	    !pattern_is_place(follow, path, &access.operands[0],
			      pattern_next(insn)))
		return false;
	insn = pattern_decode(follow, insn->address);
	if (follow->store == 0 || follow->store == insn->address)
		pattern_note_store(follow, &path->forms[reg]);
	return true;
}

void pattern_step(struct follow *follow, struct path *path,
		  const struct cs_insn *insn)
{
	if (!step_store(follow, path, insn) &&
	    !pattern_step_slot(follow, path, insn) &&
	    !step_zero(follow, path, insn) && !step_known(follow, path, insn))
		step_other(follow, path, insn);
}
