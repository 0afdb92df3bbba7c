/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Registers before an access; see redo.h.
 */
#include "replay/redo.h"

#include <string.h>

#include "x86/effective.h"

/* of rflags: string instructions go down */
static const uint64_t REDO_DIRECTION = 0x400;

enum { REDO_WORD = 8 };

struct guesses {
	const struct redo_access *it;
	struct x86_registers *all;
	size_t count;
};

static void guess_add(struct guesses *guesses, const struct x86_registers *regs)
{
	if (guesses->count < REDO_MAX)
		guesses->all[guesses->count++] = *regs;
}

/* One register different from the first guess. */
static void guess_register(struct guesses *guesses, unsigned int reg,
			   uint64_t value)
{
	struct x86_registers regs = guesses->all[0];

	if (reg >= 16 || regs.gpr[reg] == value)
		return;
	regs.gpr[reg] = value;
	guess_add(guesses, &regs);
}

/* Back by what push, pop, call and string instructions move by themselves. */
static void guess_unmove(const struct insn_access *insn,
			 const struct mem_operand *operand,
			 struct x86_registers *regs)
{
	uint64_t size = operand->size;

	if (operand->stack)
		regs->gpr[X86_RSP] += operand->kind & ACCESS_WRITE ? size
								   : -size;
	if (operand->string && operand->base < 16 && insn->rep == X86_REP_NONE)
		regs->gpr[operand->base] -=
			regs->rflags & REDO_DIRECTION ? -size : size;
}

/* The operand that made the access. */
static const struct mem_operand *guess_operand(const struct redo_access *it)
{
	for (unsigned int i = 0; i < it->insn->operand_count; i++) {
		const struct mem_operand *operand = &it->insn->operands[i];

		if (operand->size == it->access->size && !operand->stack)
			return operand;
	}
	return NULL;
}

/* The base, and the index, with which the address is that of the access. */
static void guess_address(struct guesses *guesses)
{
	const struct redo_access *it = guesses->it;
	const struct mem_operand *operand = guess_operand(it);
	struct x86_registers *first = &guesses->all[0];
	uint64_t off, scale;

	if (!operand || operand->addr32 || operand->string ||
	    operand->base == operand->index || operand->bit_reg != X86_REG_NONE)
		return;
	scale = operand->scale ? operand->scale : 1;
	off = it->access->address - effective_address(it->insn, operand, first);
	if (off == 0)
		return;
	if (operand->base < 16)
		guess_register(guesses, operand->base,
			       first->gpr[operand->base] + off);
	if (operand->index < 16 && off % scale == 0)
		guess_register(
			guesses, operand->index,
			first->gpr[operand->index] +
				(uint64_t)((int64_t)off / (int64_t)scale));
}

/* A register of as many bytes as were accessed. */
static uint64_t guess_number(const struct redo_access *it, uint64_t upper,
			     uint64_t number)
{
	uint64_t mask = it->access->size >= REDO_WORD
				? ~UINT64_C(0)
				: (UINT64_C(1) << 8 * it->access->size) - 1;

	return (upper & ~mask) | (number & mask);
}

static void guess_exchanged(struct guesses *guesses)
{
	const struct redo_access *it = guesses->it;
	uint64_t before = 0, after = 0;

	if (it->access->kind != ACCESS_RMW || it->access->size > REDO_WORD)
		return;
	memcpy(&before, it->before, it->access->size);
	memcpy(&after, it->after, it->access->size);
	for (unsigned int reg = 0; reg < 16; reg++) {
		uint64_t upper = guesses->all[0].gpr[reg];

		if (!(it->written >> reg & 1))
			continue;
		guess_register(guesses, reg, guess_number(it, upper, after));
		guess_register(guesses, reg,
			       guess_number(it, upper, after - before));
		guess_register(guesses, reg, guess_number(it, upper, before));
	}
}

size_t redo_guess(const struct redo_access *it, const struct x86_registers *now,
		  struct x86_registers ret[REDO_MAX])
{
	struct guesses guesses = { .it = it, .all = ret };
	struct x86_registers first = *now;

	if (it->insn->refusal != X86_OK || it->insn->rep != X86_REP_NONE)
		return 0;
	first.rip = it->rip;
	for (unsigned int i = 0; i < it->insn->operand_count; i++)
		guess_unmove(it->insn, &it->insn->operands[i], &first);
	guess_add(&guesses, &first);
	guess_address(&guesses);
	guess_exchanged(&guesses);
	return guesses.count;
}
