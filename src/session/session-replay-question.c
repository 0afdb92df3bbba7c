/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * From a conflict to what a replay needs to know of it; see session-replay.h.
 */
#include "session/session-replay.h"

#include <string.h>

#include "conflict/conflict.h"
#include "conflict/evidence.h"
#include "conflict/locks.h"
#include "dataflow/pattern.h"
#include "image/elftext.h"
#include "image/image.h"
#include "sampling/first.h"
#include "sampling/scan.h"
#include "x86/effective.h"

enum { RETURN_ADDRESS_SIZE = 8, QUESTION_WORD = 8 };

/* A store that its caller may see, or a call. */
static bool question_acts(const struct insn_access *insn)
{
	if (insn->flow == X86_FLOW_CALL || insn->refusal != X86_OK)
		return true;
	for (unsigned int i = 0; i < insn->operand_count; i++) {
		const struct mem_operand *operand = &insn->operands[i];

		if (operand->kind & ACCESS_WRITE && !operand->stack &&
		    operand->base != X86_RSP && operand->base != X86_RBP)
			return true;
	}
	return false;
}

static bool question_never_acts(const struct vec *insns)
{
	for (size_t i = 0; i < insns->count; i++) {
		const struct scan_site *site = vec_at(insns, i);

		if (question_acts(&site->insn))
			return false;
	}
	return insns->count > 0;
}

/* To before the first address, behind the last, or where it is not known? */
static bool question_leaves(const struct insn_access *insn, uint64_t first,
			    uint64_t last)
{
	if (insn->flow != X86_FLOW_BRANCH && insn->flow != X86_FLOW_JUMP)
		return false;
	return insn->indirect || insn->target < first || insn->target > last;
}

/* False where that is not known. */
static bool question_rest_loads(const struct vec *insns, uint64_t access)
{
	const struct scan_site *last;
	bool found = false;

	if (insns->count == 0)
		return false;
	last = vec_at(insns, insns->count - 1);
	for (size_t i = 0; i < insns->count; i++) {
		const struct scan_site *site = vec_at(insns, i);

		found |= site->address == access;
		if (site->address >= access &&
		    (question_acts(&site->insn) ||
		     question_leaves(&site->insn, access, last->address)))
			return false;
	}
	return found;
}

/*
 * Does the function around the access only load, or at least from there on, and return
 * what it found? What its caller does with that is part of the race's outcome then.
 * Built without optimization, a function may check its argument by a call first.
 */
static bool question_only_loads(const struct vec *insns, uint64_t access)
{
	return question_never_acts(insns) || question_rest_loads(insns, access);
}

/* All instructions of the function that holds the access; none: not known. */
static struct error *question_function(const struct conflict_side *side,
				       struct vec *ret)
{
	const struct elf_function *function = elftext_function_at(
		side->module->text, side->insn_address - side->module->bias);

	return function ? scan_function_all(side->home->scanner, side->module,
					    function, ret)
			: NULL;
}

/*
 * Where the return addresses are at which the side's region may end: that of the
 * function that holds the access (0: not known), and that of its caller, if that
 * is better.
 */
static void question_return_slots(const struct conflict_side *side,
				  const struct vec *insns, uint64_t *ret_own,
				  uint64_t *ret)
{
	uint64_t own = side->frame_count > 0 ? side->frames[0].registers.cfa
					     : 0;
	uint64_t caller = side->frame_count > 1 ? side->frames[1].registers.cfa
						: 0;
	bool loads = caller > own && own &&
		     question_only_loads(insns, side->insn_address -
							side->module->bias);

	*ret_own = own ? own - RETURN_ADDRESS_SIZE : 0;
	*ret = loads ? caller - RETURN_ADDRESS_SIZE : *ret_own;
}

static void question_side(const struct conflict_side *side,
			  struct replay_side *ret)
{
	struct code_pattern pattern;

	evidence_pattern(side, &pattern);
	*ret = (struct replay_side){
		.insn = side->insn,
		.rip = side->insn_address,
		.access = side->access,
		.done = !side->wire->before,
		.updates = pattern_is_update(&pattern),
	};
}

/*
 * The registers do not tell the address any more: a load has overwritten its base
 * (mov (%rax), %rax). An operand that is aligned, as compilers do it, and not
 * smaller than the stalled access, has one place only where the two meet. Redoing
 * the access (replay/redo.h) proves it, by the registers that come out.
 */
