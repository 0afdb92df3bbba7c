/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The owner of a recursive lock; see recursive.h. The code is followed from the
 * read to the comparison and its branch, then along all paths where the two are
 * unequal.
 */
#include "dataflow/recursive.h"

#include <stdlib.h>

#include "base/map.h"
#include "dataflow/flow-parts.h"
#include "x86/decode-capstone.h"
#include "x86/decode-parts.h"
#include "x86/decode.h"

enum {
	STRAIGHT = 12, /* instructions from the read to the branch */
	AHEAD = 300, /* ... from there on, on all ways */
	DEPTH = 16, /* branches in a row that are followed both ways */
	DISTANCE = 4096, /* bytes between the owner and the lock */
};

struct check {
	const struct function_code *code;
	struct follow follow;
	struct value place, id;
	uint16_t size;
	uint8_t loaded; /* the register with the value read, or none */
	struct map visited;
	unsigned int steps, depth;
	bool failed;
	bool found;
	struct recursive_check *ret;
};

/* A way on from the branch. */
struct way {
	struct values values;
	uint64_t address;
	bool live; /* the register still has the value read */
	bool flags; /* they are still those of the comparison */
	bool locked;
	int64_t lock;
	bool owned; /* the owner has been stored */
};

static uint32_t bit(uint8_t reg)
{
	return reg < X86_RIP ? UINT32_C(1) << reg : 0;
}

/* Arguments; and what a call leaves in registers is not what was there. */
static const uint32_t call_reads = 1u << X86_RDI | 1u << X86_RSI |
				   1u << X86_RDX | 1u << X86_RCX |
				   1u << X86_R8 | 1u << X86_R9;
static const uint32_t call_writes = 1u << X86_RAX | 1u << X86_R10 |
				    1u << X86_R11;

static bool reads_flags(const struct cs_insn *insn)
{
	return insn->detail->x86.eflags &
	       (X86_EFLAGS_TEST_CF | X86_EFLAGS_TEST_ZF | X86_EFLAGS_TEST_SF |
		X86_EFLAGS_TEST_OF | X86_EFLAGS_TEST_PF);
}

static bool writes_flags(const struct cs_insn *insn)
{
	return insn->detail->x86.eflags &
	       (X86_EFLAGS_MODIFY_ZF | X86_EFLAGS_RESET_ZF | X86_EFLAGS_SET_ZF |
		X86_EFLAGS_UNDEFINED_ZF);
}

/* The register that a compare with `loaded', or else with memory, names. */
static uint8_t compared_with(const struct check *check,
			     const struct cs_insn *insn)
{
	uint8_t a = pattern_register(insn, 0), b = pattern_register(insn, 1);

	if (insn->id != X86_INS_CMP || insn->detail->x86.op_count != 2 ||
	    insn->detail->x86.operands[0].size != check->size)
		return X86_REG_NONE;
	if (check->loaded >= X86_RIP)
		return a < X86_RIP ? a : b;
	if (a == check->loaded)
		return b;
	return b == check->loaded ? a : X86_REG_NONE;
}

/* The same value is in that register as when the owner was read. */
static bool set_identity(struct check *check, const struct values *before,
			 const struct values *now, uint8_t reg)
{
	if (reg >= X86_RIP || reg == check->loaded ||
	    !values_equal(&before->regs[reg], &now->regs[reg]) ||
	    before->regs[reg].root == 0)
		return false;
	check->id = now->regs[reg];
	check->ret->reg = reg;
	return true;
}

/* On to the comparison; leaves *way behind it. */
static bool to_comparison(struct check *check, struct way *way)
{
	const struct values before = way->values;
	struct insn_access access;

	for (int i = 0; i < STRAIGHT; i++) {
		const struct cs_insn *insn =
			pattern_decode(&check->follow, way->address);
		uint32_t read, written, byte;
		bool compared;
		uint8_t reg;

		if (!insn)
			return false;
		reg = compared_with(check, insn);
		compared = reg < X86_RIP &&
			   (i == 0) == (check->loaded >= X86_RIP);
		read = pattern_registers(&check->follow, insn, &written, &byte);
		if (compared &&
		    !set_identity(check, &before, &way->values, reg))
			return false;
		if (!compared && i > 0 &&
		    ((read | written | byte) & bit(check->loaded)))
			return false;
		if (!flow_step(check->code, &check->follow, &way->values,
			       way->address, &access) ||
		    access.flow != X86_FLOW_NEXT || access.refusal != X86_OK)
			return false;
		way->address += access.length;
		if (compared)
			return true;
	}
	return false;
}

