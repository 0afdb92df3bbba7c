/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Sets of addresses; see ranges.h.
 */
#include "image/ranges.h"

#include <stdlib.h>

#include "base/vec.h"

static int compare(const void *left, const void *right)
{
	const struct code_range *a = left;
	const struct code_range *b = right;

	return a->start < b->start ? -1 : a->start > b->start;
}

void ranges_unite(struct vec *ranges)
{
	size_t kept = 0;

	if (ranges->count)
		qsort(ranges->items, ranges->count, ranges->size, compare);
	for (size_t i = 0; i < ranges->count; i++) {
		const struct code_range range =
			*(struct code_range *)vec_at(ranges, i);
		struct code_range *last = kept ? vec_at(ranges, kept - 1)
					       : NULL;

		if (!last || range.start > last->end)
			*(struct code_range *)vec_at(ranges, kept++) = range;
		else if (range.end > last->end)
			last->end = range.end;
	}
	ranges->count = kept;
}

bool ranges_hold(const struct vec *ranges, uint64_t address)
{
	size_t low = 0;
	size_t high = ranges->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		const struct code_range *range = vec_at(ranges, middle);

		if (address < range->start)
			high = middle;
		else if (address >= range->end)
			low = middle + 1;
		else
			return true;
	}
	return false;
}

bool ranges_overlap(const struct vec *ranges, size_t *cursor, uint64_t start,
		    uint64_t end)
{
	const struct code_range *range;

	for (; *cursor < ranges->count; (*cursor)++) {
		range = vec_at(ranges, *cursor);
		if (range->end > start)
			return range->start < end;
	}
	return false;
}
