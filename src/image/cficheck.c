/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Call frame instructions (DWARF 5 section 6.4.2) and the expressions in them
 * (section 2.5); see cficheck.h.
 */
#include "image/cficheck.h"

#include <dwarf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "image/ehframe.h"

enum {
	REGISTERS = 17, /* sixteen and the return address */
	RETURN_ADDRESS = 16,
	REMEMBERED_MAX = 64, /* states that an FDE keeps at a time */
};

/*
 * The operands of each instruction: r a register, u a LEB128 number, 1 to 8
 * bytes, b a block with an expression. With a ! libunwind 1.6 does not know it.
 * NULL: nobody does.
 */
static const char *const cfa_operands[] = {
	[DW_CFA_nop] = "",
	[DW_CFA_advance_loc1] = "1",
	[DW_CFA_advance_loc2] = "2",
	[DW_CFA_advance_loc4] = "4",
	[DW_CFA_offset_extended] = "ru",
	[DW_CFA_restore_extended] = "r",
	[DW_CFA_undefined] = "r",
	[DW_CFA_same_value] = "r",
	[DW_CFA_register] = "rr",
	[DW_CFA_remember_state] = "",
	[DW_CFA_restore_state] = "",
	[DW_CFA_def_cfa] = "ru",
	[DW_CFA_def_cfa_register] = "r",
	[DW_CFA_def_cfa_offset] = "u",
	[DW_CFA_def_cfa_expression] = "b",
	[DW_CFA_expression] = "rb",
	[DW_CFA_offset_extended_sf] = "ru",
	[DW_CFA_def_cfa_sf] = "ru",
	[DW_CFA_def_cfa_offset_sf] = "u",
	[DW_CFA_val_offset] = "!ru",
	[DW_CFA_val_offset_sf] = "!ru",
	[DW_CFA_val_expression] = "rb",
	[DW_CFA_GNU_args_size] = "u",
	[DW_CFA_GNU_negative_offset_extended] = "ru",
};

/*
 * Of an expression; the ranges of registers and literals are told apart. With
 * a ! it is none that call frame instructions have.
 */
static const char *const expression_operands[] = {
	[DW_OP_addr] = "8",	   [DW_OP_deref] = "",
	[DW_OP_const1u] = "1",	   [DW_OP_const1s] = "1",
	[DW_OP_const2u] = "2",	   [DW_OP_const2s] = "2",
	[DW_OP_const4u] = "4",	   [DW_OP_const4s] = "4",
	[DW_OP_const8u] = "8",	   [DW_OP_const8s] = "8",
	[DW_OP_constu] = "u",	   [DW_OP_consts] = "u",
	[DW_OP_dup] = "",	   [DW_OP_drop] = "",
	[DW_OP_over] = "",	   [DW_OP_pick] = "1",
	[DW_OP_swap] = "",	   [DW_OP_rot] = "",
	[DW_OP_abs] = "",	   [DW_OP_and] = "",
	[DW_OP_div] = "!",	   [DW_OP_minus] = "",
	[DW_OP_mod] = "!",	   [DW_OP_mul] = "",
	[DW_OP_neg] = "",	   [DW_OP_not] = "",
	[DW_OP_or] = "",	   [DW_OP_plus] = "",
	[DW_OP_plus_uconst] = "u", [DW_OP_shl] = "",
	[DW_OP_shr] = "",	   [DW_OP_shra] = "",
	[DW_OP_xor] = "",	   [DW_OP_bra] = "!2",
	[DW_OP_eq] = "",	   [DW_OP_ge] = "",
	[DW_OP_gt] = "",	   [DW_OP_le] = "",
	[DW_OP_lt] = "",	   [DW_OP_ne] = "",
	[DW_OP_skip] = "!2",	   [DW_OP_deref_size] = "1",
	[DW_OP_nop] = "",	   [DW_OP_call_frame_cfa] = "!",
};

struct scan {
	const uint8_t *at, *end;
	bool ok; /* false from the first thing on that nobody knows */
	bool plain; /* libunwind knows all so far */
	bool harmful;
};

static uint64_t scan_bytes(struct scan *scan, size_t size)
{
	uint64_t value = 0;

	if ((size_t)(scan->end - scan->at) < size) {
		scan->ok = false;
		return 0;
	}
	for (size_t i = 0; i < size; i++)
		value |= (uint64_t)scan->at[i] << 8 * i;
	scan->at += size;
	return value;
}

/* Ten bytes hold every number of 64 bits. */
static uint64_t scan_leb128(struct scan *scan)
{
	uint64_t value = 0;

	for (unsigned int shift = 0; shift < 70; shift += 7) {
		uint64_t byte = scan_bytes(scan, 1);

		if (!scan->ok)
			return 0;
		if (shift < 64)
			value |= (byte & 0x7f) << shift;
		if (!(byte & 0x80))
			return value;
	}
	scan->ok = false;
	return 0;
}