/* On to the branch of the comparison; leaves *way where it is unequal. */
static bool to_unequal(struct check *check, struct way *way)
{
	for (int i = 0; i < STRAIGHT; i++) {
		const struct cs_insn *insn =
			pattern_decode(&check->follow, way->address);
		struct insn_access access;
		bool equal;

		if (!insn)
			return false;
		equal = insn->id == X86_INS_JE;
		if (equal || insn->id == X86_INS_JNE) {
			pattern_access(&check->follow, way->address, &access);
			way->address = equal ? way->address + access.length
					     : access.target;
			return true;
		}
		/* the rest of what is done first leaves both as they are */
		if ((insn->id != X86_INS_MOV && insn->id != X86_INS_LEA &&
		     insn->id != X86_INS_NOP) ||
		    (check->loaded < X86_RIP &&
		     (pattern_registers(&check->follow, insn, &(uint32_t){ 0 },
					&(uint32_t){ 0 }) &
		      bit(check->loaded))))
			return false;
		if (!flow_step(check->code, &check->follow, &way->values,
			       way->address, &access))
			return false;
		way->address += access.length;
	}
	return false;
}

static bool is_near(const struct check *check, const struct value *at,
		    int64_t *ret)
{
	if (at->root != check->place.root)
		return false;
	*ret = at->disp - check->place.disp;
	return *ret <= DISTANCE && *ret >= -DISTANCE &&
	       (*ret >= check->size || *ret < 0);
}

/* Is the value read, or what its comparison has found, used by it? */
static bool uses_value(const struct check *check, struct way *way,
		       const struct cs_insn *insn,
		       const struct insn_access *access)
{
	uint32_t written, byte, loaded = bit(check->loaded);
	uint32_t read =
		pattern_registers(&check->follow, insn, &written, &byte);

	if (access->flow == X86_FLOW_CALL) {
		read |= call_reads;
		written |= call_writes;
	}
	if (access->flow == X86_FLOW_RET)
		read |= bit(X86_RAX) | bit(X86_RDX);
	/* a register made zero by itself */
	if ((insn->id == X86_INS_XOR || insn->id == X86_INS_SUB) &&
	    pattern_register(insn, 0) < X86_RIP &&
	    pattern_register(insn, 0) == pattern_register(insn, 1))
		read = 0;
	if (way->flags && reads_flags(insn))
		return true;
	if (writes_flags(insn) || access->flow == X86_FLOW_CALL)
		way->flags = false;
	if (way->live && (read & loaded))
		return true;
	if (written & ~byte & loaded)
		way->live = false;
	return false;
}

/* The store to the owner; any other is no such lock. */
static void see_store(struct check *check, struct way *way,
		      const struct cs_insn *insn,
		      const struct insn_access *access,
		      const struct mem_operand *operand, const struct value *at)
{
	uint8_t reg = pattern_register(insn, 1);

	if (!way->locked || insn->id != X86_INS_MOV || reg >= X86_RIP ||
	    access->synchronizes || operand->size != check->size ||
	    !values_equal(at, &check->place) ||
	    !values_equal(&way->values.regs[reg], &check->id) ||
	    (check->found && (check->ret->store != way->address ||
			      check->ret->lock != way->lock))) {
		check->failed = true;
		return;
	}
	check->found = true;
	way->owned = true;
	check->ret->store = way->address;
	check->ret->store_reg = reg;
	check->ret->lock = way->lock;
}

/* Memory: the lock that is taken, then the owner. */
static void see_memory(struct check *check, struct way *way,
		       const struct cs_insn *insn,
		       const struct insn_access *access)
{
	for (unsigned int i = 0; i < access->operand_count && !way->owned;
	     i++) {
		const struct mem_operand *operand = &access->operands[i];
		struct value at = values_address(&way->values, operand,
						 way->address + access->length);
		int64_t distance = at.disp - check->place.disp;

		if (operand->stack || !(operand->kind & ACCESS_WRITE) ||
		    at.root != check->place.root)
			continue;
		if (distance < check->size && -distance < operand->size)
			see_store(check, way, insn, access, operand, &at);
		else if (access->synchronizes && !way->locked)
			way->locked = is_near(check, &at, &way->lock);
	}
}

