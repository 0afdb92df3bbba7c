/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Executions behind cells; see transfer-instances.h. Few superblocks have an
 * instruction of a cell, and few accesses are to a granule of one: filters say so of
 * most others at once.
 */
#include "hunt/transfer-instances.h"

#include <stdlib.h>

#include "base/error.h"
#include "base/hash.h"
#include "base/map.h"
#include "hunt/executed-parts.h"
#include "hunt/recording.h"
#include "hunt/transfer-parts.h"
#include "hunt/transfer-published.h"

/* The filter's bits, and how far a cell's last number may be too low. */
enum { FILTER_BITS = 1 << 20, LAST_SLACK = 255 };

/* Of one thread, instruction and granule. */
struct list {
	struct vec instances; /* of struct transfer_instance */
	bool too_many;
};

/* A heap block of a cell. */
struct birth {
	uint32_t thread;
	uint64_t sequence;
	uint64_t number; /* transfer_instances_born() */
	uint32_t block;
};

/* Bits. */
enum superblock_use {
	SUPERBLOCK_SEEN = 1,
	SUPERBLOCK_OF_CELL = 2, /* an instruction of a cell is in it */
	SUPERBLOCK_PUBLISHES = 4, /* transfer_published_has() */
};

struct transfer_instances {
	const struct recording *recording;
	struct executed *executed;
	struct transfer_published *published;
	unsigned char *filter;
	struct map places; /* hashes of the cells' instructions */
	uint8_t *uses; /* superblock_use, by places in executed->superblocks */
	struct map lists_of; /* key_of() to places in lists */
	struct vec lists; /* of struct list */
	struct vec births; /* of struct birth, by thread and sequence */
	struct map births_of; /* blocks to places there */
	/* at work */
	struct transfer_accesses accesses;
	size_t birth; /* the next one of the thread */
	uint64_t last; /* number of the thread's last step */
};

/* Keys are hashes: if two are the same, each only has more instances. */
static uint64_t key_of(uint64_t granule, uint32_t thread,
		       const struct trace_place *place, uint64_t offset)
{
	const uint64_t parts[] = {
		granule,
		thread,
		place->module,
		place->offset + offset,
	};

	return hash_blocks(parts, sizeof(parts));
}

static uint64_t place_key(const struct trace_place *place, uint64_t offset)
{
	const uint64_t parts[] = { place->module, place->offset + offset };

	return hash_blocks(parts, sizeof(parts));
}

static uint64_t filter_bit(uint64_t granule)
{
	return (granule / TRACE_GRANULE * 0x9e3779b97f4a7c15u) >> 44;
}

static const struct trace_descriptor *
descriptor_of(const struct recording *recording, const struct trace_cell *cell)
{
	return recording_descriptor(recording, cell->descriptor)->raw;
}

static uint64_t key_of_cell(const struct recording *recording,
			    const struct trace_cell *cell)
{
	return key_of(cell->address, cell->thread,
		      &descriptor_of(recording, cell)->place, 0);
}

static struct error *add_list(struct transfer_instances *instances,
			      const struct trace_cell *cell)
{
	uint64_t key = key_of_cell(instances->recording, cell);
	uint64_t bit = filter_bit(cell->address);
	struct list *list;

	if (map_get(&instances->lists_of, key))
		return NULL;
	if (!map_set(&instances->lists_of, key, instances->lists.count) ||
	    !map_set(
		    &instances->places,
		    place_key(&descriptor_of(instances->recording, cell)->place,
			      0),
		    1))
		return error_nomem;
	list = vec_append(&instances->lists);
	if (!list)
		return error_nomem;
	list->instances.size = sizeof(struct transfer_instance);
	instances->filter[bit / 8] |= (unsigned char)(1u << bit % 8);
	return NULL;
}