static const char *operands_of(uint8_t opcode)
{
	if (opcode >= DW_OP_breg0 && opcode <= DW_OP_breg31)
		return "u";
	if (opcode >= DW_OP_lit0 && opcode <= DW_OP_reg31)
		return "";
	if (opcode < sizeof(expression_operands) / sizeof(char *))
		return expression_operands[opcode];
	return NULL;
}

/* An operand that is a number. */
static void scan_number(struct scan *scan, char kind)
{
	if (kind == '!')
		scan->plain = false;
	else if (kind == 'u')
		scan_leb128(scan);
	else
		scan_bytes(scan, (size_t)(kind - '0'));
}

static void scan_expression(struct scan *scan)
{
	struct scan block = *scan;
	uint64_t size = scan_leb128(scan);

	if (!scan->ok || size > (size_t)(scan->end - scan->at)) {
		scan->ok = false;
		return;
	}
	block.at = scan->at;
	block.end = scan->at + size;
	while (block.ok && block.at < block.end) {
		uint8_t opcode = (uint8_t)scan_bytes(&block, 1);
		const char *operands = operands_of(opcode);

		block.ok = operands != NULL;
		block.harmful |= opcode == DW_OP_div;
		for (; operands && *operands; operands++)
			scan_number(&block, *operands);
	}
	scan->plain = block.plain && block.ok;
	scan->harmful = block.harmful;
	scan->at += size;
}

static void scan_operand(struct scan *scan, char kind)
{
	if (kind == 'b')
		scan_expression(scan);
	else if (kind == 'r')
		scan->plain &= scan_leb128(scan) < REGISTERS;
	else
		scan_number(scan, kind);
}

/* The next instruction; its opcode without an operand in its low bits. */
static uint8_t scan_instruction(struct scan *scan)
{
	uint8_t opcode = (uint8_t)scan_bytes(scan, 1);
	const char *operands = NULL;

	if (opcode & 0xc0) {
		scan->plain &= (opcode & 0xc0) == DW_CFA_advance_loc ||
			       (opcode & 0x3f) < REGISTERS;
		opcode &= 0xc0;
		operands = opcode == DW_CFA_offset ? "u" : "";
	} else if (opcode < sizeof(cfa_operands) / sizeof(char *)) {
		operands = cfa_operands[opcode];
	}
	if (!operands)
		scan->ok = false;
	for (; operands && *operands && scan->ok; operands++)
		scan_operand(scan, *operands);
	return opcode;
}

static bool defines_cfa(uint8_t opcode)
{
	return opcode == DW_CFA_def_cfa || opcode == DW_CFA_def_cfa_sf ||
	       opcode == DW_CFA_def_cfa_expression;
}

/* Of a CIE, which keeps no states. Does it say where the frame is? */
static bool scan_initial(struct scan *scan)
{
	bool defined = false;

	while (scan->ok && scan->at < scan->end) {
		uint8_t opcode = scan_instruction(scan);

		defined |= defines_cfa(opcode);
		if (opcode == DW_CFA_remember_state ||
		    opcode == DW_CFA_restore_state)
			scan->plain = false;
	}
	return defined;
}

/* Is there code, or a state to come back to, of before that instruction? */
static bool ends_start(uint8_t opcode)
{
	return opcode == DW_CFA_remember_state ||
	       opcode == DW_CFA_restore_state || opcode == DW_CFA_advance_loc ||
	       opcode == DW_CFA_advance_loc1 || opcode == DW_CFA_advance_loc2 ||
	       opcode == DW_CFA_advance_loc4;
}

/* defined: its CIE says where the frame is. Else it has to, at once. */
static void scan_own(struct scan *scan, bool defined)
{
	int remembered = 0;

	while (scan->ok && scan->at < scan->end) {
		uint8_t opcode = scan_instruction(scan);

		defined |= defines_cfa(opcode);
		if (opcode == DW_CFA_remember_state)
			remembered++;
		else if (opcode == DW_CFA_restore_state)
			remembered--;
		if (remembered < 0 || remembered > REMEMBERED_MAX ||
		    (!defined && ends_start(opcode)))
			scan->plain = false;
	}
	scan->plain &= defined;
}

enum cfi_verdict cfi_check(const struct eh_program *program)
{
	struct scan initial = { .at = program->initial,
				.end = program->initial + program->initial_size,
				.ok = true,
				.plain = program->return_register ==
					 RETURN_ADDRESS };
	struct scan own = { .at = program->own,
			    .end = program->own + program->own_size,
			    .ok = true,
			    .plain = true };

	scan_own(&own, scan_initial(&initial));
	if (initial.harmful || own.harmful)
		return CFI_HARMFUL;
	if (!initial.ok || !own.ok || !initial.plain || !own.plain)
		return CFI_FOREIGN;
	return CFI_PLAIN;
}
