/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Memory shared between processes; see sharing.h.
 */
#include "tracee/sharing.h"

#include <string.h>

#include "tracee/breakpoint.h"
#include "wire/message.h"

/* Of what is shared, as much may be at several addresses. */
enum { SHARING_APART_PART = 8 };

bool sharing_set(struct addrspace *space, const struct wire_shared *ranges,
		 size_t count)
{
	vec_clear(&space->shared);
	for (size_t i = 0; i < count; i++) {
		if (!vec_push(&space->shared, &ranges[i]))
			return false;
	}
	return true;
}

bool sharing_inherit(struct addrspace *child, const struct addrspace *parent)
{
	return sharing_set(child, parent->shared.items, parent->shared.count);
}

bool sharing_place(const struct addrspace *space, uint64_t address,
		   uint32_t size, struct shared_place *ret)
{
	size_t low = 0, high = space->shared.count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		const struct wire_shared *range =
			vec_at(&space->shared, middle);

		if (address >= range->end) {
			low = middle + 1;
		} else if (address < range->start) {
			high = middle;
		} else {
			ret->device = range->device;
			ret->inode = range->inode;
			ret->offset = range->offset + (address - range->start);
			return range->end - address >= size;
		}
	}
	return false;
}

bool sharing_address(const struct addrspace *space,
		     const struct shared_place *place, uint32_t size,
		     uint64_t *ret)
{
	for (size_t i = 0; i < space->shared.count; i++) {
		const struct wire_shared *range = vec_at(&space->shared, i);
		uint64_t length = range->end - range->start;
		uint64_t at = place->offset - range->offset;

		if (range->inode != place->inode ||
		    range->device != place->device ||
		    place->offset < range->offset || at >= length ||
		    length - at < size)
			continue;
		*ret = range->start + at;
		return true;
	}
	return false;
}

/*
 * Is what begins in a range of the space at the same address in the other, but for
 * a small part of all that it shares?
 */
static bool sharing_fits(const struct addrspace *space,
			 const struct addrspace *other)
{
	uint64_t all = 0, apart = 0;

	for (size_t i = 0; i < space->shared.count; i++) {
		const struct wire_shared *range = vec_at(&space->shared, i);
		const struct shared_place place = { range->device, range->inode,
						    range->offset };
		uint64_t address;

		all += range->end - range->start;
		if (sharing_address(other, &place, 1, &address) &&
		    address != range->start)
			apart += range->end - range->start;
	}
	return apart <= all / SHARING_APART_PART;
}

bool sharing_is_alike(const struct addrspace *space,
		      const struct addrspace *other)
{
	/* where two ranges overlap, one begins in the other */
	return space == other ||
	       (sharing_fits(space, other) && sharing_fits(other, space));
}

bool sharing_translate(const struct addrspace *space, uint64_t address,
		       uint32_t size, const struct addrspace *other,
		       uint64_t *ret)
{
	struct shared_place place;

	if (space == other) {
		*ret = address;
		return true;
	}
	return sharing_place(space, address, size, &place) &&
	       sharing_address(other, &place, size, ret);
}
