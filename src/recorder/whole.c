/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The cell that was found is moved to the front of its granule's list: a loop's
 * accesses find theirs at once.
 */
#include "recorder/whole.h"

#include <stddef.h>

#include "recorder/locks.h"
#include "recorder/os.h"
#include "recorder/uses.h"

void whole_init(struct whole *whole)
{
	table_init(&whole->by_number);
	records_init(&whole->chunks, sizeof(struct whole_chunk *));
	records_init(&whole->cells, sizeof(struct whole_cell));
	whole->unused = 0;
	whole->dropped = 0;
}

void whole_reset(struct whole *whole)
{
	for (uint32_t id = 1; id <= whole->chunks.count; id++)
		os_unmap(whole_chunk_at(whole, id), sizeof(struct whole_chunk));
	table_deinit(&whole->by_number);
	records_deinit(&whole->chunks);
	records_deinit(&whole->cells);
	whole_init(whole);
}

static struct whole_chunk *find_chunk(struct whole *whole, uint64_t number)
{
	uint32_t hash = table_hash(number, 5), at = 0, id;

	while ((id = table_next(&whole->by_number, hash, &at)) != 0) {
		struct whole_chunk *chunk = whole_chunk_at(whole, id);

		if (chunk->number == number)
			return chunk;
	}
	return NULL;
}

static struct whole_chunk *add_chunk(struct whole *whole, uint64_t number)
{
	uint32_t id = records_add(&whole->chunks);

	struct whole_chunk *chunk;

	if (id == 0)
		return NULL;
	chunk = os_map(sizeof(*chunk));
	chunk->number = number;
	*(struct whole_chunk **)records_at(&whole->chunks, id) = chunk;
	table_add(&whole->by_number, table_hash(number, 5), id);
	return chunk;
}

struct whole_granule *whole_find(struct whole *whole, uint64_t address)
{
	struct whole_chunk *chunk = find_chunk(whole, address >> SHADOW_SHIFT);

	return chunk ? &chunk->granules[address / 8 % SHADOW_GRANULES] : NULL;
}

static bool is_of(const struct whole_cell *cell, const struct touch *touch,
		  const struct uses *uses)
{
	const struct use *use = use_at(uses, cell->slot.use);

	return cell->slot.mask == touch->mask && use->site == touch->site &&
	       use->thread == touch->thread;
}

/* The touch's cell, which becomes the first one; NULL: it has none. */
static struct whole_cell *find_cell(const struct whole *whole,
				    struct whole_granule *granule,
				    const struct touch *touch,
				    const struct uses *uses)
{
	for (uint32_t *link = &granule->cells; *link != 0;) {
		uint32_t id = *link;
		struct whole_cell *cell = whole_cell_at(whole, id);

		if (is_of(cell, touch, uses)) {
			*link = cell->next;
			cell->next = granule->cells;
			granule->cells = id;
			return cell;
		}
		link = &cell->next;
	}
	return NULL;
}

static void add_cell(struct whole *whole, struct whole_granule *granule,
		     const struct touch *touch)
{
	uint32_t id = whole->unused;
	struct whole_cell *cell;

	if (id != 0)
		whole->unused = whole_cell_at(whole, id)->next;
	else
		id = records_add(&whole->cells);
	if (id == 0) {
		whole->dropped++;
		return;
	}
	cell = whole_cell_at(whole, id);
	slot_fill(&cell->slot, touch);
	cell->next = granule->cells;
	granule->cells = id;
}

void whole_touch(struct whole *whole, const struct touch *touch,
		 const struct uses *uses, struct locksets *locksets)
{
	struct whole_granule *granule = whole_find(whole, touch->address);
	struct whole_cell *cell;

	if (!granule) {
		if (!add_chunk(whole, touch->address >> SHADOW_SHIFT)) {
			whole->dropped++;
			return;
		}
		granule = whole_find(whole, touch->address);
	}
	if (granule->cells == 0)
		granule->owner = (uint16_t)touch->thread;
	granule->shared |= granule->owner != (uint16_t)touch->thread;
	granule->written |= touch->writes;
	cell = find_cell(whole, granule, touch, uses);
	if (cell)
		slot_repeat(&cell->slot, touch, locksets);
	else
		add_cell(whole, granule, touch);
}

void whole_clear(struct whole *whole, struct whole_granule *granule)
{
	while (granule->cells != 0) {
		uint32_t id = granule->cells;
		struct whole_cell *cell = whole_cell_at(whole, id);

		granule->cells = cell->next;
		cell->next = whole->unused;
		whole->unused = id;
	}
	*granule = (struct whole_granule){ 0 };
}
