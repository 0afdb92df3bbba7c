/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Branches, calls and returns of the simulated thread: whether the bytes asked
 * about could change their targets. See uses-parts.h.
 */
#include "dataflow/uses-parts.h"

#include <string.h>

#include "x86/decode-capstone.h"
#include "x86/decode-parts.h"

enum {
	FORKS = 6, /* branches of one way that are not known */
	RESULT_BYTES = 8, /* of a number in a vector register */
	/* all but rbx, rsp, rbp and r12 to r15 (psABI 3.2.1) */
	CALL_LOSES_GPR = 0xffff & ~(1 << X86_RBX | 1 << X86_RSP | 1 << X86_RBP |
				    0xf << X86_R12),
};

/* Its first bytes matter. */
static void use_vector(struct uses_run *run, int i, int size)
{
	for (int j = 0; j < size; j++) {
		struct number byte =
			number_of_bits(0, run->state.vectors[i].asked[j],
				       run->state.vectors[i].unknown[j]);

		uses_of_number(run, &byte);
	}
}

/*
 * What is asked is behind the number that a result register may hold, where a
 * sum by vectors leaves its parts. Only a vector that is returned has that, and
 * its caller takes it before it goes anywhere else: on there.
 */
static void enter_caller(struct uses_run *run)
{
	struct uses_state *state = &run->state;
	struct vector result = state->vectors[0];
	struct number *rsp = &state->gpr[X86_RSP];
	struct number to = uses_load_number(run, rsp, 8);
	struct number word = number_known(8);

	if (!number_is_known(&to)) {
		uses_give_up(run);
		return;
	}
	uses_forget(state, CALL_LOSES_GPR, UINT32_MAX, UINT32_MAX);
	state->vectors[0] = result;
	*rsp = number_add(rsp, &word, 8);
	state->rip = to.value;
	state->stored_count = 0;
	state->returned = true;
}

void uses_find_taken(struct uses_run *run)
{
	struct uses_state *state = &run->state;
	struct vector result = state->vectors[0];

	memset(state->vectors[0].asked, 0, X86_VECTOR_BYTES);
	if (uses_are_asked(state))
		uses_end(run, USES_SOME);
	state->vectors[0] = result;
}

/*
 * What a caller may look at. After a decision that the bytes had no part in, the
 * other result registers hold what was left there.
 */
static void leave(struct uses_run *run)
{
	int size = run->compared ? X86_VECTOR_BYTES : RESULT_BYTES;

	uses_of_number(run, &run->state.gpr[X86_RAX]);
	if (!run->state.examined && !run->state.searched) {
		uses_of_number(run, &run->state.gpr[X86_RDX]);
		use_vector(run, 0, size);
		/* two halves of a result are made of one vector with both */
		if (!run->state.narrowed)
			use_vector(run, 1, size);
	}
	if (!run->ended && !run->compared && !run->state.examined &&
	    !run->state.searched && vector_is_asked(&run->state.vectors[0]))
		enter_caller(run);
	else
		uses_end(run, USES_NONE);
}

/* The arguments go to a function that is not looked at. */
static void call(struct uses_run *run)
{
	static const uint8_t arguments[] = { X86_RDI, X86_RSI, X86_RDX,
					     X86_RCX, X86_R8,  X86_R9 };
	struct number lost = number_lost(8, false, true);

	/* what it does is not compared */
	if (run->compared)
		uses_end(run, USES_SOME);
	for (size_t i = 0; i < sizeof(arguments); i++)
		uses_of_number(run, &run->state.gpr[arguments[i]]);
	for (int i = 0; i < 8 && !run->state.examined && !run->state.searched;
	     i++)
		use_vector(run, i, X86_VECTOR_BYTES);
	uses_forget(&run->state, CALL_LOSES_GPR, UINT32_MAX, 0);
	flags_logic(&run->state.flags, &lost, 8);
}

/* Nothing tells which way: no use on either is none. */
static void fork_ways(struct uses_run *run, uint64_t target)
{
	struct uses_run other = *run;

	if (run->forks++ >= FORKS) {
		uses_give_up(run);
		return;
	}
	other.forks = run->forks;
	other.state.rip = target;
	uses_walk(&other);
	/* of ways that are compared, each would have ways of its own */
	if (run->compared)
		uses_give_up(run);
	if (run->ended)
		return;
	if (other.answer != USES_NONE) {
		run->state.searched |= other.state.searched;
		uses_give_up(run);
	}
}

static bool same_number(const struct number *a, const struct number *b)
{
	return number_is_known(a) && number_is_known(b) && a->value == b->value;
}

