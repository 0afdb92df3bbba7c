/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Where the granules and slots of a shadow are. All of it is inline: each access
 * asks.
 */
#ifndef RECORDER_SLOTS_H
#define RECORDER_SLOTS_H

#include <stdbool.h>
#include <stdint.h>

#include "recorder/shadow.h"
#include "recorder/table.h"

static inline struct granule *granule_at(struct shadow_chunk *chunk,
					 uint64_t address)
{
	return &chunk->granules[address / 8 % SHADOW_GRANULES];
}

/* As records_at(), by a size that the compiler knows. */
static inline struct row_few *few_at(const struct shadow *shadow, uint32_t id)
{
	uint32_t i = id - 1;

	return (struct row_few *)shadow->few.chunks[i / RECORDS_CHUNK] +
	       i % RECORDS_CHUNK;
}

static inline struct row_many *many_at(const struct shadow *shadow, uint32_t id)
{
	uint32_t i = id - 1;

	return (struct row_many *)shadow->many.chunks[i / RECORDS_CHUNK] +
	       i % RECORDS_CHUNK;
}

/* Slot i of the granule, from 0. */
static inline struct slot *granule_slot(const struct shadow *shadow,
					const struct granule *granule,
					uint32_t i)
{
	struct row_many *row;

	if (i < SHADOW_FEW)
		return &few_at(shadow, granule->few)->slots[i];
	row = many_at(shadow, few_at(shadow, granule->few)->many);
	for (i -= SHADOW_FEW; i >= SHADOW_MANY; i -= SHADOW_MANY)
		row = many_at(shadow, row->next);
	return &row->slots[i];
}

/* One more access of the slot, whose locks are those of all before it. */
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

#endif