static struct error *add_birth(struct transfer_instances *instances,
			       const struct trace_cell *cell)
{
	const struct trace_block *block =
		recording_block(instances->recording, cell->block);
	struct birth birth;

	if (!block || map_get(&instances->births_of, cell->block))
		return NULL;
	birth = (struct birth){ .thread = block->thread,
				.sequence = block->sequence,
				.block = cell->block };
	return map_set(&instances->births_of, cell->block, 0) &&
			       vec_push(&instances->births, &birth)
		       ? NULL
		       : error_nomem;
}

static int compare_births(const void *one, const void *two)
{
	const struct birth *a = one, *b = two;

	if (a->thread != b->thread)
		return a->thread < b->thread ? -1 : 1;
	return (a->sequence > b->sequence) - (a->sequence < b->sequence);
}

static struct error *sort_births(struct transfer_instances *instances)
{
	struct vec *births = &instances->births;

	if (births->count)
		qsort(births->items, births->count, births->size,
		      compare_births);
	for (size_t i = 0; i < births->count; i++) {
		const struct birth *birth = vec_at(births, i);

		if (!map_set(&instances->births_of, birth->block, i))
			return error_nomem;
	}
	return NULL;
}

/*
 * Blocks that the thread may have allocated before the step have their number.
 * Several steps may have the sequence number that a block was allocated at: none
 * of these is surely before it.
 */
static void note_births(struct transfer_instances *instances, uint32_t thread,
			const struct unpacked_step *step)
{
	while (instances->birth < instances->births.count) {
		struct birth *birth =
			vec_at(&instances->births, instances->birth);

		if (birth->thread > thread ||
		    (birth->thread == thread && step &&
		     birth->sequence > step->sequence))
			return;
		if (birth->thread == thread)
			birth->number = instances->last;
		instances->birth++;
	}
}

/* One more; that of the same execution takes the place of the one before. */
static struct error *add_instance(struct list *list,
				  const struct transfer_instance *instance)
{
	struct vec *all = &list->instances;
	struct transfer_instance *last =
		all->count ? vec_at(all, all->count - 1) : NULL;

	if (list->too_many)
		return NULL;
	if (last && last->point.number == instance->point.number &&
	    last->point.instruction == instance->point.instruction) {
		last->point.access = instance->point.access;
		return NULL;
	}
	if (all->count >= TRANSFER_INSTANCES_MAX) {
		list->too_many = true;
		vec_deinit(all);
		return NULL;
	}
	return vec_push(all, instance) ? NULL : error_nomem;
}

static bool may_have(const struct transfer_instances *instances,
		     uint64_t granule)
{
	uint64_t bit = filter_bit(granule);

	return instances->filter[bit / 8] & 1u << bit % 8;
}

/* Access i of a step, if it is of some list. */
static struct error *take_access(struct transfer_instances *instances,
				 uint32_t thread,
				 const struct unpacked_step *step, size_t i)
{
	const struct translated_access *access = &instances->accesses.all[i];
	const struct translated *translated =
		executed_superblock(instances->executed, step->superblock);
	const struct transfer_instance instance = {
		.point = { .thread = thread,
			   .superblock = step->superblock,
			   .instruction = access->instruction,
			   .number = step->number,
			   .access = i,
			   .sequence = step->sequence },
		.address = access->address,
		.accesses = step->accesses,
	};
	uint64_t offset = translated_address(translated, access->instruction) -
			  translated->head->address;
	struct error *err = NULL;

	for (uint64_t at = access->address & ~(uint64_t)(TRACE_GRANULE - 1);
	     !err && at < access->address + access->size; at += TRACE_GRANULE) {
		const uint64_t *place;

		if (!may_have(instances, at))
			continue;
		place = map_get(&instances->lists_of,
				key_of(at, thread, &translated->head->place,
				       offset));
		if (place)
			err = add_instance(vec_at(&instances->lists, *place),
					   &instance);
	}
	return err;
}

/* Does the access touch a granule that may have a list? */
static bool may_take(const struct transfer_instances *instances,
		     const struct translated_access *access)
{
	if (!access->done)
		return false;
	for (uint64_t at = access->address & ~(uint64_t)(TRACE_GRANULE - 1);
	     at < access->address + access->size; at += TRACE_GRANULE) {
		if (may_have(instances, at))
			return true;
	}
	return false;
}

