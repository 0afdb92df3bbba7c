/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Numbers of which some bits are not known; see uses-number.h. Sums follow the
 * carries that each bit not known can make or break.
 */
#include "dataflow/uses-number.h"

uint64_t number_mask(unsigned int bytes)
{
	return bytes >= 8 ? UINT64_MAX : (UINT64_C(1) << (8 * bytes)) - 1;
}

struct number number_of_bits(uint64_t value, uint64_t asked, uint64_t unknown)
{
	uint64_t open = asked | unknown;

	return (struct number){
		.value = value & ~open,
		.asked = asked,
		.unknown = unknown,
		.low = value & ~open,
		.high = value | open,
	};
}

struct number number_known(uint64_t value)
{
	return number_of_bits(value, 0, 0);
}

struct number number_lost(unsigned int bytes, bool asked, bool unknown)
{
	uint64_t mask = number_mask(bytes);

	return number_of_bits(0, asked ? mask : 0,
			      unknown || !asked ? mask : 0);
}

bool number_is_known(const struct number *number)
{
	return (number->asked | number->unknown) == 0;
}

/* The same bits, within closer bounds if these are. */
static struct number number_bounded(struct number number, uint64_t low,
				    uint64_t high)
{
	if (low > number.low)
		number.low = low;
	if (high < number.high)
		number.high = high;
	return number;
}

struct number number_cut(const struct number *number, unsigned int bytes)
{
	uint64_t mask = number_mask(bytes);
	struct number cut = number_of_bits(number->value & mask,
					   number->asked & mask,
					   number->unknown & mask);

	/* all of it, or what the rest is of makes no difference */
	if (((number->asked | number->unknown) & ~mask) == 0) {
		cut.origin = number->origin;
		cut.delta = number->delta;
	}
	if (number->high <= mask)
		return number_bounded(cut, number->low, number->high);
	return cut;
}

struct number number_extend(const struct number *number, unsigned int from,
			    unsigned int to)
{
	uint64_t sign = UINT64_C(1) << (8 * from - 1);
	uint64_t above = number_mask(to) & ~number_mask(from);
	struct number cut = number_cut(number, from);

	if (((cut.asked | cut.unknown | cut.value) & sign) == 0)
		return cut;
	return number_of_bits(cut.value & sign ? cut.value | above : cut.value,
			      cut.asked & sign ? cut.asked | above : cut.asked,
			      cut.unknown & sign ? cut.unknown | above
						 : cut.unknown);
}

/* The bits of a sum that the open bits of the two can change. */
static uint64_t sum_open(uint64_t a, uint64_t b, uint64_t a_open,
			 uint64_t b_open)
{
	uint64_t least = a + b, most = least + a_open + b_open;

	return (least ^ most) | a_open | b_open;
}

static struct number sum(const struct number *a, const struct number *b,
			 unsigned int bytes)
{
	uint64_t mask = number_mask(bytes);
	uint64_t all = sum_open(a->value, b->value, a->asked | a->unknown,
				b->asked | b->unknown);
	/* bits that are asked, whatever the unknown ones are */
	bool asked = (a->asked | b->asked) != 0;
	bool unknown = (a->unknown | b->unknown) != 0;

	return number_of_bits((a->value + b->value) & mask,
			      asked ? all & mask : 0, unknown ? all & mask : 0);
}

/* The same, with where it comes from. */
static struct number derived(const struct number *a, const struct number *b,
			     unsigned int bytes)
{
	uint64_t top = UINT64_C(1) << (8 * bytes - 1);
	uint64_t by = b->value & number_mask(bytes);
	struct number ret = sum(a, b, bytes);

	if (number_is_known(b)) {
		ret.origin = a->origin;
		ret.delta = a->delta + (int64_t)((by ^ top) - top);
	} else if (number_is_known(a)) {
		return derived(b, a, bytes);
	}
	return ret;
}

