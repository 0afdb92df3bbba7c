/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Locks around an access; see lockset.h. First the values of registers and
 * cells and the locks held are found at the instruction, on all paths to it
 * together; then the paths from it are followed one by one.
 */
#include "dataflow/lockset.h"

#include <stdlib.h>

#include "base/map.h"
#include "dataflow/flow-parts.h"
#include "x86/decode.h"

enum {
	AHEAD = 4000, /* instructions looked at after the access */
	DEPTH = 64, /* branches of which both ways are followed */
};

/* The ways on from an instruction. */
struct ahead {
	const struct function_code *code;
	struct follow follow;
	struct value place; /* that is read again */
	uint16_t size;
	struct values from; /* at the instruction */
	struct map visited;
	unsigned int steps, depth;
	bool failed;
	bool avoids; /* some way takes no lock */
	bool found;
	struct value lock;
	bool early;
};

/* A lock that was not held at the instruction; the last taken. */
static const struct value *new_lock(const struct ahead *ahead,
				    const struct values *values)
{
	for (unsigned int i = values->lock_count; i-- > 0;) {
		bool old = false;

		for (unsigned int j = 0; j < ahead->from.lock_count; j++)
			old |= values_equal(&ahead->from.locks[j],
					    &values->locks[i]);
		if (!old)
			return &values->locks[i];
	}
	return NULL;
}

static bool touches(const struct ahead *ahead, const struct values *values,
		    const struct insn_access *access, uint64_t address,
		    unsigned int kind)
{
	for (unsigned int i = 0; i < access->operand_count; i++) {
		const struct mem_operand *operand = &access->operands[i];
		struct value at = values_address(values, operand,
						 address + access->length);

		if ((operand->kind & kind) && operand->size == ahead->size &&
		    values_equal(&at, &ahead->place))
			return true;
	}
	return false;
}

/* False where the way has been before, or is too long. */
static bool ahead_enter(struct ahead *ahead, uint64_t address, bool locked)
{
	uint64_t key = 2 * address + locked;

	if (map_get(&ahead->visited, key) || ++ahead->steps > AHEAD)
		return false;
	ahead->failed |= !map_set(&ahead->visited, key, 1);
	return !ahead->failed &&
	       address - ahead->follow.start < ahead->follow.size;
}

/* Follow both ways of a branch; false where there are too many. */
static bool ahead_branch(struct ahead *ahead,
			 void (*follow)(struct ahead *, struct values,
					uint64_t),
			 const struct values *values, uint64_t target)
{
	if (ahead->depth == DEPTH)
		return false;
	ahead->depth++;
	follow(ahead, *values, target);
	ahead->depth--;
	return true;
}

static bool leaves(const struct ahead *ahead, const struct insn_access *access)
{
	return access->flow == X86_FLOW_RET ||
	       (access->flow == X86_FLOW_JUMP &&
		access->target - ahead->follow.start >= ahead->follow.size);
}

/* Look for a second read; `values' are those before the instruction. */
static void ahead_reread(struct ahead *ahead, struct values values,
			 uint64_t address)
{
	bool first = ahead->steps == 0;

	while (!ahead->found) {
		const struct value *lock = new_lock(ahead, &values);
		struct insn_access access;

		if (!ahead_enter(ahead, address, lock))
			return;
		pattern_access(&ahead->follow, address, &access);
		if (!first && lock &&
		    touches(ahead, &values, &access, address, ACCESS_READ)) {
			ahead->found = true;
			ahead->lock = *lock;
			return;
		}
		if (!first &&
		    touches(ahead, &values, &access, address, ACCESS_WRITE))
			return;
		first = false;
		if (!lock && leaves(ahead, &access))
			ahead->avoids = true;
		if (!flow_step(ahead->code, &ahead->follow, &values, address,
			       &access) ||
		    access.flow == X86_FLOW_RET || access.flow == X86_FLOW_STOP)
			return;
		address += access.length;
		if (access.flow == X86_FLOW_BRANCH &&
		    !ahead_branch(ahead, ahead_reread, &values, access.target))
			return;
		if (access.flow == X86_FLOW_JUMP)
			address = access.target;
	}
}

