/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The two sides of a recursive lock's owner; see recursive.h.
 */
#include "conflict/recursive.h"

#include <string.h>

#include "conflict/conflict.h"
#include "conflict/evidence.h"
#include "conflict/locks.h"
#include "dataflow/recursive.h"

/* Bytes around the thread pointer in which thread-local variables are. */
enum { TLS_BELOW = 16 << 10, TLS_ABOVE = 4 << 10 };

/* Is it a value that no other thread has for its own? */
static bool is_own(const struct conflict_side *side, uint64_t value)
{
	uint64_t low = side->wire->regs.fs_base - TLS_BELOW;

	if (side->access.size == 4)
		return (uint32_t)value == (uint32_t)side->wire->tid;
	return value == (uint64_t)side->wire->tid ||
	       (side->wire->regs.fs_base != 0 &&
		value - low < TLS_BELOW + TLS_ABOVE);
}

/* The register's value in the side's innermost frame. */
static bool register_of(const struct conflict_side *side, uint8_t reg,
			uint64_t *ret)
{
	const struct frame_registers *registers = &side->frames[0].registers;

	if (reg >= 16 || !(registers->known & UINT32_C(1) << reg))
		return false;
	*ret = registers->gpr[reg];
	return true;
}

/* The reader's identity was there, or came there meanwhile. */
static bool was_seen(const struct conflict *conflict, uint64_t identity)
{
	return memcmp(conflict->wire.before, &identity,
		      conflict->overlap.size) == 0 ||
	       memcmp(conflict->wire.after, &identity,
		      conflict->overlap.size) == 0;
}

static bool reads_owner(const struct conflict *conflict,
			const struct conflict_side *side,
			struct recursive_check *ret)
{
	struct locks_caller caller;
	struct function_code code;
	uint64_t identity;

	return locks_code(side, side->insn_address, &caller, &code) &&
	       recursive_check(&code, side->insn_address,
			       evidence_operand(side), ret) &&
	       register_of(side, ret->reg, &identity) &&
	       is_own(side, identity) && !was_seen(conflict, identity);
}

static bool writes_owner(const struct conflict_side *side, int64_t lock)
{
	struct recursive_check check;
	struct locks_caller caller;
	struct function_code code;
	uint64_t identity;

	if (!locks_code(side, side->insn_address, &caller, &code))
		return false;
	if (recursive_releases(&code, side->insn_address, lock))
		return true;
	return recursive_owns(&code, side->insn_address, &check) &&
	       check.lock == lock &&
	       register_of(side, check.store_reg, &identity) &&
	       is_own(side, identity);
}

bool recursive_owner(const struct conflict *conflict)
{
	const struct conflict_side *sides = conflict->sides;
	int reads = sides[0].access.kind == ACCESS_READ ? 0 : 1;
	const struct conflict_side *read = &sides[reads];
	const struct conflict_side *write = &sides[1 - reads];
	struct recursive_check check;

	if (read->access.kind != ACCESS_READ ||
	    write->access.kind != ACCESS_WRITE || read->insn.synchronizes ||
	    read->access.size != write->access.size ||
	    read->access.size != conflict->overlap.size ||
	    (read->access.size != 8 && read->access.size != 4) ||
	    !locks_can_tell(read) || !locks_can_tell(write))
		return false;
	return reads_owner(conflict, read, &check) &&
	       writes_owner(write, check.lock);
}
