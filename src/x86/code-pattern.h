/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What code does with a value in memory and around its access, as plain data:
 * evidence for the judge. A part of x86/access.h.
 */
#ifndef X86_CODE_PATTERN_H
#define X86_CODE_PATTERN_H

#include <stdbool.h>
#include <stdint.h>

/* What a function does with a value in memory; made by dataflow/pattern. */
enum pattern_change {
	/* not written, or it is unknown where the value comes from */
	PATTERN_UNKNOWN,
	PATTERN_CONSTANT, /* always the same value */
	/*
	 * a number is added to the old value; subtracted only if it is constant
	 */
	PATTERN_ADD,
	PATTERN_BITS, /* the old value with some bits set, cleared or turned */
	PATTERN_DERIVED, /* otherwise made from the old value */
};

enum { PATTERN_PAIR_BELOW = 1, PATTERN_PAIR_ABOVE = 2 };

/* The locks around an access; made by dataflow/lockset and conflict/locks. */
enum pattern_double_check {
	PATTERN_UNCHECKED, /* nothing is known */
	/* the value is read again under a lock that is taken after */
	PATTERN_REREAD,
	/* ... and if the lock is not taken, the function does nothing */
	PATTERN_REREAD_ONLY,
	/* it is written under a lock, as the last access before the release */
	PATTERN_LAST,
	PATTERN_EARLY, /* ... and something else may be */
};

struct code_pattern {
	uint8_t change; /* enum pattern_change: of the bytes in memory */
	/* PATTERN_ADD: the number, if it is always the same; else 0 */
	int64_t delta;
	/* PATTERN_BITS: the bits that may change, bit 0 in the lowest byte */
	uint64_t changed;
	/*
	 * The bits of the value read that anything depends on, besides the
	 * value written back; all ones if that is not known. Of a store that
	 * ends an addition they are those of the value that was read for it.
	 */
	uint64_t used;
	/* the new value is compared with zero at once: dec; jz */
	bool tests_zero;
	/* the value read is compared with something, bits of it or all */
	bool compared;
	/* it is used in an address */
	bool dereferenced;
	/* the function has a locked instruction or a futex(2) for the same memory */
	bool locked_beside;
	/* ... and one of them adds to it: what was there before counts */
	bool locked_adds;
	/*
	 * A read: a plain store to the same memory follows on a way without such
	 * an instruction, and is not what comes after one, as a release does.
	 */
	bool stored_plainly;
	/* the same was read and tested on a way there, without a call since */
	bool retested;
	/*
	 * A pointer to a function that is chosen at the first call: this reads it
	 * only to call it, or is the choice; made by conflict/dispatch.
	 */
	bool dispatch;
	/*
	 * PATTERN_PAIR_BELOW, _ABOVE: of as much memory just before or behind
	 * it, a read's value is compared with the value there, or subtracted;
	 * or the function writes there too.
	 */
	uint8_t pair;
	uint8_t double_check; /* enum pattern_double_check */
	/* the address of that lock; 0: not known */
	uint64_t lock;
};

#endif
