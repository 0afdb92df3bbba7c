/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What most accesses are: of a use that the granule has a slot of, or of memory
 * of one thread that has no room for another one. For these, counting is all that
 * is left to do, and they read no more than the granule and the slot. All of it
 * is inline: a recording spends most of its time here.
 */
#ifndef RECORDER_AGAIN_H
#define RECORDER_AGAIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "recorder/shadow.h"
#include "recorder/slots.h"
#include "recorder/table.h"
#include "recorder/uses.h"

/* An access to bytes of one granule, by a use. */
struct again {
	uint64_t address; /* of the granule */
	uint64_t sequence;
	uint16_t lockset;
	uint8_t mask;
	bool writes;
};

/*
 * A bit for each of the granule's tags that is the same: 8 * i + 7. Those from
 * granule->count on are not of a slot.
 */
static inline uint64_t granule_matching(const struct granule *granule,
					uint8_t tag)
{
	const uint64_t low = 0x7f7f7f7f7f7f7f7fu;
	uint64_t differ = granule->tags ^ tag * 0x0101010101010101u;

	return ~(((differ & low) + low) | differ | low);
}

static inline bool shadow_is_tight(const struct shadow *shadow)
{
	return shadow->used + (uint64_t)shadow->chunks_count *
				      sizeof(struct shadow_chunk) >
	       shadow->budget / 2;
}

/* Has a granule of one thread all the sites that it keeps? */
static inline bool granule_is_full(const struct granule *granule, bool writes)
{
	return granule->count >= SHADOW_OWN_MAX ||
	       (!writes && granule->reads >= SHADOW_OWN_READS_MAX);
}

/*
 * Where, with little memory left, a site that is new takes the place of another
 * one; UINT32_MAX: this time it does not. From 0.
 */
static inline uint32_t granule_exchange(const struct granule *granule,
					uint64_t address, uint64_t sequence)
{
	uint32_t hash = table_hash(address, sequence);

	return hash % 16 == 0 ? hash / 16 % granule->count : UINT32_MAX;
}

/* Whether the site is new for the granule, and is dropped. */
static inline bool again_is_dropped(const struct shadow *shadow,
				    const struct granule *granule,
				    const struct again *again)
{
	if (granule->shared || granule->count > SHADOW_TAGS)
		return false;
	if (granule_is_full(granule, again->writes))
		return true;
	return granule->count >= SHADOW_TIGHT_MAX && shadow_is_tight(shadow) &&
	       granule_exchange(granule, again->address, again->sequence) ==
		       UINT32_MAX;
}

/*
 * Whether the slot is of the use, and the locks that all its accesses had stay
 * what they are.
 */
static inline bool again_is_of(const struct again *again, const struct use *use,
			       const struct slot *slot)
{
	return slot->use == use->id &&
	       (slot->common == again->lockset || slot->common == 0);
}

static inline bool again_has_bytes(const struct again *again,
				   const struct slot *slot)
{
	return (again->mask & ~slot->mask) == 0;
}

/* Whether the use's memo is of that, and it was counted. */
static inline bool again_memo(struct shadow *shadow, const struct use *use,
			      const struct again *again)
{
	struct slot *slot = use->memo.slot;

	if (!memo_holds(&use->memo, again->address))
		return false;
	if (!slot) {
		shadow->dropped++;
		shadow->starved += use->memo.starved;
		return true;
	}
	if (!again_is_of(again, use, slot) || !again_has_bytes(again, slot))
		return false;
	slot_count(slot, again->sequence);
	return true;
}

/*
 * Fold the access as shadow_touch() does, where that is simple. False: nothing
 * was done.
 */
static inline bool shadow_again(struct shadow *shadow, struct use *use,
				const struct again *again)
{
	uint64_t number = again->address >> SHADOW_SHIFT, bits;
	uint32_t i;
	struct shadow_chunk *chunk = shadow->cache[number % SHADOW_CACHE];
	struct slot *slot = NULL;
	struct granule *granule;
	bool starved = false;

	if (!chunk || chunk->number != number)
		return false;
	granule = granule_at(chunk, again->address);
	if (granule->count == 0 ||
	    (!granule->shared && granule->owner != (uint16_t)use->thread))
		return false;
	bits = granule_matching(granule, use->tag);
	if (bits) {
		i = (uint32_t)__builtin_ctzll(bits) / 8;
		if (i >= granule->count)
			return false;
		slot = granule_slot(shadow, granule, i);
		if (!again_is_of(again, use, slot))
			return false;
		/* a granule of one thread has one slot for all bytes of a use */
		if (granule->shared && !again_has_bytes(again, slot))
			return false;
		slot->mask |= again->mask;
		slot_count(slot, again->sequence);
	} else if (again_is_dropped(shadow, granule, again)) {
		granule->written |= again->writes;
		starved = !granule_is_full(granule, again->writes);
		granule->crowded |= !starved;
		shadow->dropped++;
		shadow->starved += starved;
	} else {
		return false;
	}
	use->memo = (struct shadow_memo){ again->address, slot,
					  &chunk->generation, chunk->generation,
					  starved };
	return true;
}

#endif