static bool is_of_cell(const struct transfer_instances *instances,
		       const struct translated *translated)
{
	uint64_t offset = 0;

	for (uint32_t i = 0; i < translated->head->instructions; i++) {
		if (map_get(&instances->places,
			    place_key(&translated->head->place, offset)))
			return true;
		offset += translated->lengths[i];
	}
	return false;
}

static uint8_t use_of(const struct transfer_instances *instances,
		      uint32_t superblock)
{
	const struct translated *translated =
		executed_superblock(instances->executed, superblock);
	uint8_t *use = &instances->uses[translated -
					(const struct translated *)instances
						->executed->superblocks.items];

	if (!*use) {
		*use = SUPERBLOCK_SEEN;
		if (is_of_cell(instances, translated))
			*use |= SUPERBLOCK_OF_CELL;
		if (transfer_published_has(instances->published, translated))
			*use |= SUPERBLOCK_PUBLISHES;
	}
	return *use;
}

static struct error *take_step(struct transfer_instances *instances,
			       const struct executed_cursor *cursor)
{
	const struct unpacked_step *step = executed_step(cursor);
	struct transfer_accesses *accesses = &instances->accesses;
	struct error *err = NULL;
	uint8_t use;

	if (step->superblock == 0)
		return NULL;
	note_births(instances, cursor->thread, step);
	instances->last = step->number;
	use = use_of(instances, step->superblock);
	if (use == SUPERBLOCK_SEEN)
		return NULL;
	if (!transfer_accesses_read(accesses, cursor))
		return error_nomem;
	for (size_t i = 0;
	     !err && (use & SUPERBLOCK_OF_CELL) && i < accesses->count; i++) {
		if (may_take(instances, &accesses->all[i]))
			err = take_access(instances, cursor->thread, step, i);
	}
	if (!err && (use & SUPERBLOCK_PUBLISHES))
		err = transfer_published_take(instances->published,
					      cursor->thread, step,
					      accesses->all, accesses->count);
	return err;
}

static struct error *take_thread(struct transfer_instances *instances,
				 const struct executed_thread *thread)
{
	struct executed_cursor cursor = { .executed = instances->executed,
					  .thread = thread->id };
	struct error *err = NULL;

	instances->last = 0;
	instances->birth = 0;
	for (size_t i = 0; !err && i < thread->chunks.count; i++) {
		const struct executed_open *open;

		err = executed_open(instances->executed,
				    vec_at(&thread->chunks, i), &open);
		if (err)
			break;
		cursor.unpacked = open->unpacked; /* the cache's own */
		for (cursor.step = 0;
		     !err && cursor.step < cursor.unpacked.steps.count;
		     cursor.step++)
			err = take_step(instances, &cursor);
	}
	note_births(instances, thread->id, NULL);
	return err;
}

static struct error *take_all(struct transfer_instances *instances,
			      const struct vec *cells)
{
	const struct vec *threads = &instances->executed->threads;
	struct error *err = NULL;

	for (size_t i = 0; !err && i < cells->count; i++) {
		const struct trace_cell *cell =
			vec_at(&instances->recording->cells,
			       *(uint32_t *)vec_at(cells, i));

		err = add_list(instances, cell);
		if (!err)
			err = add_birth(instances, cell);
	}
	if (!err)
		err = sort_births(instances);
	for (size_t i = 0; !err && i < threads->count; i++)
		err = take_thread(instances, vec_at(threads, i));
	return err;
}

struct error *transfer_instances_create(struct executed *executed,
					const struct recording *recording,
					const struct vec *cells,
					struct transfer_published *published,
					struct transfer_instances **ret)
{
	struct transfer_instances *instances = calloc(1, sizeof(*instances));
	struct error *err = error_nomem;

