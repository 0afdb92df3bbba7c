/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Chunks of 64 KiB of memory are found by a direct-mapped cache and a hash
 * table behind it. A granule's slots are a list with the first use first, so
 * that an access in a loop compares once.
 *
 * Arrays need the most memory, and their granules are accessed by the same
 * sites. When more than half of the budget is used, a granule of one thread
 * keeps SHADOW_TIGHT_MAX slots, and each granule of an array drops other sites:
 * one that is found to be shared shows some, and the array shows all.
 */
#include "recorder/shadow.h"

#include <stddef.h>

#include "hunt/trace-format.h"
#include "recorder/locks.h"
#include "recorder/os.h"
#include "recorder/uses.h"

enum { CHUNKS_ROOM_FIRST = 4096 };

void shadow_init(struct shadow *shadow, uint64_t budget)
{
	table_init(&shadow->by_number);
	records_init(&shadow->slots, sizeof(struct slot));
	shadow->chunks_room = CHUNKS_ROOM_FIRST;
	shadow->chunks = os_map(CHUNKS_ROOM_FIRST * sizeof(void *));
	shadow->chunks_count = 0;
	for (uint32_t i = 0; i < SHADOW_CACHE; i++)
		shadow->cache[i] = NULL;
	shadow->unused = 0;
	shadow->used = 0;
	shadow->budget = budget;
	shadow->granules = 0;
	shadow->shared = 0;
	shadow->dropped = 0;
}

void shadow_reset(struct shadow *shadow)
{
	for (uint32_t i = 0; i < shadow->chunks_count; i++)
		os_unmap(shadow->chunks[i], sizeof(struct shadow_chunk));
	os_unmap(shadow->chunks, shadow->chunks_room * sizeof(void *));
	table_deinit(&shadow->by_number);
	records_deinit(&shadow->slots);
	shadow_init(shadow, shadow->budget);
}

uint64_t shadow_bytes(const struct shadow *shadow)
{
	return (uint64_t)shadow->chunks_count * sizeof(struct shadow_chunk) +
	       records_bytes(&shadow->slots);
}

static struct shadow_chunk *find_chunk(struct shadow *shadow, uint64_t number)
{
	uint32_t hash = table_hash(number, 4), at = 0, id;

	while ((id = table_next(&shadow->by_number, hash, &at)) != 0) {
		if (shadow->chunks[id - 1]->number == number)
			return shadow->chunks[id - 1];
	}
	return NULL;
}

static void make_room(struct shadow *shadow)
{
	uint32_t room = shadow->chunks_room * 2;
	struct shadow_chunk **chunks = os_map(room * sizeof(void *));

	os_copy(chunks, shadow->chunks, shadow->chunks_count * sizeof(void *));
	os_unmap(shadow->chunks, shadow->chunks_room * sizeof(void *));
	shadow->chunks = chunks;
	shadow->chunks_room = room;
}

static struct shadow_chunk *add_chunk(struct shadow *shadow, uint64_t number)
{
	struct shadow_chunk *chunk;

	if (shadow_bytes(shadow) + sizeof(*chunk) > shadow->budget)
		return NULL;
	if (shadow->chunks_count == shadow->chunks_room)
		make_room(shadow);
	chunk = os_map(sizeof(*chunk));
	chunk->number = number;
	shadow->chunks[shadow->chunks_count++] = chunk;
	table_add(&shadow->by_number, table_hash(number, 4),
		  shadow->chunks_count);
	return chunk;
}

struct shadow_chunk *shadow_find(struct shadow *shadow, uint64_t address)
{
	uint64_t number = address >> SHADOW_SHIFT;
	struct shadow_chunk *chunk = shadow->cache[number % SHADOW_CACHE];

	if (chunk && chunk->number == number)
		return chunk;
	chunk = find_chunk(shadow, number);
	if (chunk)
		shadow->cache[number % SHADOW_CACHE] = chunk;
	return chunk;
}

static uint32_t take_slot(struct shadow *shadow)
{
	uint32_t id = shadow->unused;

	if (id != 0) {
		shadow->unused = slot_at(shadow, id)->next;
		shadow->used++;
		return id;
	}
	if (shadow->slots.count % RECORDS_CHUNK == 0 &&
	    shadow_bytes(shadow) + RECORDS_CHUNK * sizeof(struct slot) >
		    shadow->budget)
		return 0;
	id = records_add(&shadow->slots);
	shadow->used += id != 0;
	return id;
}

static void fill_slot(struct slot *slot, const struct touch *touch)
{
	uint32_t next = slot->next;

	*slot = (struct slot){
		.next = next,
		.use = touch->use,
		.ordinal = touch->ordinal,
		.count = 1,
		.first = touch->sequence,
		.lockset = touch->lockset,
		.last = (uint32_t)(touch->sequence / 256),
		.mask = touch->mask,
		.first_mask = touch->mask,
		.common = touch->lockset,
	};
	os_copy(&slot->value, (const void *)(uintptr_t)touch->address,
		sizeof(slot->value));
}

/* How the granule's slots are used, as the limits ask. */
struct census {
	uint32_t thread, reads, site; /* slots of the touch's */
	struct slot *of_thread; /* one to give up */
	struct slot *end; /* the last one */
};

static struct census take_census(const struct shadow *shadow,
				 const struct granule *granule,
				 const struct touch *touch,
				 const struct uses *uses)
{
	uint32_t hash = table_hash(touch->address, touch->use);
	struct census census = { 0 };

	for (uint32_t id = granule->slots; id != 0;) {
		struct slot *slot = slot_at(shadow, id);
		const struct use *use = use_at(uses, slot->use);

		census.end = slot;
		if (use->thread == touch->thread) {
			if (hash % ++census.thread == 0)
				census.of_thread = slot;
			census.reads += !(site_at(uses, use->site)->flags &
					  TRACE_WRITES);
			census.site += use->site == touch->site;
		}
		id = slot->next;
	}
	return census;
}

