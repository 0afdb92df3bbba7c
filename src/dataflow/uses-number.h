/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Partly known numbers and flags. A bit of a value is known; or asked: it may
 * depend on the bytes that dataflow/uses.h is asked about; or unknown: it does
 * not depend on them, but its value is not known; or asked and unknown. Numbers
 * also have bounds, as a comparison with a length needs them. Only for
 * src/dataflow/uses*.c and their test.
 */
#ifndef DATAFLOW_USES_NUMBER_H
#define DATAFLOW_USES_NUMBER_H

#include <stdbool.h>
#include <stdint.h>

#include "x86/access.h"

struct number {
	uint64_t value; /* 0 where it is not known */
	uint64_t asked, unknown; /* bit sets */
	uint64_t low, high; /* it is within these */
	/*
	 * Numbers with the same origin, if it is not 0, differ by what their
	 * deltas differ by: x and x - 1 have most bits in common.
	 */
	uint32_t origin;
	int64_t delta;
};

/* A truth value; the last two depend on the bytes asked about. */
enum tri { TRI_NO, TRI_YES, TRI_UNKNOWN, TRI_ASKED, TRI_VAGUE };

/*
 * The flags. With `compared' they are those of a - b, so that a condition
 * follows from the bounds of both.
 */
struct flags {
	uint8_t carry, zero, sign, overflow, parity; /* enum tri */
	bool compared;
	bool asked; /* made of numbers with asked bits */
	struct number a, b;
	unsigned int size; /* bytes of both */
	/* with zero set, the register is `if_zero'; X86_REG_NONE: none is */
	uint8_t zero_reg;
	struct number if_zero;
};

/* uses-number.c: all on `bytes' bytes, 1 to 8. */
uint64_t number_mask(unsigned int bytes);
struct number number_known(uint64_t value);
/* Nothing of it is known; with bits like those asked of `from' if any are. */
struct number number_lost(unsigned int bytes, bool asked, bool unknown);
struct number number_of_bits(uint64_t value, uint64_t asked, uint64_t unknown);
bool number_is_known(const struct number *number);
struct number number_cut(const struct number *number, unsigned int bytes);
struct number number_extend(const struct number *number, unsigned int from,
			    unsigned int to);
struct number number_add(const struct number *a, const struct number *b,
			 unsigned int bytes);
struct number number_sub(const struct number *a, const struct number *b,
			 unsigned int bytes);
struct number number_and(const struct number *a, const struct number *b);
struct number number_or(const struct number *a, const struct number *b);
struct number number_xor(const struct number *a, const struct number *b);
struct number number_not(const struct number *a, unsigned int bytes);
/* By `by' bits: left if positive, right if not. */
struct number number_shift(const struct number *a, int by, unsigned int bytes);
struct number number_sar(const struct number *a, unsigned int by,
			 unsigned int bytes);
struct number number_rotate(const struct number *a, unsigned int left,
			    unsigned int bytes);
/* There is a bit set, whatever the number looks like. */
#define NUMBER_SOME UINT64_MAX
/* The number of the lowest bit set; `none' if there is none. */
struct number number_lowest(const struct number *a, uint64_t none);
/* How many of `bits' bits are zeros above the highest bit set. */
struct number number_leading(const struct number *a, uint64_t bits);
/* The number of the highest bit set, of which there is one. */
struct number number_highest(const struct number *a);
/* One of the two. */
struct number number_either(const struct number *a, const struct number *b,
			    enum tri which);
enum tri number_tri(const struct number *number);
enum tri number_bit(const struct number *number, unsigned int bit);
enum tri number_is_zero(const struct number *number);

/* uses-flags.c */
void flags_read(struct flags *flags, uint64_t rflags);
void flags_compare(struct flags *flags, const struct number *a,
		   const struct number *b, unsigned int bytes);
void flags_logic(struct flags *flags, const struct number *result,
		 unsigned int bytes);
/* Of a sum or the like: zero and sign; carry and overflow as given. */
void flags_result(struct flags *flags, const struct number *result,
		  unsigned int bytes, enum tri carry, enum tri overflow);
/* Is the condition of jcc, setcc and cmovcc so: the low 4 bits of opcodes? */
enum tri flags_condition(const struct flags *flags, unsigned int condition);
bool flags_have_asked(const struct flags *flags);
enum tri tri_not(enum tri a);
enum tri tri_xor(enum tri a, enum tri b);

#endif