struct number number_add(const struct number *a, const struct number *b,
			 unsigned int bytes)
{
	uint64_t mask = number_mask(bytes);
	struct number ret = derived(a, b, bytes);

	if (a->high <= mask && b->high <= mask && a->high + b->high <= mask &&
	    a->high + b->high >= a->high)
		return number_bounded(ret, a->low + b->low, a->high + b->high);
	/* one known number that stands for a negative one */
	if (number_is_known(b) && a->low <= mask && a->high <= mask &&
	    ((a->low + b->value) & mask) <= ((a->high + b->value) & mask) &&
	    a->high - a->low <= mask / 2)
		return number_bounded(ret, (a->low + b->value) & mask,
				      (a->high + b->value) & mask);
	if (number_is_known(a) && !number_is_known(b))
		return number_add(b, a, bytes);
	return ret;
}

struct number number_not(const struct number *a, unsigned int bytes)
{
	uint64_t mask = number_mask(bytes);
	struct number cut = number_cut(a, bytes);
	struct number ret =
		number_of_bits(~cut.value & mask, cut.asked, cut.unknown);

	return number_bounded(ret, mask - cut.high, mask - cut.low);
}

/* a - b = ~(~a + b) */
struct number number_sub(const struct number *a, const struct number *b,
			 unsigned int bytes)
{
	struct number minus = number_known(-b->value & number_mask(bytes));
	struct number not = number_not(a, bytes);
	struct number cut = number_cut(b, bytes);
	struct number ret;

	if (number_is_known(b))
		return number_add(a, &minus, bytes);
	ret = number_add(&not, &cut, bytes);
	return number_not(&ret, bytes);
}

/*
 * x and x - 1: of the lowest bit set and those below, all differ, and of those
 * above none. *ret: the lowest bits that may differ.
 */
static bool lowest_differ(const struct number *a, const struct number *b,
			  uint64_t *ret)
{
	const struct number *x = a->delta > b->delta ? a : b;
	int64_t apart = a->delta - b->delta;

	if (a->origin == 0 || a->origin != b->origin ||
	    (apart != 1 && apart != -1) || x->value == 0)
		return false;
	*ret = x->value ^ (x->value - 1);
	return true;
}

struct number number_and(const struct number *a, const struct number *b)
{
	uint64_t ones = (a->value | a->asked | a->unknown) &
			(b->value | b->asked | b->unknown);
	struct number ret = number_of_bits(a->value & b->value,
					   (a->asked | b->asked) & ones,
					   (a->unknown | b->unknown) & ones);

	return number_bounded(ret, 0, a->high < b->high ? a->high : b->high);
}

struct number number_or(const struct number *a, const struct number *b)
{
	uint64_t ones = a->value | b->value;

	return number_of_bits(ones, (a->asked | b->asked) & ~ones,
			      (a->unknown | b->unknown) & ~ones);
}

struct number number_xor(const struct number *a, const struct number *b)
{
	uint64_t differ = UINT64_MAX;

	lowest_differ(a, b, &differ);
	return number_of_bits((a->value ^ b->value) & differ,
			      (a->asked | b->asked) & differ,
			      (a->unknown | b->unknown) & differ);
}

struct number number_shift(const struct number *a, int by, unsigned int bytes)
{
	uint64_t mask = number_mask(bytes);

	if (by >= 64 || by <= -64)
		return number_known(0);
	if (by >= 0)
		return number_of_bits(a->value << by & mask,
				      a->asked << by & mask,
				      a->unknown << by & mask);
	return number_bounded(number_of_bits((a->value & mask) >> -by,
					     (a->asked & mask) >> -by,
					     (a->unknown & mask) >> -by),
			      (a->low & mask) >> -by, UINT64_MAX);
}

static uint64_t sar(uint64_t value, unsigned int by, unsigned int bytes)
{
	uint64_t top = UINT64_C(1) << (8 * bytes - 1);
	int64_t wide = (int64_t)((value ^ top) - top);

	return (uint64_t)(wide >> by) & number_mask(bytes);
}

struct number number_sar(const struct number *a, unsigned int by,
			 unsigned int bytes)
{
	return number_of_bits(sar(a->value & number_mask(bytes), by, bytes),
			      sar(a->asked & number_mask(bytes), by, bytes),
			      sar(a->unknown & number_mask(bytes), by, bytes));
}

static uint64_t rotate(uint64_t value, unsigned int left, unsigned int bytes)
{
	unsigned int bits = 8 * bytes;

	value &= number_mask(bytes);
	left %= bits;
	if (left == 0)
		return value;
	return (value << left | value >> (bits - left)) & number_mask(bytes);
}