static bool is_tight(const struct shadow *shadow)
{
	return (uint64_t)shadow->used * sizeof(struct slot) +
		       (uint64_t)shadow->chunks_count *
			       sizeof(struct shadow_chunk) >
	       shadow->budget / 2;
}

static bool is_full(const struct granule *granule, const struct touch *touch,
		    const struct census *census)
{
	return granule->count >= SHADOW_SLOTS_MAX ||
	       census->thread >= SHADOW_THREAD_MAX ||
	       census->site >= SHADOW_SITE_MAX ||
	       (!touch->writes && census->reads >= SHADOW_READS_MAX);
}

/* So that later accesses of the owner need not be looked up. */
static void note_full(struct granule *granule, const struct touch *touch,
		      const struct census *census)
{
	bool all = census->thread >= SHADOW_THREAD_MAX ||
		   granule->count >= SHADOW_SLOTS_MAX;
	bool reads = all || census->reads >= SHADOW_READS_MAX;

	if (granule->owner == (uint16_t)touch->thread) {
		granule->full |= all;
		granule->full_reads |= reads;
	} else if (granule->other == (uint16_t)touch->thread) {
		granule->other_full |= all;
		granule->other_full_reads |= reads;
	}
}

/* Whether an access that has no slot yet will get none. */
static bool is_known_full(const struct granule *granule,
			  const struct touch *touch)
{
	if (granule->owner == (uint16_t)touch->thread)
		return touch->writes ? granule->full : granule->full_reads;
	if (granule->other == (uint16_t)touch->thread)
		return touch->writes ? granule->other_full
				     : granule->other_full_reads;
	return false;
}

static struct slot *drop(struct shadow *shadow)
{
	shadow->dropped++;
	return NULL;
}

/*
 * The access is the first one of its use, or of those bytes: its slot, or NULL
 * without room.
 */
static struct slot *add_slot(struct shadow *shadow, struct granule *granule,
			     const struct touch *touch, const struct uses *uses)
{
	struct census census = take_census(shadow, granule, touch, uses);
	uint32_t id;

	if (is_full(granule, touch, &census)) {
		note_full(granule, touch, &census);
		return drop(shadow);
	}
	if (!granule->shared && census.thread >= SHADOW_TIGHT_MAX &&
	    is_tight(shadow)) {
		fill_slot(census.of_thread, touch);
		drop(shadow);
		return NULL;
	}
	id = take_slot(shadow);
	if (id == 0)
		return drop(shadow);
	slot_at(shadow, id)->next = 0;
	fill_slot(slot_at(shadow, id), touch);
	if (census.end)
		census.end->next = id;
	else
		granule->slots = id;
	granule->count++;
	return slot_at(shadow, id);
}

static struct slot *count_touch(struct slot *slot, const struct touch *touch,
				struct locksets *locksets)
{
	slot_count(slot, touch->sequence);
	if (slot->common != touch->lockset)
		slot->common =
			locksets_common(locksets, slot->common, touch->lockset);
	return slot;
}

static void note_thread(struct shadow *shadow, struct granule *granule,
			const struct touch *touch)
{
	if (granule->slots == 0) {
		granule->owner = (uint16_t)touch->thread;
		shadow->granules++;
	} else if (!granule->shared &&
		   granule->owner != (uint16_t)touch->thread) {
		granule->shared = true;
		granule->other = (uint16_t)touch->thread;
		shadow->shared++;
	}
	granule->written |= touch->writes;
}

static struct slot *fold(struct shadow *shadow, struct granule *granule,
			 const struct touch *touch, const struct uses *uses,
			 struct locksets *locksets)
{
	struct slot *wider = NULL;

	if (is_known_full(granule, touch))
		return drop(shadow);
	for (uint32_t id = granule->slots; id != 0;) {
		struct slot *slot = slot_at(shadow, id);

		if (slot->use == touch->use) {
			if ((touch->mask & ~slot->mask) == 0)
				return count_touch(slot, touch, locksets);
			wider = slot;
		}
		id = slot->next;
	}
	if (wider && !granule->shared) {
		wider->mask |= touch->mask;
		return count_touch(wider, touch, locksets);
	}
	return add_slot(shadow, granule, touch, uses);
}

void shadow_touch(struct shadow *shadow, const struct touch *touch,
		  const struct uses *uses, struct locksets *locksets,
		  struct shadow_memo *memo)
{
	struct shadow_chunk *chunk = shadow_find(shadow, touch->address);
	struct granule *granule;

	if (!chunk)
		chunk = add_chunk(shadow, touch->address >> SHADOW_SHIFT);
	if (!chunk) {
		drop(shadow);
		return;
	}
	granule = granule_at(chunk, touch->address);
	note_thread(shadow, granule, touch);
	memo->address = touch->address;
	memo->slot = fold(shadow, granule, touch, uses, locksets);
	memo->generation = &chunk->generation;
	memo->seen = chunk->generation;
}

void shadow_clear(struct shadow *shadow, struct shadow_chunk *chunk,
		  uint64_t address)
{
	struct granule *granule = granule_at(chunk, address);

	chunk->generation++;
	while (granule->slots != 0) {
		uint32_t id = granule->slots;
		struct slot *slot = slot_at(shadow, id);

		granule->slots = slot->next;
		slot->next = shadow->unused;
		shadow->unused = id;
		shadow->used--;
	}
	*granule = (struct granule){ 0 };
}