/* A call that has taken a lock. */
static void see_lock(const struct check *check, struct way *way)
{
	const struct values *values = &way->values;

	if (!way->locked && values->lock_count > 0)
		way->locked = is_near(check,
				      &values->locks[values->lock_count - 1],
				      &way->lock);
}

/* False where the way has been before, or is too long. */
static bool enter(struct check *check, const struct way *way)
{
	uint64_t key = 16 * way->address + 8 * way->owned + 4 * way->live +
		       2 * way->flags + way->locked;

	if (map_get(&check->visited, key))
		return false;
	check->failed |= ++check->steps > AHEAD ||
			 !map_set(&check->visited, key, 1);
	return !check->failed;
}

static bool leaves(const struct check *check, const struct way *way)
{
	return way->address - check->follow.start >= check->follow.size;
}

static void follow_way(struct check *check, struct way way)
{
	while (!check->failed && enter(check, &way)) {
		const struct cs_insn *insn;
		struct insn_access access;

		/* what is done there is not looked at */
		if (leaves(check, &way)) {
			check->failed |= way.live || way.flags;
			return;
		}
		pattern_access(&check->follow, way.address, &access);
		insn = pattern_decode(&check->follow, way.address);
		if (!insn || uses_value(check, &way, insn, &access)) {
			check->failed = true;
			return;
		}
		see_memory(check, &way, insn, &access);
		/* nothing is left to look for */
		if (way.owned && !way.live && !way.flags)
			return;
		if (!flow_step(check->code, &check->follow, &way.values,
			       way.address, &access) ||
		    access.flow == X86_FLOW_RET || access.flow == X86_FLOW_STOP)
			return;
		check->failed |= access.flow == X86_FLOW_JUMP &&
				 access.indirect;
		see_lock(check, &way);
		way.address += access.length;
		if (access.flow == X86_FLOW_BRANCH) {
			struct way taken = way;

			taken.address = access.target;
			check->failed |= check->depth == DEPTH;
			if (check->failed)
				return;
			check->depth++;
			follow_way(check, taken);
			check->depth--;
		} else if (access.flow == X86_FLOW_JUMP) {
			way.address = access.target;
		}
	}
}

/* The values at the access; what it reads, and to which register. */
static bool check_begin(struct check *check, const struct function_code *code,
			uint64_t address, unsigned int operand, struct way *way)
{
	const struct cs_insn *insn;
	struct insn_access access;

	check->code = code;
	check->follow = (struct follow){ .decoder = code->decoder,
					 .bytes = code->bytes,
					 .size = code->size,
					 .start = code->start };
	if (address - code->start >= code->size)
		return false;
	pattern_access(&check->follow, address, &access);
	if (operand >= access.operand_count || access.operand_count != 1 ||
	    access.operands[0].stack || access.operands[0].string ||
	    access.operands[0].kind != ACCESS_READ ||
	    (access.operands[0].size != 8 && access.operands[0].size != 4) ||
	    !flow_to(code, address, &way->values, NULL, NULL))
		return false;
	check->size = access.operands[0].size;
	check->place = values_address(&way->values, &access.operands[0],
				      address + access.length);
	insn = pattern_decode(&check->follow, address);
	check->loaded = X86_REG_NONE;
	if (insn && insn->id == X86_INS_MOV)
		check->loaded = pattern_register(insn, 0);
	way->address = address;
	way->live = check->loaded < X86_RIP;
	way->flags = true;
	return insn && (insn->id == X86_INS_CMP || way->live);
}

bool recursive_check(const struct function_code *code, uint64_t address,
		     unsigned int operand, struct recursive_check *ret)
{
	struct check check = { .ret = ret };
	struct way way = { .locked = false };
	bool found = false;

	if (check_begin(&check, code, address, operand, &way) &&
	    to_comparison(&check, &way) && to_unequal(&check, &way)) {
		way.values.lock_count = 0;
		follow_way(&check, way);
		found = check.found && !check.failed;
	}
	map_deinit(&check.visited);
	return found;
}
