/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The debug-register allocator: four slots, as pure arithmetic on a mirror of
 * DR0-DR3 and DR7 (Intel SDM volume 3, "Debug Registers"). It decides what
 * should be in the registers; writing them to threads is a back end's work,
 * and what trapped is read from the stopped thread's own DR6. A mirror that
 * is all zero is empty.
 *
 * A claim covers a byte range exactly with aligned pieces of 1, 2, 4 and 8
 * bytes, each in a slot of its own or in one that holds the same piece for
 * another claim. A failed claim leaves the mirror untouched.
 */
#ifndef X86_DREGS_H
#define X86_DREGS_H

#include <stdbool.h>
#include <stdint.h>

enum { DREGS_SLOTS = 4 };

/*
 * The R/W field of DR7. There is no read-only watch on x86. Execution is
 * claimed with one byte, the instruction's first.
 */
enum dregs_type { DREGS_EXECUTE = 0, DREGS_WRITE = 1, DREGS_READ_WRITE = 3 };

struct dregs_slot {
	uint64_t address;
	uint8_t length; /* 1, 2, 4, 8; 0: free */
	uint8_t type; /* enum dregs_type */
	uint16_t users;
};

struct dregs {
	struct dregs_slot slots[DREGS_SLOTS];
	/* the number of registers that others use: as many slots stay empty */
	uint8_t taken;
	/* the first half is for DREGS_WRITE alone, the other for DREGS_READ_WRITE */
	bool halves;
};

/* What one claim got. */
struct dregs_claim {
	uint64_t address;
	uint32_t size; /* asked for */
	uint32_t covered; /* bytes from the start of the range, no holes */
	uint8_t slots; /* bit set of slots used */
	uint8_t type;
};

/* How many slots are free for another claim, as far as there are no halves. */
int dregs_free(const struct dregs *dregs);

/*
 * Claim [address, address + size), 1..64 bytes that do not wrap. With
 * `partial`, as many leading bytes are covered as slots allow, and one is
 * enough; without, it is all or nothing. False, *ret untouched, if not. Claims
 * of type read-write take slots from the last on, all others from the first: so
 * a slot seldom changes its type (see watch-cpu.c).
 */
bool dregs_claim(struct dregs *dregs, uint64_t address, uint32_t size,
		 enum dregs_type type, bool partial, struct dregs_claim *ret);

/*
 * Give the claim's slots back, once; slots with no users left become free. No
 * other slot moves.
 */
void dregs_release(struct dregs *dregs, const struct dregs_claim *claim);

/*
 * DR7 for the mirror: local enables, types, lengths. The reserved bit 10 and
 * the LE and GE bits are not set.
 */
uint64_t dregs_control(const struct dregs *dregs);

/*
 * The DR7 value to write before DR0-DR3 may be moved: everything disabled and
 * all lengths 1, because a stale length in a disabled slot still rejects an
 * unaligned address (bugzilla.kernel.org 200965).
 */
uint64_t dregs_control_neutral(void);

#endif