struct number number_rotate(const struct number *a, unsigned int left,
			    unsigned int bytes)
{
	return number_of_bits(rotate(a->value, left, bytes),
			      rotate(a->asked, left, bytes),
			      rotate(a->unknown, left, bytes));
}

/* A number within the bounds, open for reasons like those of `from'. */
static struct number between(uint64_t low, uint64_t high, uint64_t asked,
			     uint64_t unknown)
{
	uint64_t open = low ^ high;

	if (open == 0)
		return number_known(low);
	open = UINT64_MAX >> __builtin_clzll(open);
	return number_bounded(number_of_bits(low & ~open, asked ? open : 0,
					     unknown ? open : 0),
			      low, high);
}

struct number number_lowest(const struct number *a, uint64_t none)
{
	uint64_t open = a->asked | a->unknown;
	uint64_t most = none, least = none, deciding = UINT64_MAX;

	if (a->value != 0) {
		most = (uint64_t)__builtin_ctzll(a->value);
		deciding = a->value ^ (a->value - 1);
	} else if (none == NUMBER_SOME && open != 0) {
		most = 63 - (uint64_t)__builtin_clzll(open);
	}
	if ((a->value | open) != 0)
		least = (uint64_t)__builtin_ctzll(a->value | open);
	return between(least, most, a->asked & deciding, a->unknown & deciding);
}

struct number number_leading(const struct number *a, uint64_t bits)
{
	uint64_t open = a->asked | a->unknown;
	uint64_t least = bits, most = bits, deciding = UINT64_MAX;

	if ((a->value | open) != 0)
		least = bits - 64 + (uint64_t)__builtin_clzll(a->value | open);
	if (a->value != 0) {
		most = bits - 64 + (uint64_t)__builtin_clzll(a->value);
		deciding = ~(UINT64_MAX >> __builtin_clzll(a->value));
	}
	return between(least, most, a->asked & deciding, a->unknown & deciding);
}

struct number number_highest(const struct number *a)
{
	uint64_t open = a->asked | a->unknown, deciding = UINT64_MAX;
	uint64_t least, most;

	if ((a->value | open) == 0)
		return number_known(0);
	most = 63 - (uint64_t)__builtin_clzll(a->value | open);
	if (a->value != 0) {
		least = 63 - (uint64_t)__builtin_clzll(a->value);
		deciding = ~(UINT64_MAX >> (63 - least));
	} else {
		least = (uint64_t)__builtin_ctzll(open);
	}
	return between(least, most, a->asked & deciding, a->unknown & deciding);
}

struct number number_either(const struct number *a, const struct number *b,
			    enum tri which)
{
	uint64_t differ = a->value ^ b->value;
	struct number ret;

	if (which == TRI_NO)
		return *b;
	if (which == TRI_YES)
		return *a;
	ret = number_of_bits(a->value & b->value, a->asked | b->asked,
			     a->unknown | b->unknown);
	if (which != TRI_UNKNOWN)
		ret.asked |= differ;
	if (which != TRI_ASKED)
		ret.unknown |= differ;
	ret.value &= ~(ret.asked | ret.unknown);
	ret.low = a->low < b->low ? a->low : b->low;
	ret.high = a->high > b->high ? a->high : b->high;
	return ret;
}

enum tri number_tri(const struct number *number)
{
	if (number->asked == 0)
		return TRI_UNKNOWN;
	return number->unknown == 0 ? TRI_ASKED : TRI_VAGUE;
}

enum tri number_bit(const struct number *number, unsigned int bit)
{
	uint64_t mask = UINT64_C(1) << bit;

	/* by the bounds, if those are on one side of it */
	if (((number->low ^ number->high) >> bit) == 0)
		return number->low & mask ? TRI_YES : TRI_NO;
	if ((number->asked | number->unknown) & mask)
		return number_tri(
			&(struct number){ .asked = number->asked & mask,
					  .unknown = number->unknown & mask });
	return number->value & mask ? TRI_YES : TRI_NO;
}

enum tri number_is_zero(const struct number *number)
{
	if (number->value != 0 || number->low > 0)
		return TRI_NO;
	if (number_is_known(number) || number->high == 0)
		return TRI_YES;
	return number_tri(number);
}
