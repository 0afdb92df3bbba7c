/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Which accesses each granule of memory (8 bytes) has had, folded: the first
 * access of each use is kept in a slot, later ones are counted there.
 *
 * Slots of a granule are limited, so that no thread and no site hides another
 * one. Those of a site in a thread are a few. A granule of one thread keeps a
 * few sites. In one of several threads, a site that is new for its thread comes
 * before other stacks of a known one. Without memory for it, a granule of one
 * thread is forgotten.
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
	SHADOW_TAGS = 8,
	SHADOW_FEW = 2, /* slots of a row of few */
	SHADOW_MANY = 6, /* and of many */
	/* slots of a granule */
	SHADOW_SLOTS_MAX = 240, /* in all */
	SHADOW_STACKS_MAX = 32, /* up to which a known site gets another */
	SHADOW_SITE_MAX = 2, /* of a site, in a thread */
	/* of one that a single thread accessed */
	SHADOW_OWN_MAX = 8,
	SHADOW_OWN_READS_MAX = 5, /* that only read */
	SHADOW_TIGHT_MAX = 2, /* in all, with little memory left */
	SHADOW_CHUNKS_PART = 4, /* the budget by what rows leave of it */
	/* granules in which one search looks for something to forget */
	SHADOW_LOOKS_MAX = 4 * SHADOW_GRANULES,
	/* searches that are left out after one that found nothing */
	SHADOW_PAUSE = 16 * SHADOW_LOOKS_MAX,
};

struct slot {
	/* one more access needs only these, side by side */
	uint32_t use;
	uint32_t count; /* as trace_cell's */
	uint32_t last; /* sequence number / 256 */
	uint8_t mask, first_mask;
	uint16_t common; /* lockset */
	/* of the first one */
	uint64_t first : 48;
	uint64_t lockset : 16;
	uint64_t value;
	uint32_t ordinal; /* as trace_cell's */
	uint32_t held; /* recorder/holds.h */
};

/* Slots side by side. */
struct row_few {
	struct slot slots[SHADOW_FEW];
	uint32_t many; /* rows: a list of more slots of the granule */
	uint32_t next; /* that is unused */
};

struct row_many {
	struct slot slots[SHADOW_MANY];
	uint32_t next; /* of the granule; or that is unused */
};

/* Four have a line of the processor's cache. */
struct granule {
	uint32_t few; /* the row of the first slots */
	uint16_t owner; /* the first thread's number, cut off */
	uint8_t count; /* of slots; 0: never accessed, or forgotten */
	uint8_t reads : 5; /* of these, that only read, before it was shared */
	bool shared : 1; /* by two threads or more */
	bool written : 1;
	bool crowded : 1; /* an instruction has had no slot */
	/* of the first slots, by use.tag: few slots are read */
	uint64_t tags;
};

struct shadow_chunk {
	uint64_t number; /* address >> SHADOW_SHIFT */
	uint64_t generation; /* counts granules that were cleared, or shared */
	uint64_t shared; /* of its granules */
	uint64_t unused[5]; /* of the first line of the processor's cache */
	struct granule granules[SHADOW_GRANULES];
};

struct shadow {
	struct table by_number;
	struct shadow_chunk **chunks; /* ids are from 1 */
	uint32_t chunks_count, chunks_room;
	struct shadow_chunk *cache[SHADOW_CACHE];
	struct records few, many; /* rows */
	uint32_t unused_few, unused_many; /* lists */
	uint64_t used; /* bytes of rows */
	uint64_t budget; /* bytes for chunks and slots */
	uint64_t granules, shared; /* as trace_end's; ever */
	uint64_t dropped; /* accesses without a slot */
	uint64_t starved; /* of them, those that more memory would keep */
	uint32_t hand_chunk, hand_granule; /* where to look for one to forget */
	uint32_t pause; /* times not to look for one */
	uint32_t chunk_pause;
};

/* Where a use accessed memory last: it often does so again. */
struct shadow_memo {
	uint64_t address; /* of the granule */
	struct slot *slot; /* NULL: there was no room */
	const uint64_t *generation; /* of the chunk; NULL: no memo */
	uint64_t seen : 63; /* its value then */
	uint64_t starved : 1; /* without a slot: for want of memory */
};

/* An access to bytes of one granule. */
struct touch {
	uint64_t address; /* of the granule */
	uint64_t copy; /* where it can be read */
	uint64_t sequence;
	uint32_t use, site, thread, ordinal;
	uint32_t held;
	uint16_t lockset;
	uint8_t mask;
	bool writes;
};

void shadow_init(struct shadow *shadow, uint64_t budget);
void shadow_deinit(struct shadow *shadow);
/* Forget all, but keep the budget: of a child process. */
void shadow_reset(struct shadow *shadow);

/* The chunk that has the address; NULL: no access was recorded there. */
struct shadow_chunk *shadow_find(struct shadow *shadow, uint64_t address);

/*
 * Fold an access into its granule, and remember that in *memo. The value of a new
 * slot is read from touch->copy.
 */
void shadow_touch(struct shadow *shadow, const struct touch *touch,
		  const struct uses *uses, struct locksets *locksets,
		  struct shadow_memo *memo);

/* The first access of a slot; its memory has to be readable, as above. */
void slot_fill(struct slot *slot, const struct touch *touch);
/* One more of it. */
void slot_repeat(struct slot *slot, const struct touch *touch,
		 struct locksets *locksets);

/*
 * Free the rows of the granule of an address: what is there now is another
 * variable.
 */
void shadow_clear(struct shadow *shadow, struct shadow_chunk *chunk,
		  uint64_t address);

uint64_t shadow_bytes(const struct shadow *shadow);

#endif
