/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Chunks of 64 KiB of memory are found by a direct-mapped cache and a hash
 * table behind it. A granule's first two slots are side by side, and those behind
 * them. They are rarely in the processor's cache: the granule has tags, which tell
 * that a use has no slot, or in which one to look.
 *
 * Arrays need the most memory, and their granules are accessed by the same
 * sites. When more than half of the budget is used, a granule of one thread
 * keeps SHADOW_TIGHT_MAX slots, and each granule of an array drops other sites:
 * one that is found to be shared shows some, and the array shows all. When all
 * of it is used, granules of one thread are forgotten, in turn.
 */
#include "recorder/shadow.h"

#include <stddef.h>

#include "hunt/trace-format.h"
#include "recorder/again.h"
#include "recorder/locks.h"
#include "recorder/os.h"
#include "recorder/slots.h"
#include "recorder/uses.h"

enum { CHUNKS_ROOM_FIRST = 4096 };

_Static_assert(sizeof(struct granule) == 16, "none is in two lines of a cache");
_Static_assert(offsetof(struct shadow_chunk, granules) == 64, "likewise");

void shadow_init(struct shadow *shadow, uint64_t budget)
{
	table_init(&shadow->by_number);
	records_init(&shadow->few, sizeof(struct row_few));
	records_init(&shadow->many, sizeof(struct row_many));
	shadow->chunks_room = CHUNKS_ROOM_FIRST;
	shadow->chunks = os_map(CHUNKS_ROOM_FIRST * sizeof(void *));
	shadow->chunks_count = 0;
	for (uint32_t i = 0; i < SHADOW_CACHE; i++)
		shadow->cache[i] = NULL;
	shadow->unused_few = 0;
	shadow->unused_many = 0;
	shadow->used = 0;
	shadow->budget = budget;
	shadow->granules = 0;
	shadow->shared = 0;
	shadow->dropped = 0;
	shadow->starved = 0;
	shadow->hand_chunk = 0;
	shadow->hand_granule = 0;
	shadow->pause = 0;
	shadow->chunk_pause = 0;
}

void shadow_deinit(struct shadow *shadow)
{
	for (uint32_t i = 0; i < shadow->chunks_count; i++)
		os_unmap(shadow->chunks[i], sizeof(struct shadow_chunk));
	os_unmap(shadow->chunks, shadow->chunks_room * sizeof(void *));
	table_deinit(&shadow->by_number);
	records_deinit(&shadow->few);
	records_deinit(&shadow->many);
}

void shadow_reset(struct shadow *shadow)
{
	shadow_deinit(shadow);
	shadow_init(shadow, shadow->budget);
}