/* Has `other' stored what the run has, but for its stack? */
static bool same_stores(const struct uses_run *run,
			const struct uses_run *other)
{
	for (unsigned int i = 0; i < run->state.stored_count; i++) {
		const struct stored *stored = &run->state.stored[i];
		bool found = uses_is_own(run, stored->address);

		for (unsigned int j = 0; j < other->state.stored_count; j++) {
			const struct stored *match = &other->state.stored[j];

			found |= match->address == stored->address &&
				 match->value == stored->value &&
				 match->unknown == stored->unknown;
		}
		if (!found)
			return false;
	}
	return true;
}

/* Both have returned. */
static bool same_outcome(const struct uses_run *a, const struct uses_run *b)
{
	return same_number(&a->state.gpr[X86_RAX], &b->state.gpr[X86_RAX]) &&
	       same_number(&a->state.gpr[X86_RSP], &b->state.gpr[X86_RSP]) &&
	       same_stores(a, b) && same_stores(b, a);
}

/*
 * The bytes decide which way is taken. No matter, if both come to the same: a
 * search that finds something behind its end, and one that does not.
 */
static void fork_compared(struct uses_run *run, uint64_t target,
			  unsigned int condition)
{
	const struct flags *flags = &run->state.flags;

	struct uses_run other = *run;
	uint64_t at = run->at;

	if (run->forks++ >= FORKS) {
		uses_end(run, USES_SOME);
		return;
	}
	other.forks = run->forks;
	run->compared = other.compared = true;
	run->state.examined = other.state.examined = true;
	other.state.rip = target;
	if ((condition & 14) == 4 && flags->zero_reg < X86_RIP) {
		struct uses_run *zero = condition == 4 ? &other : run;

		zero->state.gpr[flags->zero_reg] = flags->if_zero;
	}
	uses_walk(&other);
	if (other.answer == USES_NONE)
		uses_walk(run);
	if (other.answer != USES_NONE || run->answer != USES_NONE ||
	    !same_outcome(run, &other))
		run->answer = USES_SOME;
	run->ended = true;
	run->where = at;
}

static void branch(struct uses_run *run, const struct cs_insn *insn,
		   const struct insn_access *access)
{
	const uint8_t *opcode = insn->detail->x86.opcode;
	unsigned int condition = (opcode[0] == 0x0f ? opcode[1] : opcode[0]) &
				 15;
	enum tri yes;

	/* jrcxz and loop are left to those who use them */
	if (opcode[0] >= 0xe0 && opcode[0] <= 0xe3) {
		uses_give_up(run);
		return;
	}
	yes = flags_condition(&run->state.flags, condition);
	run->state.examined |= yes < TRI_ASKED && run->state.flags.asked;
	if (yes == TRI_YES)
		run->state.rip = access->target;
	else if (yes == TRI_UNKNOWN)
		fork_ways(run, access->target);
	else if (yes == TRI_ASKED)
		fork_compared(run, access->target, condition);
	else if (yes == TRI_VAGUE)
		uses_give_up(run);
}

/*
 * Where an indirect jump or call leads: by a register, a table in memory, or a
 * slot of the linker. Bytes asked about that decide it are used.
 */
static struct number indirect_target(struct uses_run *run,
				     const struct cs_insn *insn,
				     const struct insn_access *access)
{
	const cs_x86_op *op = &insn->detail->x86.operands[0];
	struct number target = number_lost(8, false, true);

	if (op->type == X86_OP_REG && decode_register(op->reg) < X86_RIP) {
		target = run->state.gpr[decode_register(op->reg)];
	} else if (access->operand_count > 0) {
		target = uses_address(run, access, &access->operands[0]);
		target = uses_load_number(run, &target, 8);
	}
	uses_of_number(run, &target);
	return target;
}

static void jump(struct uses_run *run, const struct cs_insn *insn,
		 const struct insn_access *access, uint64_t at)
{
	struct number target;

	if (!access->indirect) {
		run->state.rip = access->target;
		return;
	}
	run->state.rip = at;
	target = indirect_target(run, insn, access);
	if (number_is_known(&target)) {
		run->state.rip = target.value;
		return;
	}
	/* to another function, most likely */
	call(run);
	uses_give_up(run);
}

void uses_flow(struct uses_run *run, const struct cs_insn *insn,
	       const struct insn_access *access, uint64_t at)
{
	/* nobody has taken the vector */
	if (run->state.returned && access->flow != X86_FLOW_RET) {
		uses_end(run, USES_NONE);
		return;
	}
	switch (access->flow) {
	case X86_FLOW_BRANCH:
		branch(run, insn, access);
		break;
	case X86_FLOW_JUMP:
		jump(run, insn, access, at);
		break;
	case X86_FLOW_CALL:
		if (access->indirect)
			indirect_target(run, insn, access);
		call(run);
		break;
	case X86_FLOW_RET:
		leave(run);
		break;
	default:
		uses_give_up(run);
		break;
	}
}
