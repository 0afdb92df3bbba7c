/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Stores of addresses; see transfer-published.h. Memory that others read has cells,
 * of the instruction that stored there too: few superblocks have one of these, and
 * filters say so of most stores.
 */
#include "hunt/transfer-published.h"

#include <stdlib.h>

#include "base/error.h"
#include "base/hash.h"
#include "base/map.h"
#include "hunt/recording.h"
#include "hunt/transfer-track.h"
#include "hunt/translated.h"
#include "hunt/unpack.h"

/* Bits of a filter, bytes of addresses that have one, and a cell's slack. */
enum { FILTER_BITS = 1 << 20, PAGE = 4096, LAST_SLACK = 255 };

enum { ADDRESS_BYTES = 8 };

struct store {
	uint64_t value, location;
	uint64_t number, sequence; /* of the step */
	size_t access;
	uint32_t thread, accesses;
};

struct transfer_published {
	const struct recording *recording;
	struct map places; /* hashes of instructions that write to cells */
	unsigned char *granules,
		*pages; /* filters: cells, addresses asked for */
	struct vec stores; /* of struct store */
	bool too_many;
};

static uint64_t place_key(const struct trace_place *place, uint64_t offset)
{
	const uint64_t parts[] = { place->module, place->offset + offset };

	return hash_blocks(parts, sizeof(parts));
}

static uint64_t bit_of(uint64_t number)
{
	return (number * UINT64_C(0x9e3779b97f4a7c15)) >> 44;
}

static void set_bit(unsigned char *filter, uint64_t number)
{
	uint64_t bit = bit_of(number);

	filter[bit / 8] |= (unsigned char)(1u << bit % 8);
}

static bool has_bit(const unsigned char *filter, uint64_t number)
{
	uint64_t bit = bit_of(number);

	return filter[bit / 8] & 1u << bit % 8;
}

/* What may lead to the cell's bytes: its block, or what is near. */
static void ask_for(struct transfer_published *published,
		    const struct trace_cell *cell)
{
	const struct trace_block *block =
		recording_block(published->recording, cell->block);
	uint64_t low = block ? block->address : cell->address - TRANSFER_NEAR;
	uint64_t high = block ? block->address + block->size
			      : cell->address + TRACE_GRANULE + TRANSFER_NEAR;

	for (uint64_t page = low / PAGE; page * PAGE < high; page++)
		set_bit(published->pages, page);
}

static const struct trace_descriptor *
descriptor_of(const struct transfer_published *published,
	      const struct trace_cell *cell)
{
	return recording_descriptor(published->recording, cell->descriptor)
		->raw;
}

static struct error *take_cells(struct transfer_published *published,
				const struct vec *asked)
{
	const struct vec *cells = &published->recording->cells;

	for (size_t i = 0; i < asked->count; i++)
		ask_for(published,
			vec_at(cells, *(uint32_t *)vec_at(asked, i)));
	for (size_t i = 0; i < cells->count; i++) {
		const struct trace_cell *cell = vec_at(cells, i);
		const struct trace_descriptor *descriptor =
			descriptor_of(published, cell);

		if (!(descriptor->flags & TRACE_WRITES))
			continue;
		set_bit(published->granules, cell->address);
		if (!map_set(&published->places,
			     place_key(&descriptor->place, 0), 1))
			return error_nomem;
	}
	return NULL;
}

struct error *transfer_published_create(const struct recording *recording,
					const struct vec *cells,
					struct transfer_published **ret)
{
	struct transfer_published *published = calloc(1, sizeof(*published));
	struct error *err = error_nomem;

	if (!published)
		return error_nomem;
	published->recording = recording;
	published->stores.size = sizeof(struct store);
	published->granules = calloc(1, FILTER_BITS / 8);
	published->pages = calloc(1, FILTER_BITS / 8);
	if (published->granules && published->pages)
		err = take_cells(published, cells);
	if (err)
		transfer_published_destroy(published);
	else
		*ret = published;
	return err;
}

void transfer_published_destroy(struct transfer_published *published)
{
	if (!published)
		return;
	map_deinit(&published->places);
	vec_deinit(&published->stores);
	free(published->granules);
	free(published->pages);
	free(published);
}

bool transfer_published_has(const struct transfer_published *published,
			    const struct translated *translated)
{
	uint64_t offset = 0;

	for (uint32_t i = 0; i < translated->head->instructions; i++) {
		if (map_get(&published->places,
			    place_key(&translated->head->place, offset)))
			return true;
		offset += translated->lengths[i];
	}
	return false;
}