static bool question_address_follows(const struct conflict *conflict,
				     const struct conflict_side *side)
{
	struct mem_access stalled = conflict->sides[0].access;
	uint32_t size = side->access.size;

	if (side == &conflict->sides[1])
		stalled.address += conflict->wire.shift;
	return side->insn.operand_count == 1 &&
	       !side->insn.operands[0].string && !side->wire->before &&
	       side->access.kind == ACCESS_READ && size <= QUESTION_WORD &&
	       (size & (size - 1)) == 0 && stalled.size <= size &&
	       side->access.address % size == 0 &&
	       mem_access_overlap(&side->access, &stalled);
}

/* Why it cannot be asked; NULL: it can. */
static const char *question_refusal(const struct conflict *conflict,
				    const struct conflict_side *side)
{
	if (side->kernel)
		return "system-call";
	if (!side->wire->present)
		return "not-held";
	if (!side->module || !side->module->text || side->insn_address == 0 ||
	    side->access.size == 0 || side->access.kind == ACCESS_NONE)
		return "unknown-instruction";
	if (side->guessed && !question_address_follows(conflict, side))
		return "unknown-address";
	return NULL;
}

static bool question_takes_lock(void *context, const struct scan_site *call)
{
	const struct function_code *code = context;
	const struct locks_caller *caller = code->context;
	uint64_t bias = caller->module->bias;
	struct insn_access insn = call->insn;
	enum lock_call does;

	/* it was decoded where the file has it */
	insn.target += bias;
	does = code->call(code->context, call->address + bias, &insn);
	return does == LOCK_CALL_LOCK || does == LOCK_CALL_LOCK_SECOND;
}

/* insns: of the function that holds the access. */
static bool question_is_first(const struct conflict_side *side,
			      const struct vec *insns, bool updates)
{
	struct locks_caller caller;
	struct function_code code;
	const struct first_locks locks = { question_takes_lock, &code };

	return first_access(insns, side->insn_address - side->module->bias,
			    updates,
			    locks_code(side, side->insn_address, &caller, &code)
				    ? &locks
				    : NULL);
}

static struct error *question_fill_side(const struct conflict *conflict, int i,
					struct session_instance *ret)
{
	const struct conflict_side *side = &conflict->sides[i];
	struct vec insns = VEC_INIT(struct scan_site);
	struct error *err;

	ret->failure = question_refusal(conflict, side);
	if (ret->failure)
		return NULL;
	question_side(side, &ret->question.sides[i]);
	ret->question.varies |= side->access.kind & ACCESS_WRITE &&
				!evidence_constant(side);
	ret->question.made &= evidence_made(side);
	err = question_function(side, &insns);
	question_return_slots(side, &insns, &ret->own_slots[i],
			      &ret->return_slots[i]);
	ret->first[i] =
		question_is_first(side, &insns, ret->question.sides[i].updates);
	vec_deinit(&insns);
	if (!err && ret->own_slots[i] == 0)
		ret->failure = "unknown-frame";
	return err;
}

/* The raced bytes, of those of the stalled access that the conflict tells of. */
static void question_bytes(const struct conflict *conflict,
			   struct replay_question *ret)
{
	const struct mem_access *stalled = &conflict->sides[0].access;
	uint64_t offset = conflict->overlap.address - stalled->address;

	ret->address = conflict->overlap.address;
	ret->size = conflict->overlap.size;
	memset(ret->before, 0, sizeof(ret->before));
	if (offset < X86_ACCESS_MAX && ret->size <= X86_ACCESS_MAX - offset)
		memcpy(ret->before, conflict->wire.before + offset, ret->size);
}

struct error *session_replay_question(const struct conflict *conflict,
				      struct session_instance *ret)
{
	struct error *err = NULL;

	*ret = (struct session_instance){ .question.made = true };
	for (int i = 0; i < REPLAY_THREADS; i++) {
		ret->images[i] = conflict->sides[i].home->image;
		ret->pids[i] = conflict->wire.sides[i].pid;
	}
	question_bytes(conflict, &ret->question);
	ret->shift = conflict->wire.shift;
	for (int i = 0; i < REPLAY_THREADS && !err && !ret->failure; i++)
		err = question_fill_side(conflict, i, ret);
	ret->question.first = ret->first[0] && ret->first[1];
	return err;
}
