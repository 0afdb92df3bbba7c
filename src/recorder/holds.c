/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A lock that is released in another order than it was taken is left out of a
 * new list of those that were taken after it.
 */
#include "recorder/holds.h"

#include "recorder/locks.h"

void holds_init(struct holds *holds)
{
	records_init(&holds->all, sizeof(struct hold));
	table_init(&holds->by_lock);
}

static bool equals(const struct hold *hold, const struct hold *wanted)
{
	return hold->outer == wanted->outer &&
	       hold->context == wanted->context &&
	       hold->lock.address == wanted->lock.address &&
	       hold->lock.kind == wanted->lock.kind &&
	       hold->lock.shared == wanted->lock.shared;
}

static uint32_t add(struct holds *holds, const struct hold *wanted)
{
	uint32_t hash =
		table_hash(wanted->lock.address * 2 + wanted->lock.shared,
			   (uint64_t)wanted->context << 32 | wanted->outer);
	uint32_t at = 0, id;

	while ((id = table_next(&holds->by_lock, hash, &at)) != 0) {
		if (equals(hold_at(holds, id), wanted))
			return id;
	}
	if (holds->all.count == HOLDS_MAX)
		return HOLDS_UNKNOWN;
	id = records_add(&holds->all);
	if (id == 0)
		return HOLDS_UNKNOWN;
	*hold_at(holds, id) = *wanted;
	table_add(&holds->by_lock, hash, id);
	return id;
}

static bool has(const struct holds *holds, uint32_t id, uint64_t address)
{
	for (; id != 0; id = hold_at(holds, id)->outer) {
		if (hold_at(holds, id)->lock.address == address)
			return true;
	}
	return false;
}

uint32_t holds_take(struct holds *holds, uint32_t id,
		    const struct trace_lock *lock, uint32_t context)
{
	struct hold hold = {
		.lock = *lock, .outer = id, .context = context, .depth = 1
	};

	if (id == HOLDS_UNKNOWN || has(holds, id, lock->address))
		return id;
	if (id != 0)
		hold.depth += hold_at(holds, id)->depth;
	return hold.depth > LOCKS_HELD_MAX ? id : add(holds, &hold);
}

uint32_t holds_release(struct holds *holds, uint32_t id, uint64_t address)
{
	uint32_t later[LOCKS_HELD_MAX], count = 0;

	if (id == HOLDS_UNKNOWN || !has(holds, id, address))
		return id;
	for (; hold_at(holds, id)->lock.address != address;
	     id = hold_at(holds, id)->outer)
		later[count++] = id;
	id = hold_at(holds, id)->outer;
	while (count > 0) {
		const struct hold *hold = hold_at(holds, later[--count]);
		struct trace_lock lock = hold->lock;

		id = holds_take(holds, id, &lock, hold->context);
	}
	return id;
}
