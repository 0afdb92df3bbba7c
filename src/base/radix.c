/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Sorting by a number; see radix.h.
 */
#include "base/radix.h"

#include <stdint.h>
#include <string.h>

enum {
	RADIX_BITS = 11,
	RADIX_DIGITS = 1 << RADIX_BITS,
	RADIX_KEY_BITS = 64,
};

static uint64_t radix_key(const struct vec *vec, size_t i, size_t offset)
{
	uint64_t key;

	memcpy(&key, (char *)vec_at(vec, i) + offset, sizeof(key));
	return key;
}

/* The bits in which the numbers differ. */
static uint64_t radix_differ(const struct vec *vec, size_t offset)
{
	uint64_t differ = 0;

	for (size_t i = 1; i < vec->count; i++)
		differ |= radix_key(vec, i, offset) ^ radix_key(vec, 0, offset);
	return differ;
}

/* The digit of the item's number that begins at that bit. */
static size_t radix_digit(const struct vec *vec, size_t i, size_t offset,
			  int shift)
{
	return radix_key(vec, i, offset) >> shift & (RADIX_DIGITS - 1);
}

/* Copy the items in the order of that digit. */
static void radix_pass(const struct vec *from, struct vec *to, size_t offset,
		       int shift)
{
	size_t places[RADIX_DIGITS] = { 0 }, place = 0;

	for (size_t i = 0; i < from->count; i++)
		places[radix_digit(from, i, offset, shift)]++;
	for (size_t i = 0; i < RADIX_DIGITS; i++) {
		size_t count = places[i];

		places[i] = place;
		place += count;
	}
	for (size_t i = 0; i < from->count; i++) {
		place = places[radix_digit(from, i, offset, shift)]++;
		memcpy(vec_at(to, place), vec_at(from, i), from->size);
	}
}

bool radix_sort(struct vec *vec, size_t offset)
{
	uint64_t differ = radix_differ(vec, offset);
	struct vec other = { .size = vec->size };

	if (!vec_reserve(&other, vec->count))
		return false;
	other.count = vec->count;
	for (int shift = 0; shift < RADIX_KEY_BITS; shift += RADIX_BITS) {
		struct vec sorted = other;

		if ((differ >> shift & (RADIX_DIGITS - 1)) == 0)
			continue;
		radix_pass(vec, &sorted, offset, shift);
		other = *vec;
		*vec = sorted;
	}
	vec_deinit(&other);
	return true;
}