static bool is_taken(const struct transfer_published *published,
		     const struct translated_access *access)
{
	return access->done && (access->flags & TRACE_WRITES) &&
	       access->has_value && access->size == ADDRESS_BYTES &&
	       has_bit(published->pages, access->value / PAGE) &&
	       has_bit(published->granules,
		       access->address & ~(uint64_t)(TRACE_GRANULE - 1));
}

struct error *transfer_published_take(struct transfer_published *published,
				      uint32_t thread,
				      const struct unpacked_step *step,
				      const struct translated_access *accesses,
				      size_t count)
{
	for (size_t i = 0; i < count && !published->too_many; i++) {
		const struct store store = {
			.value = accesses[i].value,
			.location = accesses[i].address,
			.number = step->number,
			.sequence = step->sequence,
			.access = i,
			.thread = thread,
			.accesses = step->accesses,
		};

		if (!is_taken(published, &accesses[i]))
			continue;
		if (published->stores.count >= TRANSFER_PUBLISHED_MAX)
			published->too_many = true;
		else if (!vec_push(&published->stores, &store))
			return error_nomem;
	}
	return NULL;
}

static int compare_stores(const void *one, const void *two)
{
	const struct store *a = one, *b = two;

	if (a->thread != b->thread)
		return a->thread < b->thread ? -1 : 1;
	return (a->value > b->value) - (a->value < b->value);
}

void transfer_published_sort(struct transfer_published *published)
{
	struct vec *stores = &published->stores;

	if (stores->count)
		qsort(stores->items, stores->count, stores->size,
		      compare_stores);
}

/* The first one of these or greater addresses. */
static size_t first_from(const struct vec *stores, uint32_t thread,
			 uint64_t value)
{
	const struct store wanted = { .thread = thread, .value = value };
	size_t low = 0, high = stores->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (compare_stores(vec_at(stores, middle), &wanted) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* The recording's first cell of the granule, or of one behind it. */
static size_t first_cell(const struct vec *cells, uint64_t address)
{
	size_t low = 0, high = cells->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		const struct trace_cell *cell = vec_at(cells, middle);

		if (cell->address < address)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static uint64_t last_of(const struct trace_cell *cell)
{
	return cell->count > 1 ? cell->last + LAST_SLACK : cell->first;
}

/* The heap block that was stored in; 0: none, or not known. */
static uint32_t block_of(const struct vec *cells, size_t i,
			 const struct store *store, uint64_t granule)
{
	for (; i < cells->count; i++) {
		const struct trace_cell *cell = vec_at(cells, i);

		if (cell->address != granule)
			break;
		if (cell->thread == store->thread &&
		    cell->first <= store->sequence + store->accesses &&
		    last_of(cell) > store->sequence)
			return cell->block;
	}
	return 0;
}

/* Did another thread read there after the store? */
static bool is_read(const struct transfer_published *published,
		    const struct store *store, uint64_t sent)
{
	const struct vec *cells = &published->recording->cells;
	uint64_t granule = store->location & ~(uint64_t)(TRACE_GRANULE - 1);
	size_t i = first_cell(cells, granule);
	uint32_t block = block_of(cells, i, store, granule);

	if (recording_has_module(published->recording, store->location))
		sent = UINT64_MAX;
	for (; i < cells->count; i++) {
		const struct trace_cell *cell = vec_at(cells, i);

		if (cell->address != granule)
			break;
		if (cell->thread != store->thread &&
		    (!block || !cell->block || cell->block == block) &&
		    (descriptor_of(published, cell)->flags & TRACE_READS) &&
		    last_of(cell) > store->sequence && cell->first <= sent)
			return true;
	}
	return false;
}

static bool is_between(const struct store *store,
		       const struct transfer_published_question *question)
{
	return store->number >= question->since &&
	       (store->number < question->number ||
		(store->number == question->number &&
		 store->access < question->access));
}

bool transfer_published_find(const struct transfer_published *published,
			     const struct transfer_published_question *question)
{
	const struct vec *stores = &published->stores;

	if (published->too_many)
		return true;
	for (size_t i = first_from(stores, question->thread, question->low);
	     i < stores->count; i++) {
		const struct store *store = vec_at(stores, i);

		if (store->thread != question->thread ||
		    store->value - question->low >= question->size)
			break;
		if (is_between(store, question) &&
		    is_read(published, store, question->sent))
			return true;
	}
	return false;
}
