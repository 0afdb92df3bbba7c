/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Stores of addresses; see transfer-published.h. Memory that others read has cells,
 * of the instruction that stored there too: few superblocks have one of these, and
 * filters say so of most stores.
 */
#include "hunt/transfer-published.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/hash.h"
#include "base/map.h"
#include "hunt/executed.h"
#include "hunt/recording.h"
#include "hunt/transfer-track.h"
#include "hunt/translated.h"
#include "hunt/unpack.h"

/* Bits of a filter, bytes of addresses that have one, and a cell's slack. */
enum { FILTER_BITS = 1 << 20, PAGE = 4096, LAST_SLACK = 255 };

enum { ADDRESS_BYTES = 8 };

struct store {
	uint64_t value; /* 0: not known */
	uint64_t location;
	uint64_t number; /* of the step */
	uint64_t read; /* counted accesses before others had read it */
	size_t access;
	uint32_t thread;
	uint32_t size;
};

/* Looking for a word that had an address, and when. */
struct standing {
	const struct transfer_published *published;
	const struct transfer_published_question *question;
	struct executed *executed;
	struct map words; /* that were looked at */
	uint64_t writes; /* the same of writes to them */
	uint64_t instructions; /* that this counts for */
	bool found;
};

struct transfer_published {
	const struct recording *recording;
	struct map places; /* hashes of instructions that write to cells */
	struct map blocks; /* that were asked for */
	uint64_t asked; /* pages of blocks, FILTER_BITS at most */
	unsigned char *granules,
		*pages; /* filters: cells, addresses asked for */
	struct vec stores; /* of struct store, by thread and value */
	struct vec unknown; /* of those without a value, by thread and number */
	bool too_many;
	bool crowded; /* some instruction has no cell */
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

static void ask_for_pages(struct transfer_published *published, uint64_t low,
			  uint64_t count)
{
	for (uint64_t i = 0; i < count; i++)
		set_bit(published->pages, low / PAGE + i);
}

/*
 * Each block once, and in all no more pages than the filter has bits: then each
 * page may be asked for. Nothing else bounds the sizes in a trace.
 */
static struct error *ask_for_block(struct transfer_published *published,
				   const struct trace_block *block)
{
	uint64_t count = block->size / PAGE + 2;

	if (map_get(&published->blocks, block->id))
		return NULL;
	if (count > FILTER_BITS - published->asked) {
		published->asked = FILTER_BITS;
		memset(published->pages, 0xff, FILTER_BITS / 8);
	} else {
		published->asked += count;
		ask_for_pages(published, block->address, count);
	}
	return map_set(&published->blocks, block->id, 1) ? NULL : error_nomem;
}

/* What may lead to the cell's bytes: its block, or what is near. */
static struct error *ask_for(struct transfer_published *published,
			     const struct trace_cell *cell)
{
	const struct trace_block *block =
		recording_block(published->recording, cell->block);

	if (block)
		return ask_for_block(published, block);
	ask_for_pages(published, cell->address - TRANSFER_NEAR,
		      2 * TRANSFER_NEAR / PAGE + 2);
	return NULL;
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

	for (size_t i = 0; i < asked->count; i++) {
		struct error *err =
			ask_for(published,
				vec_at(cells, *(uint32_t *)vec_at(asked, i)));

		if (err)
			return err;
	}
	for (size_t i = 0; i < cells->count; i++) {
		const struct trace_cell *cell = vec_at(cells, i);
		const struct trace_descriptor *descriptor =
			descriptor_of(published, cell);

		published->crowded |= (cell->flags & TRACE_CROWDED) != 0;
		if (!(descriptor->flags & TRACE_WRITES) &&
		    !(cell->flags & TRACE_CROWDED))
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
	published->unknown.size = sizeof(struct store);
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
	map_deinit(&published->blocks);
	vec_deinit(&published->stores);
	vec_deinit(&published->unknown);
	free(published->granules);
	free(published->pages);
	free(published);
}

bool transfer_published_has(const struct transfer_published *published,
			    const struct translated *translated)
{
	uint64_t offset = 0;

	if (published->crowded)
		return true;
	for (uint32_t i = 0; i < translated->head->instructions; i++) {
		if (map_get(&published->places,
			    place_key(&translated->head->place, offset)))
			return true;
		offset += translated->lengths[i];
	}
	return false;
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

/*
 * May one of the cell's instruction, in its block, come after that many accesses?
 * Where accesses were dropped, it may be by another stack, until a cell of another
 * block begins. first: the place of the granule's first cell.
 */
static bool may_come_after(const struct transfer_published *published,
			   size_t first, const struct trace_cell *cell,
			   uint64_t sequence)
{
	const struct vec *cells = &published->recording->cells;

	if (last_of(cell) > sequence)
		return true;
	if (!published->recording->end.dropped_cells)
		return false;
	for (size_t i = first; i < cells->count; i++) {
		const struct trace_cell *other = vec_at(cells, i);

		if (other->address != cell->address)
			break;
		if (other->block != cell->block && other->first > cell->last &&
		    other->first <= sequence)
			return false;
	}
	return true;
}

/*
 * The heap block that was stored in; 0: none, or not known. Cells of two blocks may
 * both have the store, as the last access of one is not known exactly.
 */
static uint32_t block_of(const struct transfer_published *published,
			 size_t first, uint32_t thread,
			 const struct unpacked_step *step, uint64_t granule)
{
	const struct vec *cells = &published->recording->cells;
	uint32_t block = 0;

	for (size_t i = first; i < cells->count; i++) {
		const struct trace_cell *cell = vec_at(cells, i);

		if (cell->address != granule)
			break;
		if (cell->thread != thread ||
		    cell->first > step->sequence + step->accesses ||
		    !may_come_after(published, first, cell, step->sequence))
			continue;
		if (!cell->block || (block && cell->block != block))
			return 0;
		block = cell->block;
	}
	return block;
}

/*
 * Counted accesses before another thread read in the granule what the step's thread
 * stored; 0 of a variable, which others may look at any time, and where an instruction
 * has no cell; UINT64_MAX: none did.
 */
static uint64_t read_in(const struct transfer_published *published,
			uint32_t thread, const struct unpacked_step *step,
			uint64_t granule)
{
	const struct vec *cells = &published->recording->cells;
	size_t first = first_cell(cells, granule);
	uint32_t block = block_of(published, first, thread, step, granule);
	uint64_t read = UINT64_MAX;

	for (size_t i = first; i < cells->count; i++) {
		const struct trace_cell *cell = vec_at(cells, i);

		if (cell->address != granule)
			break;
		if (cell->thread != thread && (cell->flags & TRACE_CROWDED))
			return 0;
		if (cell->thread != thread &&
		    (!block || !cell->block || cell->block == block) &&
		    (descriptor_of(published, cell)->flags & TRACE_READS) &&
		    cell->first < read &&
		    may_come_after(published, first, cell, step->sequence))
			read = cell->first;
	}
	if (read != UINT64_MAX &&
	    recording_has_module(published->recording, granule))
		return 0;
	return read;
}

/* The same of all bytes that were stored. */
static uint64_t read_of(const struct transfer_published *published,
			uint32_t thread, const struct unpacked_step *step,
			const struct translated_access *access)
{
	uint64_t first = access->address & ~(uint64_t)(TRACE_GRANULE - 1);
	uint64_t size = access->address - first + access->size;
	uint64_t least = UINT64_MAX;

	for (uint64_t i = 0; i < size; i += TRACE_GRANULE) {
		uint64_t read = UINT64_MAX;

		if (has_bit(published->granules, first + i))
			read = read_in(published, thread, step, first + i);
		if (read < least)
			least = read;
	}
	return least;
}

/* The recorder has no value of what vector registers store. */
static bool is_known(const struct translated_access *access)
{
	return access->has_value && access->size == ADDRESS_BYTES;
}

static bool is_taken(const struct transfer_published *published,
		     const struct translated_access *access)
{
	return access->done && (access->flags & TRACE_WRITES) &&
	       access->size >= ADDRESS_BYTES &&
	       (!is_known(access) ||
		has_bit(published->pages, access->value / PAGE));
}

struct error *transfer_published_take(struct transfer_published *published,
				      uint32_t thread,
				      const struct unpacked_step *step,
				      const struct translated_access *accesses,
				      size_t count)
{
	for (size_t i = 0; i < count && !published->too_many; i++) {
		const struct translated_access *access = &accesses[i];
		bool known = is_known(access);
		struct vec *stores = known ? &published->stores
					   : &published->unknown;
		struct store store = {
			.value = known ? access->value : 0,
			.location = access->address,
			.number = step->number,
			.access = i,
			.thread = thread,
			.size = access->size,
		};

		if (!is_taken(published, access))
			continue;
		store.read = read_of(published, thread, step, access);
		if (store.read == UINT64_MAX)
			continue;
		if (stores->count >= TRANSFER_PUBLISHED_MAX)
			published->too_many = true;
		else if (!vec_push(stores, &store))
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

static int compare_unknown(const void *one, const void *two)
{
	const struct store *a = one, *b = two;

	if (a->thread != b->thread)
		return a->thread < b->thread ? -1 : 1;
	return (a->number > b->number) - (a->number < b->number);
}

static void sort(struct vec *stores, int (*compare)(const void *, const void *))
{
	if (stores->count)
		qsort(stores->items, stores->count, stores->size, compare);
}

void transfer_published_sort(struct transfer_published *published)
{
	sort(&published->stores, compare_stores);
	sort(&published->unknown, compare_unknown);
}

/* The first one that does not come before that. */
static size_t first_from(const struct vec *stores, const struct store *wanted,
			 int (*compare)(const void *, const void *))
{
	size_t low = 0, high = stores->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (compare(vec_at(stores, middle), wanted) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/*
 * To the first store of an address of the question by another thread than its own, at
 * or behind *i; NULL: there is none. They are by thread and value.
 */
static const struct store *
next_of_others(const struct vec *stores,
	       const struct transfer_published_question *question, size_t *i)
{
	while (*i < stores->count) {
		const struct store *store = vec_at(stores, *i);
		struct store wanted = { .thread = store->thread };

		if (store->thread != question->thread &&
		    store->value - question->low < question->size)
			return store;
		wanted.value = question->low;
		if (store->thread == question->thread ||
		    store->value >= question->low) {
			if (wanted.thread++ == UINT32_MAX)
				return NULL;
			wanted.value = 0;
		}
		*i = first_from(stores, &wanted, compare_stores);
	}
	return NULL;
}

/*
 * Does another thread than the question's read the word: a variable, or before the
 * hand-over?
 */
static bool
is_read_by_others(const struct transfer_published *published,
		  const struct transfer_published_question *question,
		  uint64_t word)
{
	const struct vec *cells = &published->recording->cells;
	uint64_t granule = word & ~(uint64_t)(TRACE_GRANULE - 1);
	bool is_variable = recording_has_module(published->recording, word);

	for (size_t i = first_cell(cells, granule); i < cells->count; i++) {
		const struct trace_cell *cell = vec_at(cells, i);
		bool reads =
			(cell->flags & TRACE_CROWDED) ||
			(descriptor_of(published, cell)->flags & TRACE_READS);

		if (cell->address != granule)
			break;
		if (reads && cell->thread != question->thread &&
		    (is_variable || cell->first <= question->sent))
			return true;
	}
	return false;
}

bool transfer_published_by_others(
	const struct transfer_published *published,
	const struct transfer_published_question *question)
{
	const struct vec *stores = &published->stores;
	const struct store *store;

	for (size_t i = 0; (store = next_of_others(stores, question, &i));
	     i++) {
		if (store->number >= question->born &&
		    store->number < question->number &&
		    is_read_by_others(published, question, store->location))
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

static bool find_known(const struct vec *stores,
		       const struct transfer_published_question *question)
{
	const struct store wanted = { .thread = question->thread,
				      .value = question->low };

	for (size_t i = first_from(stores, &wanted, compare_stores);
	     i < stores->count; i++) {
		const struct store *store = vec_at(stores, i);

		if (store->thread != question->thread ||
		    store->value - question->low >= question->size)
			break;
		if (is_between(store, question) &&
		    store->read <= question->sent)
			return true;
	}
	return false;
}

/*
 * One whose value is not known may be of any address. Who reads it in the block
 * itself has the address already.
 */
static bool find_unknown(const struct vec *stores,
			 const struct transfer_published_question *question)
{
	const struct store wanted = { .thread = question->thread,
				      .number = question->since };
	size_t first = first_from(stores, &wanted, compare_unknown);

	for (size_t i = first; i < stores->count; i++) {
		const struct store *store = vec_at(stores, i);

		if (store->thread != question->thread ||
		    store->number > question->number)
			break;
		if (i - first >= TRANSFER_PUBLISHED_UNKNOWN)
			return true;
		if (is_between(store, question) &&
		    store->read <= question->sent &&
		    store->location - question->low >= question->size)
			return true;
	}
	return false;
}

bool transfer_published_find(const struct transfer_published *published,
			     const struct transfer_published_question *question)
{
	return published->too_many ||
	       find_known(&published->stores, question) ||
	       find_unknown(&published->unknown, question);
}

/*
 * Whoever has written it. Not known are the values of vectors, of system calls, and
 * where a part was written.
 */
static bool may_be_address(const struct executed_write *write, uint64_t word,
			   const struct transfer_published_question *question)
{
	if (write->kind == EXECUTED_NONE || write->kind == EXECUTED_HEAP)
		return false;
	return !write->has_value || write->address != word ||
	       write->size != ADDRESS_BYTES ||
	       write->value - question->low < question->size;
}

/* Whoever looked before that write has found what was there then. */
static bool is_before(const struct executed_write *write,
		      const struct transfer_published_question *question)
{
	return write->kind == EXECUTED_NONE ||
	       write->number < question->since ||
	       (write->kind == EXECUTED_STORE &&
		write->thread == question->thread &&
		write->number == question->since &&
		write->place == question->taken);
}

/*
 * Had the word an address at some time between `since' and the access of the
 * question? From its last write back, to what was there when the thread had it.
 */
static struct error *look_back(struct standing *standing, uint64_t word)
{
	const struct transfer_published_question *question = standing->question;
	struct executed_write last, before = { .kind = EXECUTED_STORE,
					       .number = question->number,
					       .place = question->access };
	struct error *err;

	do {
		standing->found = standing->writes++ >=
				  TRANSFER_PUBLISHED_WRITES;
		if (standing->found)
			return NULL;
		standing->instructions += TRANSFER_SEARCH;
		err = executed_write_before(standing->executed, word,
					    ADDRESS_BYTES, &before, &last);
		standing->found = !err && may_be_address(&last, word, question);
		before = last;
	} while (!err && !standing->found && !is_before(&last, question));
	return err;
}

/* Who reads it in the block itself has the address already. */
static struct error *look_at_word(struct standing *standing, uint64_t word)
{
	const struct transfer_published_question *question = standing->question;

	if (standing->found || word - question->low < question->size ||
	    map_get(&standing->words, word))
		return NULL;
	if (!map_set(&standing->words, word, 1))
		return error_nomem;
	return look_back(standing, word);
}

/* What was stored, if that was before `since'. */
static struct error *look_at_store(struct standing *standing,
				   const struct store *store)
{
	const struct transfer_published_question *question = standing->question;
	struct error *err = NULL;

	standing->instructions++;
	if (store->number < question->born || store->number >= question->since)
		return NULL;
	for (uint32_t at = 0;
	     !err && !standing->found && at + ADDRESS_BYTES <= store->size;
	     at += ADDRESS_BYTES)
		err = look_at_word(standing, store->location + at);
	return err;
}

/* Those that lie between the two places; one that is not known may be any. */
static struct error *find_standing(struct standing *standing,
				   const struct vec *stores, size_t from,
				   size_t to)
{
	struct error *err = NULL;

	for (size_t i = from; !err && !standing->found && i < to; i++) {
		const struct store *store = vec_at(stores, i);

		if (store->read <= standing->question->sent)
			err = look_at_store(standing, store);
	}
	return err;
}

/* What earlier owners have stored, but for the word that it was received in. */
static struct error *find_others_standing(struct standing *standing)
{
	const struct transfer_published *published = standing->published;
	const struct transfer_published_question *question = standing->question;
	const struct store *store;
	struct error *err = NULL;

	for (size_t i = 0;
	     !err && !standing->found &&
	     (store = next_of_others(&published->stores, question, &i));
	     i++) {
		standing->instructions++;
		if (store->location != question->from &&
		    !map_get(&standing->words, store->location) &&
		    is_read_by_others(published, question, store->location))
			err = look_at_store(standing, store);
	}
	return err;
}

struct error *
transfer_published_stands(const struct transfer_published *published,
			  struct executed *executed,
			  const struct transfer_published_question *question,
			  bool *ret, uint64_t *ret_instructions)
{
	const struct vec *stores = &published->stores;
	const struct vec *unknown = &published->unknown;
	const struct store low = { .thread = question->thread,
				   .value = question->low,
				   .number = question->born };
	const struct store high = { .thread = question->thread,
				    .value = question->low + question->size,
				    .number = question->since };
	struct standing standing = { .published = published,
				     .question = question,
				     .executed = executed };
	size_t from = first_from(unknown, &low, compare_unknown);
	size_t to = first_from(unknown, &high, compare_unknown);
	struct error *err;

	*ret = to - from >= TRANSFER_PUBLISHED_UNKNOWN;
	*ret_instructions = 0;
	if (*ret)
		return NULL;
	err = find_standing(&standing, stores,
			    first_from(stores, &low, compare_stores),
			    first_from(stores, &high, compare_stores));
	if (!err)
		err = find_standing(&standing, unknown, from, to);
	if (!err)
		err = find_others_standing(&standing);
	map_deinit(&standing.words);
	*ret = standing.found;
	*ret_instructions = standing.instructions;
	return err;
}
