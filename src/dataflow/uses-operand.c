/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The operands of an instruction on general registers: registers of any width
 * and memory, read and written. See uses-step.h.
 */
#include "dataflow/uses-step.h"

static bool is_high_byte(unsigned int reg)
{
	return reg == X86_REG_AH || reg == X86_REG_BH || reg == X86_REG_CH ||
	       reg == X86_REG_DH;
}

static struct number memory_address(const struct step *step)
{
	for (unsigned int i = 0; i < step->access->operand_count; i++) {
		const struct mem_operand *operand = &step->access->operands[i];

		if (!operand->stack)
			return uses_address(step->run, step->access, operand);
	}
	return number_lost(8, false, true);
}

struct number step_get(const struct step *step, int i)
{
	const cs_x86_op *operand = &step->x86->operands[i];
	struct number number;
	uint8_t reg;

	if (operand->type == X86_OP_IMM) {
		number = number_known((uint64_t)operand->imm);
		return number_cut(&number, step->size);
	}
	if (operand->type == X86_OP_MEM) {
		number = memory_address(step);
		return uses_load_number(step->run, &number, operand->size);
	}
	reg = decode_register(operand->reg);
	if (reg >= X86_RIP)
		return number_lost(operand->size, false, true);
	number = step->run->state.gpr[reg];
	if (is_high_byte(operand->reg))
		number = number_shift(&number, -8, 8);
	return number_cut(&number, operand->size);
}

/* The lowest bytes; of four the rest becomes zero. */
void uses_set_gpr(struct uses_run *run, uint8_t reg,
		  const struct number *number, unsigned int size)
{
	struct number *gpr = &run->state.gpr[reg];
	struct number cut = number_cut(number, size);

	run->wrote_gpr |= UINT32_C(1) << reg;
	if (size < 4) {
		uint64_t kept = ~number_mask(size);

		*gpr = number_of_bits((gpr->value & kept) | cut.value,
				      (gpr->asked & kept) | cut.asked,
				      (gpr->unknown & kept) | cut.unknown);
		return;
	}
	if (!number_is_known(&cut) && cut.origin == 0)
		cut.origin = ++run->origins;
	*gpr = cut;
}

static void set_high_byte(struct uses_run *run, uint8_t reg,
			  const struct number *number)
{
	struct number *gpr = &run->state.gpr[reg];
	struct number byte = number_cut(number, 1);
	uint64_t kept = ~UINT64_C(0xff00);

	byte = number_shift(&byte, 8, 8);
	run->wrote_gpr |= UINT32_C(1) << reg;
	*gpr = number_of_bits((gpr->value & kept) | byte.value,
			      (gpr->asked & kept) | byte.asked,
			      (gpr->unknown & kept) | byte.unknown);
}

void step_set(const struct step *step, int i, const struct number *number)
{
	const cs_x86_op *operand = &step->x86->operands[i];
	struct number address;
	uint8_t reg;

	if (operand->type == X86_OP_MEM) {
		address = memory_address(step);
		uses_store_number(step->run, &address, number, operand->size);
		return;
	}
	reg = decode_register(operand->reg);
	if (reg >= X86_RIP)
		uses_give_up(step->run);
	else if (is_high_byte(operand->reg))
		set_high_byte(step->run, reg, number);
	else
		uses_set_gpr(step->run, reg, number, operand->size);
}

bool step_same_registers(const struct step *step)
{
	return step->x86->operands[0].type == X86_OP_REG &&
	       step->x86->operands[1].type == X86_OP_REG &&
	       step->x86->operands[0].reg == step->x86->operands[1].reg;
}