uint64_t shadow_bytes(const struct shadow *shadow)
{
	return (uint64_t)shadow->chunks_count * sizeof(struct shadow_chunk) +
	       records_bytes(&shadow->few) + records_bytes(&shadow->many);
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

static struct shadow_chunk *new_chunk(struct shadow *shadow, uint64_t number)
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

/* The chunk that no thread shares, from the hand on: its id; 0: none. */
static uint32_t find_private(struct shadow *shadow)
{
	if (shadow->chunk_pause > 0) {
		shadow->chunk_pause--;
		return 0;
	}
	for (uint32_t i = 1; i <= shadow->chunks_count; i++) {
		uint32_t at = (shadow->hand_chunk + i) % shadow->chunks_count;

		if (shadow->chunks[at]->shared == 0) {
			shadow->hand_chunk = at;
			return at + 1;
		}
	}
	shadow->chunk_pause = SHADOW_PAUSE;
	return 0;
}

/* Forget a chunk of private memory, for one with another number. */
static struct shadow_chunk *reuse_chunk(struct shadow *shadow, uint64_t number)
{
	uint32_t id = find_private(shadow);
	struct shadow_chunk *chunk;

	if (id == 0)
		return NULL;
	chunk = shadow->chunks[id - 1];
	for (uint64_t i = 0; i < SHADOW_GRANULES; i++) {
		if (chunk->granules[i].count != 0)
			shadow_clear(shadow, chunk, i * 8);
	}
	table_remove(&shadow->by_number, table_hash(chunk->number, 4), id);
	chunk->number = number;
	table_add(&shadow->by_number, table_hash(number, 4), id);
	return chunk;
}

static struct shadow_chunk *add_chunk(struct shadow *shadow, uint64_t number)
{
	struct shadow_chunk *chunk = new_chunk(shadow, number);

	return chunk ? chunk : reuse_chunk(shadow, number);
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

static void advance_hand(struct shadow *shadow)
{
	if (++shadow->hand_granule < SHADOW_GRANULES)
		return;
	shadow->hand_granule = 0;
	if (++shadow->hand_chunk >= shadow->chunks_count)
		shadow->hand_chunk = 0;
}

/*
 * Forget granules of one thread that have many slots, or few, but not `kept',
 * until a row of these is unused.
 */
static void forget_granules(struct shadow *shadow, const struct granule *kept,
			    bool many)
{
	const uint32_t *unused = many ? &shadow->unused_many
				      : &shadow->unused_few;

	if (shadow->pause > 0) {
		shadow->pause--;
		return;
	}
	for (uint32_t i = 0; i < SHADOW_LOOKS_MAX && !*unused; i++) {
		struct shadow_chunk *chunk = shadow->chunks[shadow->hand_chunk];
		uint32_t at = shadow->hand_granule;
		const struct granule *granule = &chunk->granules[at];

		if (!granule->shared && granule != kept &&
		    granule->count > (many ? SHADOW_FEW : 0))
			shadow_clear(shadow, chunk, (uint64_t)at * 8);
		advance_hand(shadow);
	}
	if (!*unused)
		shadow->pause = SHADOW_PAUSE;
}

/*
 * Rows leave room for chunks: they are never unmapped, so that memory which is
 * accessed first later would have no chunk. Where all granules of chunks are
 * accessed, these take as much as SHADOW_CHUNKS_PART leaves them.
 */
static uint32_t new_row(struct shadow *shadow, struct records *rows)
{
	uint64_t more = (uint64_t)RECORDS_CHUNK * rows->size;
	uint64_t most = shadow->budget - shadow->budget / SHADOW_CHUNKS_PART;

	if (rows->count % RECORDS_CHUNK == 0 &&
	    (shadow_bytes(shadow) + more > shadow->budget ||
	     records_bytes(&shadow->few) + records_bytes(&shadow->many) + more >
		     most))
		return 0;
	return records_add(rows);
}

static uint32_t take_few(struct shadow *shadow, const struct granule *granule)
{
	uint32_t id = shadow->unused_few ? 0 : new_row(shadow, &shadow->few);
	struct row_few *row;

	if (id == 0) {
		if (!shadow->unused_few)
			forget_granules(shadow, granule, false);
		id = shadow->unused_few;
		if (id == 0)
			return 0;
		row = few_at(shadow, id);
		shadow->unused_few = row->next;
		row->many = 0;
	}
	shadow->used += sizeof(*row);
	return id;
}

static uint32_t take_many(struct shadow *shadow, const struct granule *granule)
{
	uint32_t id = shadow->unused_many ? 0 : new_row(shadow, &shadow->many);
	struct row_many *row;

	if (id == 0) {
		if (!shadow->unused_many)
			forget_granules(shadow, granule, true);
		id = shadow->unused_many;
		if (id == 0)
			return 0;
		row = many_at(shadow, id);
		shadow->unused_many = row->next;
		row->next = 0;
	}
	shadow->used += sizeof(*row);
	return id;
}

/* Make room for one more slot; false: there is none. */
static bool grow(struct shadow *shadow, struct granule *granule)
{
	uint32_t i = granule->count, *end;

	if (i > 0 && (i < SHADOW_FEW || (i - SHADOW_FEW) % SHADOW_MANY != 0))
		return true;
	if (i == 0) {
		granule->few = take_few(shadow, granule);
		return granule->few != 0;
	}
	end = &few_at(shadow, granule->few)->many;
	while (*end != 0)
		end = &many_at(shadow, *end)->next;
	*end = take_many(shadow, granule);
	return *end != 0;
}

void slot_fill(struct slot *slot, const struct touch *touch)
{
	*slot = (struct slot){
		.use = touch->use,
		.ordinal = touch->ordinal,
		.count = 1,
		.first = touch->sequence,
		.lockset = touch->lockset,
		.last = (uint32_t)(touch->sequence / 256),
		.mask = touch->mask,
		.first_mask = touch->mask,
		.common = touch->lockset,
		.held = touch->held,
	};
	os_copy(&slot->value, (const void *)(uintptr_t)touch->copy,
		sizeof(slot->value));
}

void slot_repeat(struct slot *slot, const struct touch *touch,
		 struct locksets *locksets)
{
	slot_count(slot, touch->sequence);
	if (slot->common != touch->lockset)
		slot->common =
			locksets_common(locksets, slot->common, touch->lockset);
}

/* The slots of a granule that the touch's site has in its thread. */
struct known {
	struct slot *found; /* of its use, with its bytes */
	struct slot *other; /* of its use, with other bytes only */
	uint32_t count;
	uint8_t covered; /* bytes of any of them */
};

static void look_at(struct slot *slot, const struct touch *touch,
		    const struct uses *uses, struct known *known)
{
	if (slot->use == touch->use) {
		if ((touch->mask & ~slot->mask) == 0)
			known->found = slot;
		else
			known->other = slot;
	} else {
		const struct use *use = use_at(uses, slot->use);

		if (use->site != touch->site || use->thread != touch->thread)
			return;
	}
	known->count++;
	known->covered |= slot->mask;
}

static struct known find_known(const struct shadow *shadow,
			       const struct granule *granule,
			       const struct touch *touch,
			       const struct uses *uses)
{
	struct known known = { 0 };
	uint64_t bits =
		granule_matching(granule, use_at(uses, touch->use)->tag);

	for (; bits && !known.found; bits &= bits - 1) {
		uint32_t i = (uint32_t)__builtin_ctzll(bits) / 8;

		if (i < granule->count)
			look_at(granule_slot(shadow, granule, i), touch, uses,
				&known);
	}
	for (uint32_t i = SHADOW_TAGS; i < granule->count && !known.found; i++)
		look_at(granule_slot(shadow, granule, i), touch, uses, &known);
	return known;
}

static void set_tag(struct granule *granule, uint32_t i, uint8_t tag)
{
	if (i >= SHADOW_TAGS)
		return;
	granule->tags &= ~((uint64_t)0xff << 8 * i);
	granule->tags |= (uint64_t)tag << 8 * i;
}

static struct slot *drop(struct shadow *shadow)
{
	shadow->dropped++;
	return NULL;
}

static struct slot *starve(struct shadow *shadow)
{
	shadow->starved++;
	return drop(shadow);
}

static bool is_full(const struct granule *granule, const struct touch *touch,
		    const struct known *known)
{
	if (known->count >= SHADOW_SITE_MAX)
		return true;
	if (granule->shared)
		return granule->count >=
		       (known->count ? SHADOW_STACKS_MAX : SHADOW_SLOTS_MAX);
	return granule_is_full(granule, touch->writes);
}

/*
 * Does an access without a slot hide an instruction of its thread, or bytes of one?
 * Where the instruction has slots for those bytes, it hides a stack; in a string
 * function, that is whose access it is.
 */
static bool is_hidden(const struct touch *touch, const struct uses *uses,
		      const struct known *known)
{
	return known->count == 0 || (touch->mask & ~known->covered) ||
	       site_at(uses, touch->site)->function != 0;
}

static bool only_reads(const struct uses *uses, uint32_t use)
{
	const struct site *site = site_at(uses, use_at(uses, use)->site);

	return !(site->flags & TRACE_WRITES);
}

/* Put the touch, now and then, in the place of another one of its thread. */
static struct slot *exchange(struct shadow *shadow, struct granule *granule,
			     const struct touch *touch, const struct uses *uses)
{
	uint32_t place =
		granule_exchange(granule, touch->address, touch->sequence);
	struct slot *slot;

	starve(shadow);
	if (place == UINT32_MAX)
		return NULL;
	slot = granule_slot(shadow, granule, place);
	granule->reads -= only_reads(uses, slot->use);
	granule->reads += !touch->writes;
	set_tag(granule, place, use_at(uses, touch->use)->tag);
	slot_fill(slot, touch);
	return slot;
}

static struct slot *append(struct shadow *shadow, struct granule *granule,
			   const struct touch *touch, const struct uses *uses)
{
	struct slot *slot;

	if (!grow(shadow, granule))
		return starve(shadow);
	slot = granule_slot(shadow, granule, granule->count);
	slot_fill(slot, touch);
	set_tag(granule, granule->count, use_at(uses, touch->use)->tag);
	granule->count++;
	if (!granule->shared)
		granule->reads += !touch->writes;
	return slot;
}

/*
 * The access is the first one of its use, or of those bytes: its slot, or NULL
 * without room.
 */
static struct slot *add_slot(struct shadow *shadow, struct granule *granule,
			     const struct touch *touch, const struct uses *uses,
			     const struct known *known)
{
	if (is_full(granule, touch, known)) {
		granule->crowded |= is_hidden(touch, uses, known);
		return drop(shadow);
	}
	if (!granule->shared && granule->count >= SHADOW_TIGHT_MAX &&
	    shadow_is_tight(shadow))
		return exchange(shadow, granule, touch, uses);
	return append(shadow, granule, touch, uses);
}

static void note_thread(struct shadow *shadow, struct shadow_chunk *chunk,
			struct granule *granule, const struct touch *touch)
{
	if (granule->count == 0) {
		granule->owner = (uint16_t)touch->thread;
		shadow->granules++;
	} else if (!granule->shared &&
		   granule->owner != (uint16_t)touch->thread) {
		granule->shared = true;
		chunk->shared++;
		chunk->generation++; /* what was dropped is not any more */
		shadow->shared++;
	}
	granule->written |= touch->writes;
}

static struct slot *fold(struct shadow *shadow, struct granule *granule,
			 const struct touch *touch, const struct uses *uses,
			 struct locksets *locksets)
{
	struct known known = find_known(shadow, granule, touch, uses);

	/* where there is no slot for its bytes apart, the pair counts */
	if (!known.found && known.other &&
	    (!granule->shared || known.count >= SHADOW_SITE_MAX)) {
		known.other->mask |= touch->mask;
		known.found = known.other;
	}
	if (!known.found)
		return add_slot(shadow, granule, touch, uses, &known);
	slot_repeat(known.found, touch, locksets);
	return known.found;
}

void shadow_touch(struct shadow *shadow, const struct touch *touch,
		  const struct uses *uses, struct locksets *locksets,
		  struct shadow_memo *memo)
{
	struct shadow_chunk *chunk = shadow_find(shadow, touch->address);
	uint64_t starved = shadow->starved;
	struct granule *granule;

	if (!chunk)
		chunk = add_chunk(shadow, touch->address >> SHADOW_SHIFT);
	if (!chunk) {
		starve(shadow);
		return;
	}
	granule = granule_at(chunk, touch->address);
	note_thread(shadow, chunk, granule, touch);
	memo->address = touch->address;
	memo->slot = fold(shadow, granule, touch, uses, locksets);
	memo->generation = &chunk->generation;
	memo->seen = chunk->generation;
	memo->starved = shadow->starved != starved;
}

static void free_rows(struct shadow *shadow, uint32_t few)
{
	struct row_few *first = few_at(shadow, few);

	while (first->many != 0) {
		uint32_t id = first->many;
		struct row_many *row = many_at(shadow, id);

		first->many = row->next;
		row->next = shadow->unused_many;
		shadow->unused_many = id;
		shadow->used -= sizeof(*row);
	}
	first->next = shadow->unused_few;
	shadow->unused_few = few;
	shadow->used -= sizeof(*first);
}

void shadow_clear(struct shadow *shadow, struct shadow_chunk *chunk,
		  uint64_t address)
{
	struct granule *granule = granule_at(chunk, address);

	chunk->generation++;
	chunk->shared -= granule->shared;
	if (granule->few != 0)
		free_rows(shadow, granule->few);
	*granule = (struct granule){ 0 };
}
