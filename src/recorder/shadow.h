/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Which accesses each granule of memory (8 bytes) has had, folded: the first
 * access of each use is kept in a slot, later ones are counted there. Slots of
 * a granule are limited, in all, for each thread, and for each site of a
 * thread, so that no thread and no site hides another one.
 */
#ifndef RECORDER_SHADOW_H
#define RECORDER_SHADOW_H

#include <stdbool.h>
#include <stdint.h>

#include "recorder/table.h"

struct locksets;
struct uses;

enum {
	SHADOW_SHIFT = 16, /* of the memory that a chunk has the granules of */
	SHADOW_GRANULES = 1 << (SHADOW_SHIFT - 3),
	SHADOW_CACHE = 4096,
	/* slots of a granule */
	SHADOW_SLOTS_MAX = 32, /* in all */
	SHADOW_THREAD_MAX = 8, /* of a thread */
	SHADOW_READS_MAX = 5, /* of a thread, that only read */
	SHADOW_SITE_MAX = 2, /* of a site, in a thread */
	SHADOW_TIGHT_MAX = 2, /* of a thread, with little memory left */
};

struct slot {
	uint32_t next; /* of the granule */
	uint32_t use;
	uint32_t ordinal, count; /* as trace_cell's */
	uint64_t first : 48;
	uint64_t lockset : 16;
	uint64_t value;
	uint32_t last; /* sequence number / 256 */
	uint8_t mask, first_mask;
	uint16_t common; /* lockset */
};

struct granule {
	uint32_t slots; /* a list; 0: never accessed */
	uint16_t owner; /* the first thread's number, cut off */
	uint16_t other; /* the second one's, if shared */
	uint8_t count; /* of slots */
	bool shared : 1; /* by two threads or more */
	bool written : 1;
	bool full : 1; /* of slots of the owner */
	bool full_reads : 1; /* of those that only read */
	bool other_full : 1, other_full_reads : 1;
};

struct shadow_chunk {
	uint64_t number; /* address >> SHADOW_SHIFT */
	uint64_t generation; /* counts granules that were cleared */
	struct granule granules[SHADOW_GRANULES];
};

struct shadow {
	struct table by_number;
	struct shadow_chunk **chunks; /* ids are from 1 */
	uint32_t chunks_count, chunks_room;
	struct shadow_chunk *cache[SHADOW_CACHE];
	struct records slots;
	uint32_t unused; /* a list of slots */
	uint32_t used;
	uint64_t budget; /* bytes for chunks and slots */
	uint64_t granules, shared; /* as trace_end's; ever */
	uint64_t dropped;
};

/* Where a use accessed memory last: it often does so again. */
struct shadow_memo {
	uint64_t address; /* of the granule */
	struct slot *slot; /* NULL: there was no room */
	const uint64_t *generation; /* of the chunk; NULL: no memo */
	uint64_t seen; /* its value then */
};

/* An access to bytes of one granule. */
struct touch {
	uint64_t address; /* of the granule */
	uint64_t sequence;
	uint32_t use, site, thread, ordinal;
	uint16_t lockset;
	uint8_t mask;
	bool writes;
};

void shadow_init(struct shadow *shadow, uint64_t budget);
/* Forget all, but keep the budget: of a child process. */
void shadow_reset(struct shadow *shadow);

/* The chunk that has the address; NULL: no access was recorded there. */
struct shadow_chunk *shadow_find(struct shadow *shadow, uint64_t address);

static inline struct granule *granule_at(struct shadow_chunk *chunk,
					 uint64_t address)
{
	return &chunk->granules[address / 8 % SHADOW_GRANULES];
}

static inline struct slot *slot_at(const struct shadow *shadow, uint32_t id)
{
	return records_at(&shadow->slots, id);
}

/*
 * Fold an access into its granule, and remember that in *memo. The memory has
 * to be readable: the value of a new slot is read from it.
 */
void shadow_touch(struct shadow *shadow, const struct touch *touch,
		  const struct uses *uses, struct locksets *locksets,
		  struct shadow_memo *memo);

/* Count an access of its use in a slot that has its bytes already. */
static inline void slot_count(struct slot *slot, uint64_t sequence)
{
	slot->count += slot->count != UINT32_MAX;
	slot->last = (uint32_t)(sequence / 256);
}

/* Whether the memo is of that granule, as it is now. */
static inline bool memo_holds(const struct shadow_memo *memo, uint64_t address)
{
	return memo->address == address && memo->generation &&
	       *memo->generation == memo->seen;
}

/*
 * Free the slots of the granule of an address: what is there now is another
 * variable.
 */
void shadow_clear(struct shadow *shadow, struct shadow_chunk *chunk,
		  uint64_t address);

uint64_t shadow_bytes(const struct shadow *shadow);

#endif