	if (!instances)
		return error_nomem;
	instances->executed = executed;
	instances->recording = recording;
	instances->published = published;
	instances->lists.size = sizeof(struct list);
	instances->births.size = sizeof(struct birth);
	instances->filter = calloc(1, FILTER_BITS / 8);
	instances->uses = calloc(executed->superblocks.count + 1, 1);
	if (instances->filter && instances->uses)
		err = take_all(instances, cells);
	if (err)
		transfer_instances_destroy(instances);
	else
		*ret = instances;
	return err;
}

void transfer_instances_destroy(struct transfer_instances *instances)
{
	if (!instances)
		return;
	for (size_t i = 0; i < instances->lists.count; i++) {
		struct list *list = vec_at(&instances->lists, i);

		vec_deinit(&list->instances);
	}
	vec_deinit(&instances->lists);
	vec_deinit(&instances->births);
	map_deinit(&instances->lists_of);
	map_deinit(&instances->births_of);
	transfer_accesses_deinit(&instances->accesses);
	map_deinit(&instances->places);
	free(instances->filter);
	free(instances->uses);
	free(instances);
}

/* The first one whose step ends at or after the access of that number. */
static size_t first_from(const struct vec *all, uint64_t sequence)
{
	size_t low = 0, high = all->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		const struct transfer_instance *at = vec_at(all, middle);

		if (at->point.sequence + at->accesses < sequence)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* Has the trace all steps of the thread from that access on? */
static bool is_kept(const struct executed *executed, uint32_t id,
		    uint64_t sequence)
{
	const struct executed_thread *thread = executed_thread(executed, id);
	const struct executed_chunk *first;

	if (!thread || thread->chunks.count == 0)
		return false;
	first = vec_at(&thread->chunks, 0);
	return thread->dropped == 0 || first->head->sequence < sequence;
}

static size_t first_cell(const struct vec *cells, uint64_t address)
{
	size_t low = 0, high = cells->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (((const struct trace_cell *)vec_at(cells, middle))
			    ->address < address)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/*
 * Steps of the cell have fewer accesses before them. Where accesses were dropped, some
 * may be of the cell's instruction by another stack, as long as there is no other heap
 * block.
 */
static uint64_t end_of(const struct transfer_instances *instances,
		       const struct trace_cell *cell)
{
	const struct vec *cells = &instances->recording->cells;
	uint64_t end = UINT64_MAX;

	if (!instances->recording->end.dropped_cells)
		return cell->count > 1 ? cell->last + LAST_SLACK : cell->first;
	for (size_t i = first_cell(cells, cell->address); i < cells->count;
	     i++) {
		const struct trace_cell *other = vec_at(cells, i);

		if (other->address != cell->address)
			break;
		if (other->block != cell->block && other->first > cell->last &&
		    other->first <= end)
			end = other->first - 1;
	}
	return end;
}

bool transfer_instances_of(const struct transfer_instances *instances,
			   const struct trace_cell *cell,
			   const struct transfer_instance **ret,
			   size_t *ret_count)
{
	const uint64_t *place = map_get(
		&instances->lists_of, key_of_cell(instances->recording, cell));
	const struct list *list;
	uint64_t last = end_of(instances, cell);
	size_t first, end;

	if (!place || !is_kept(instances->executed, cell->thread, cell->first))
		return false;
	list = vec_at(&instances->lists, *place);
	first = end = first_from(&list->instances, cell->first);
	while (end < list->instances.count &&
	       ((const struct transfer_instance *)vec_at(&list->instances, end))
			       ->point.sequence < last)
		end++;
	*ret_count = end - first;
	*ret = *ret_count ? vec_at(&list->instances, first) : NULL;
	return !list->too_many && *ret_count > 0 && *ret_count >= cell->count;
}

uint64_t transfer_instances_born(const struct transfer_instances *instances,
				 uint32_t block)
{
	const uint64_t *place = map_get(&instances->births_of, block);

	return place ? ((const struct birth *)vec_at(&instances->births,
						     *place))
			       ->number
		     : 0;
}
