/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Sets of addresses as ranges, in a vec of struct code_range. Private to
 * src/image.
 */
#ifndef IMAGE_RANGES_H
#define IMAGE_RANGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct vec;

/* [start, end) */
struct code_range {
	uint64_t start;
	uint64_t end;
};

/* The same set, by start, in ranges that neither overlap nor touch. */
void ranges_unite(struct vec *ranges);

/* Of ranges that were united: does one hold the address? */
bool ranges_hold(const struct vec *ranges, uint64_t address);

/*
 * Does one of the united ranges, to which later ones may be appended, overlap
 * [start, end)? *cursor is 0 at first, and start must not decrease from call to
 * call. All calls together take time proportional to the number of ranges.
 */
bool ranges_overlap(const struct vec *ranges, size_t *cursor, uint64_t start,
		    uint64_t end);

#endif