/* The rest, for the way that takes no lock once the second read is found. */
static void ahead_avoid(struct ahead *ahead, struct values values,
			uint64_t address)
{
	while (!ahead->avoids) {
		struct insn_access access;

		if (!ahead_enter(ahead, address, false))
			return;
		pattern_access(&ahead->follow, address, &access);
		if (leaves(ahead, &access))
			ahead->avoids = true;
		if (!flow_step(ahead->code, &ahead->follow, &values, address,
			       &access) ||
		    new_lock(ahead, &values) || access.flow == X86_FLOW_RET ||
		    access.flow == X86_FLOW_STOP)
			return;
		address += access.length;
		if (access.flow == X86_FLOW_BRANCH &&
		    !ahead_branch(ahead, ahead_avoid, &values, access.target))
			return;
		if (access.flow == X86_FLOW_JUMP)
			address = access.target;
	}
}

/* Does it access anything outside the frame, or call what may do so? */
static bool does_more(const struct ahead *ahead, const struct values *values,
		      uint64_t address, const struct insn_access *access,
		      unsigned int kind)
{
	if (access->flow == X86_FLOW_CALL)
		return ahead->code->call(ahead->code->context, address,
					 access) == LOCK_CALL_OTHER;
	if (access->refusal != X86_OK)
		return true;
	for (unsigned int i = 0; i < access->operand_count; i++) {
		const struct mem_operand *operand = &access->operands[i];
		struct value at = values_address(values, operand,
						 address + access->length);

		if ((operand->kind & kind) && !operand->stack &&
		    !values_in_frame(values, &at))
			return true;
	}
	return false;
}

/* To code that is not looked at, as a part that is put aside as unlikely. */
static bool branches_away(const struct ahead *ahead,
			  const struct insn_access *access)
{
	return access->flow == X86_FLOW_BRANCH &&
	       access->target - ahead->follow.start >= ahead->follow.size;
}

/* The function ends there: by what, and with the lock still held? */
static bool ends_early(const struct ahead *ahead, uint64_t address,
		       const struct insn_access *access)
{
	enum lock_call call;

	if (access->flow == X86_FLOW_RET)
		return ahead->from.lock_count > 0;
	call = ahead->code->call(ahead->code->context, address, access);
	return call != LOCK_CALL_UNLOCK && call != LOCK_CALL_UNLOCK_ALL;
}

/* Find what is done before one of the held locks is released. */
static void ahead_finish(struct ahead *ahead, struct values values,
			 uint64_t address)
{
	while (!ahead->early) {
		struct insn_access access;

		if (!ahead_enter(ahead, address, false)) {
			ahead->early |= ahead->steps > AHEAD;
			return;
		}
		pattern_access(&ahead->follow, address, &access);
		if (leaves(ahead, &access)) {
			ahead->early |= ends_early(ahead, address, &access);
			return;
		}
		ahead->early |= branches_away(ahead, &access) ||
				does_more(ahead, &values, address, &access,
					  ACCESS_WRITE);
		if (!flow_step(ahead->code, &ahead->follow, &values, address,
			       &access) ||
		    access.flow == X86_FLOW_STOP ||
		    values.lock_count < ahead->from.lock_count)
			return;
		address += access.length;
		if (access.flow == X86_FLOW_BRANCH)
			ahead->early |= !ahead_branch(ahead, ahead_finish,
						      &values, access.target);
		if (access.flow == X86_FLOW_JUMP)
			address = access.target;
	}
}

/* Look for what is done where no lock is taken. */
static void ahead_idle(struct ahead *ahead, struct values values,
		       uint64_t address)
{
	while (!ahead->early) {
		bool first = ahead->steps == 0;
		struct insn_access access;

		if (!ahead_enter(ahead, address, false)) {
			ahead->early |= ahead->steps > AHEAD;
			return;
		}
		pattern_access(&ahead->follow, address, &access);
		if (access.flow == X86_FLOW_RET) {
			/* not the value itself, nor what was made of it */
			ahead->early |= !values_returns_nothing(&values);
			return;
		}
		ahead->early |= leaves(ahead, &access) ||
				branches_away(ahead, &access) ||
				(!first && does_more(ahead, &values, address,
						     &access, ACCESS_RMW));
		if (!flow_step(ahead->code, &ahead->follow, &values, address,
			       &access) ||
		    new_lock(ahead, &values) || access.flow == X86_FLOW_STOP)
			return;
		address += access.length;
		if (access.flow == X86_FLOW_BRANCH)
			ahead->early |= !ahead_branch(ahead, ahead_idle,
						      &values, access.target);
		if (access.flow == X86_FLOW_JUMP)
			address = access.target;
	}
}

static void ahead_init(struct ahead *ahead, const struct function_code *code,
		       const struct values *from)
{
	*ahead = (struct ahead){
		.code = code,
		.follow = { .decoder = code->decoder,
			    .bytes = code->bytes,
			    .size = code->size,
			    .start = code->start },
		.from = *from,
	};
}

/* Does the instruction leave the register as it is? */
static bool keeps(const struct values *before, const struct values *after,
		  unsigned int reg)
{
	return values_equal(&before->regs[reg], &after->regs[reg]);
}

static bool find_register(const struct values *before,
			  const struct values *after, const struct value *value,
			  struct lock_place *ret)
{
	for (uint8_t i = 0; i < 16; i++) {
		if (before->regs[i].root != value->root ||
		    !keeps(before, after, i))
			continue;
		*ret = (struct lock_place){
			.where = LOCK_AT_REGISTER,
			.reg = i,
			.disp = value->disp - before->regs[i].disp,
		};
		return true;
	}
	return false;
}

static bool find_cell(const struct values *before, const struct values *after,
		      const struct value *value, struct lock_place *ret)
{
	for (unsigned int i = 0; i < before->cell_count; i++) {
		const struct cell *cell = &before->cells[i];
		struct lock_place at;

		if (cell->value.root != value->root ||
		    !values_in_frame(before, &cell->at) ||
		    !find_register(before, after, &cell->at, &at))
			continue;
		*ret = (struct lock_place){
			.where = LOCK_AT_CELL,
			.reg = at.reg,
			.offset = at.disp,
			.disp = value->disp - cell->value.disp,
		};
		return true;
	}
	return false;
}

/* Where a value is found when the instruction is run. */
static struct lock_place locate(const struct values *before,
				const struct values *after,
				const struct value *place,
				const struct value *value)
{
	struct lock_place lock = { .where = LOCK_AT_UNKNOWN };

	if (value->root == 0)
		return (struct lock_place){ .where = LOCK_AT_FIXED,
					    .disp = value->disp };
	if (place && place->root == value->root)
		return (struct lock_place){
			.where = LOCK_AT_BESIDE,
			.disp = value->disp - place->disp,
		};
	if (!find_register(before, after, value, &lock))
		find_cell(before, after, value, &lock);
	return lock;
}

bool lockset_rereads(const struct function_code *code, uint64_t address,
		     unsigned int operand, struct lock_place *ret_lock,
		     bool *ret_idle)
{
	struct ahead *ahead = malloc(sizeof(*ahead));
	struct insn_access access;
	struct values before, after;
	bool found = false;

	if (!ahead || address < code->start ||
	    !flow_to(code, address, &before, NULL, NULL))
		goto out;
	after = before;
	ahead_init(ahead, code, &before);
	if (!flow_step(code, &ahead->follow, &after, address, &access) ||
	    operand >= access.operand_count || access.flow != X86_FLOW_NEXT)
		goto out;
	ahead->place = values_address(&before, &access.operands[operand],
				      address + access.length);
	ahead->size = access.operands[operand].size;
	ahead_reread(ahead, before, address);
	if (ahead->found && !ahead->avoids) {
		map_deinit(&ahead->visited);
		ahead->steps = 0;
		ahead_avoid(ahead, before, address);
	}
	found = ahead->found && ahead->avoids && !ahead->failed;
	if (found) {
		map_deinit(&ahead->visited);
		ahead->steps = 0;
		ahead_idle(ahead, before, address);
		*ret_idle = !ahead->early && !ahead->failed;
	}
	if (found)
		*ret_lock =
			locate(&before, &after, &ahead->place, &ahead->lock);
	map_deinit(&ahead->visited);
out:
	free(ahead);
	return found;
}

void lockset_at(const struct function_code *code, uint64_t address,
		unsigned int operand, bool caller, struct lockset *ret)
{
	struct ahead *ahead = malloc(sizeof(*ahead));
	struct value place, *at = NULL;
	struct insn_access access;
	struct values before, after;

	*ret = (struct lockset){ .early = true };
	if (!ahead || !flow_to(code, address, &before, NULL, NULL))
		goto out;
	after = before;
	ahead_init(ahead, code, &before);
	if (!caller &&
	    flow_step(code, &ahead->follow, &after, address, &access)) {
		address += access.length;
		if (operand < access.operand_count) {
			place = values_address(
				&before, &access.operands[operand], address);
			at = &place;
		}
	}
	for (unsigned int i = 0; i < before.lock_count; i++)
		ret->locks[ret->count++] =
			locate(&before, &after, at, &before.locks[i]);
	ahead_finish(ahead, after, address);
	ret->early = ahead->early || ahead->failed;
	map_deinit(&ahead->visited);
out:
	free(ahead);
}
