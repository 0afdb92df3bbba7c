/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The last write to some bytes. For each chunk, an index tells which granules it
 * writes, and when it writes each for the last time; it is made when the chunk is
 * asked for the first time. So most chunks need not be unpacked. One that is has a
 * second index as long as it stays so, of all steps that write a granule.
 */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/hash.h"
#include "hunt/executed-parts.h"

/* A write of more granules is a range. */
enum { WRITE_GRANULES = 64 };

struct search {
	struct executed *executed;
	uint64_t address, size;
	struct executed_position before;
	uint64_t end; /* no step or event of that number, or above, is before */
	/* that is searched, and the place of its first step or event */
	uint32_t thread;
	uint64_t base;
	struct executed_write best;
};

/* Makes the indices of a chunk. */
struct indexing {
	struct executed_chunk *chunk;
	struct executed_open *open;
	size_t step; /* at work */
};

static uint32_t hash_of(uint64_t granule)
{
	return (uint32_t)((granule * 0x9e3779b97f4a7c15u) >> 32);
}

static struct executed_position position_of(const struct executed_write *write)
{
	return (struct executed_position){
		.number = write->number,
		.event = write->kind == EXECUTED_STORE
				 ? 0
				 : write->thread + UINT64_C(1),
		.place = write->place,
	};
}

static bool is_before(const struct executed_position *a,
		      const struct executed_position *b)
{
	if (a->number != b->number)
		return a->number < b->number;
	if (a->event != b->event)
		return a->event < b->event;
	return a->place < b->place;
}

static bool overlaps(uint64_t a, uint64_t a_size, uint64_t b, uint64_t b_size)
{
	return a < b + b_size && b < a + a_size;
}

static const struct unpacked_step *step_at(const struct executed_open *open,
					   size_t i)
{
	return vec_at(&open->unpacked.steps, i);
}

static bool add_range(const struct indexing *indexing, uint64_t address,
		      uint64_t size)
{
	const struct executed_range range = {
		.address = address,
		.size = size,
		.number = step_at(indexing->open, indexing->step)->number,
		.step = indexing->step,
	};

	return indexing->chunk->indexed ||
	       vec_push(&indexing->chunk->ranges, &range);
}

static bool note_write(const struct indexing *indexing, uint64_t address,
		       uint64_t size)
{
	uint64_t first = address / 8, last = (address + size - 1) / 8;
	struct vec *writers = &indexing->open->writers;

	if (size == 0)
		return true;
	if (last - first >= WRITE_GRANULES)
		return add_range(indexing, address, size);
	for (uint64_t granule = first; granule <= last; granule++) {
		const struct executed_writer writer = {
			.hash = hash_of(granule),
			.step = (uint32_t)indexing->step,
		};

		if (writers->count == writers->capacity &&
		    !vec_reserve(writers, writers->count + 1))
			return false;
		((struct executed_writer *)writers->items)[writers->count++] =
			writer;
	}
	return true;
}

enum { DIGIT_BITS = 11, DIGITS = 1 << DIGIT_BITS };

/* From one array to the other, by a digit of the hash; what is equal stays so. */
static void sort_by_digit(const struct executed_writer *from,
			  struct executed_writer *to, size_t count,
			  unsigned int shift)
{
	size_t places[DIGITS + 1] = { 0 };

	for (size_t i = 0; i < count; i++)
		places[(from[i].hash >> shift) % DIGITS + 1]++;
	for (size_t i = 0; i < DIGITS; i++)
		places[i + 1] += places[i];
	for (size_t i = 0; i < count; i++)
		to[places[(from[i].hash >> shift) % DIGITS]++] = from[i];
}

/* They are by step; the digits have all bits of the hash. */
static bool sort_writers(struct executed *executed, struct vec *writers)
{
	struct executed_writer *all = writers->items, *room;

	if (writers->count > executed->sorting_room) {
		room = realloc(executed->sorting,
			       writers->count * sizeof(*room));
		if (!room)
			return false;
		executed->sorting = room;
		executed->sorting_room = writers->count;
	}
	room = executed->sorting;
	sort_by_digit(all, room, writers->count, 0);
	sort_by_digit(room, all, writers->count, DIGIT_BITS);
	sort_by_digit(all, room, writers->count, 2 * DIGIT_BITS);
	if (writers->count)
		memcpy(all, room, writers->count * sizeof(*all));
	return true;
}

/* Of each hash, the last of its writers. */
static bool take_granules(struct executed_chunk *chunk,
			  const struct executed_open *open)
{
	const struct executed_writer *all = open->writers.items;

	for (size_t i = 0; i < open->writers.count; i++) {
		uint64_t last =
			step_at(open, all[i].step)->number - chunk->head->first;
		const struct executed_granule granule = {
			.hash = all[i].hash,
			.last = last < UINT32_MAX ? (uint32_t)last : UINT32_MAX,
		};

		if (i + 1 < open->writers.count &&
		    all[i + 1].hash == granule.hash)
			continue;
		if (!vec_push(&chunk->granules, &granule))
			return false;
	}
	return true;
}

/* NULL: the chunk does not write it. */
static const struct executed_granule *
find_granule(const struct executed_chunk *chunk, uint32_t hash)
{
	const struct executed_granule *all = chunk->granules.items;
	size_t low = 0, high = chunk->granules.count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (all[middle].hash < hash)
			low = middle + 1;
		else
			high = middle;
	}
	return low < chunk->granules.count && all[low].hash == hash ? &all[low]
								    : NULL;
}

static uint64_t at_most(uint64_t number, uint64_t most)
{
	return number < most ? number : most;
}

/*
 * No write of the chunk that is searched for has a higher number; UINT64_MAX: it has
 * none.
 */
static uint64_t latest(const struct search *search,
		       const struct executed_chunk *chunk)
{
	uint64_t last = chunk->head->last, ret = 0;
	bool found = false;

	if (!chunk->indexed)
		return at_most(last, search->end - 1);
	for (size_t i = 0; i < chunk->ranges.count; i++) {
		const struct executed_range *range = vec_at(&chunk->ranges, i);

		if (overlaps(range->address, range->size, search->address,
			     search->size)) {
			found = true;
			if (range->number > ret)
				ret = range->number;
		}
	}
	for (uint64_t at = search->address / 8;
	     at <= (search->address + search->size - 1) / 8; at++) {
		const struct executed_granule *granule =
			find_granule(chunk, hash_of(at));
		uint64_t number;

		if (!granule)
			continue;
		/* UINT32_MAX also of events at the start: of first - 1 */
		number = granule->last < UINT32_MAX
				 ? chunk->head->first + granule->last
				 : last;
		found = true;
		if (number > ret)
			ret = number;
	}
	return found ? at_most(ret, search->end - 1) : UINT64_MAX;
}

/* The place + 1 of the last step below `end' of a granule; 0: none. */
static size_t writer_below(const struct executed_open *open, uint32_t hash,
			   size_t end)
{
	const struct executed_writer *all = open->writers.items;
	size_t low = 0, high = open->writers.count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (all[middle].hash < hash ||
		    (all[middle].hash == hash && all[middle].step < end))
			low = middle + 1;
		else
			high = middle;
	}
	return low > 0 && all[low - 1].hash == hash
		       ? all[low - 1].step + (size_t)1
		       : 0;
}

/* The same of any of the bytes that are searched for. */
static size_t step_below(const struct search *search,
			 const struct executed_chunk *chunk,
			 const struct executed_open *open, size_t end)
{
	size_t ret = 0;

	for (size_t i = 0; i < chunk->ranges.count; i++) {
		const struct executed_range *range = vec_at(&chunk->ranges, i);

		if (range->step < end &&
		    overlaps(range->address, range->size, search->address,
			     search->size))
			ret = range->step + 1;
	}
	for (uint64_t granule = search->address / 8;
	     granule <= (search->address + search->size - 1) / 8; granule++) {
		size_t writer = writer_below(open, hash_of(granule), end);

		if (writer > ret)
			ret = writer;
	}
	return ret;
}

/* Those of a step, which are there until it is called again. */
static bool read_accesses(struct executed *executed,
			  const struct unpacked *unpacked,
			  const struct unpacked_step *step, size_t *ret_count)
{
	const struct translated *translated =
		executed_superblock(executed, step->superblock);
	size_t count = translated_count(translated, step->exit);

	if (count > executed->accesses_room) {
		struct translated_access *room =
			realloc(executed->accesses, count * sizeof(*room));

		if (!room)
			return false;
		executed->accesses = room;
		executed->accesses_room = count;
	}
	translated_accesses(translated, step->exit,
			    (const uint64_t *)unpacked->words.items +
				    step->words,
			    executed->accesses);
	*ret_count = count;
	return true;
}

static bool is_write(const struct translated_access *access)
{
	return (access->flags & TRACE_WRITES) && access->done;
}

typedef bool write_visitor(void *context, const struct executed_write *write);

static bool visit_stores(struct executed *executed,
			 const struct unpacked *unpacked,
			 const struct unpacked_step *step, write_visitor *visit,
			 void *context)
{
	size_t count = 0;
	bool done = read_accesses(executed, unpacked, step, &count);

	for (size_t i = 0; done && i < count; i++) {
		const struct translated_access *access = &executed->accesses[i];

		if (is_write(access))
			done = visit(context,
				     &(struct executed_write){
					     .kind = EXECUTED_STORE,
					     .number = step->number,
					     .place = i,
					     .address = access->address,
					     .size = access->size,
					     .value = access->value,
					     .has_value = access->has_value });
	}
	return done;
}

/* The system call that a part belongs to comes after it, in the same chunk. */
static bool is_received(const struct unpacked *unpacked, size_t part)
{
	for (size_t i = part + 1; i < unpacked->steps.count; i++) {
		const struct unpacked_step *step = vec_at(&unpacked->steps, i);

		if (step->superblock == 0 && step->event == TRACE_MOVED)
			return ((const uint64_t *)unpacked->words
					.items)[step->words + 5] &
			       TRACE_RECEIVED;
	}
	return false;
}

static bool visit_event(const struct unpacked *unpacked, size_t i,
			write_visitor *visit, void *context)
{
	const struct unpacked_step *step = vec_at(&unpacked->steps, i);
	const uint64_t *numbers =
		(const uint64_t *)unpacked->words.items + step->words;
	struct executed_write write = { .number = step->number, .place = i };

	if (step->event == TRACE_MOVED_PART) {
		if (!is_received(unpacked, i))
			return true;
		write.kind = EXECUTED_MOVED;
		write.address = numbers[0];
		write.size = numbers[1];
		write.value = numbers[2];
		write.has_value = true;
		return visit(context, &write);
	}
	if (step->event != TRACE_HEAP)
		return true;
	write.kind = EXECUTED_HEAP;
	write.address = numbers[1] ? numbers[1] : numbers[0];
	/* how long the block that ends was is not known here: its first bytes */
	write.size = numbers[1] ? numbers[2] : 8;
	write.begins = numbers[1] != 0;
	return write.address == 0 || visit(context, &write);
}

/* Step or event i: false when a visitor says so, or out of memory. */
static bool visit_step(struct executed *executed,
		       const struct unpacked *unpacked, size_t i,
		       write_visitor *visit, void *context)
{
	const struct unpacked_step *step = vec_at(&unpacked->steps, i);

	return step->superblock != 0
		       ? visit_stores(executed, unpacked, step, visit, context)
		       : visit_event(unpacked, i, visit, context);
}

static bool add_to_index(void *context, const struct executed_write *write)
{
	return note_write(context, write->address, write->size);
}

static bool make_indices(struct executed *executed,
			 struct executed_chunk *chunk,
			 struct executed_open *open)
{
	struct indexing indexing = { .chunk = chunk, .open = open };

	vec_clear(&open->writers);
	for (; indexing.step < open->unpacked.steps.count; indexing.step++) {
		if (!visit_step(executed, &open->unpacked, indexing.step,
				add_to_index, &indexing))
			return false;
	}
	if (!sort_writers(executed, &open->writers) ||
	    (!chunk->indexed && !take_granules(chunk, open)))
		return false;
	chunk->indexed = true;
	return true;
}

static size_t bytes_of(const struct executed_open *open)
{
	const struct vec *steps = &open->unpacked.steps;
	const struct vec *words = &open->unpacked.words;
	const struct vec *writers = &open->writers;

	return steps->capacity * steps->size + words->capacity * words->size +
	       writers->capacity * writers->size;
}

static void close_chunk(struct executed_open *open)
{
	unpacked_deinit(&open->unpacked);
	vec_deinit(&open->writers);
	open->head = NULL;
}

/*
 * The place in the cache for one more: a free one, or else that used longest ago,
 * whose memory is used again.
 */
static struct executed_open *take_place(struct executed *executed)
{
	for (;;) {
		struct executed_open *oldest = NULL, *unused = NULL;
		size_t bytes = 0;

		for (size_t i = 0; i < EXECUTED_CACHE; i++) {
			struct executed_open *open = &executed->cache[i];

			bytes += bytes_of(open);
			if (!open->head)
				unused = open;
			else if (!oldest || open->used < oldest->used)
				oldest = open;
		}
		if (unused && (!oldest || bytes <= EXECUTED_CACHE_BYTES))
			return unused;
		if (bytes - bytes_of(oldest) <= EXECUTED_CACHE_BYTES) {
			oldest->head = NULL;
			return oldest;
		}
		close_chunk(oldest);
	}
}

static struct executed_open *find_open(struct executed *executed,
				       const struct trace_stream *head)
{
	for (size_t i = 0; i < EXECUTED_CACHE; i++) {
		if (executed->cache[i].head == head)
			return &executed->cache[i];
	}
	return NULL;
}

struct error *executed_open(struct executed *executed,
			    struct executed_chunk *chunk,
			    const struct executed_open **ret)
{
	struct executed_open *open = find_open(executed, chunk->head);
	struct error *err;

	if (!open) {
		open = take_place(executed);
		err = executed_unpack(executed, chunk->head, &open->unpacked);
		if (!err && !make_indices(executed, chunk, open))
			err = error_nomem;
		if (err) {
			close_chunk(open);
			return err;
		}
		open->head = chunk->head;
	}
	open->used = ++executed->uses;
	*ret = open;
	return NULL;
}

/* The last of the writes that fit. */
static bool take_write(void *context, const struct executed_write *write)
{
	struct search *search = context;
	struct executed_write found = *write;
	struct executed_position at, best = position_of(&search->best);

	if (!overlaps(write->address, write->size, search->address,
		      search->size))
		return true;
	found.thread = search->thread;
	if (write->kind != EXECUTED_STORE)
		found.place += search->base;
	at = position_of(&found);
	if (is_before(&at, &search->before) &&
	    (search->best.kind == EXECUTED_NONE || is_before(&best, &at)))
		search->best = found;
	return true;
}

/* The first step or event that does not come before. */
static size_t find_end(const struct search *search,
		       const struct executed_open *open)
{
	size_t low = 0, high = open->unpacked.steps.count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		/* an event comes before the step after the number that it has */
		if (step_at(open, middle)->number < search->end)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/*
 * A number for the chunk: later chunks of the thread have higher ones. No chunk has
 * 2^32 steps, so that a step's place can be added.
 */
static uint64_t base_of(const struct executed *executed,
			const struct executed_chunk *chunk)
{
	const struct executed_thread *thread =
		executed_thread(executed, chunk->head->thread);
	const struct executed_chunk *first = thread->chunks.items;

	return (uint64_t)(chunk - first) << 32;
}

static struct error *search_chunk(struct search *search,
				  struct executed_chunk *chunk)
{
	const struct executed_open *open;
	uint64_t best = search->best.number;
	struct error *err = executed_open(search->executed, chunk, &open);
	size_t end;

	if (err)
		return err;
	search->thread = chunk->head->thread;
	search->base = base_of(search->executed, chunk);
	end = step_below(search, chunk, open, find_end(search, open));
	while (end-- > 0) {
		if (step_at(open, end)->number < best)
			return NULL;
		if (!visit_step(search->executed, &open->unpacked, end,
				take_write, search))
			return error_nomem;
		if (search->best.number > best)
			return NULL;
		end = step_below(search, chunk, open, end);
	}
	return NULL;
}

/* The chunk that is to be searched next; NULL: what was found is the last write. */
static struct executed_chunk *next_chunk(const struct search *search)
{
	const struct vec *chunks = &search->executed->by_last;
	uint64_t most = search->best.number;
	struct executed_chunk *ret = NULL;

	for (size_t i = 0; i < chunks->count; i++) {
		struct executed_chunk *chunk =
			*(struct executed_chunk **)vec_at(chunks, i);
		uint64_t number;

		/* neither it nor those behind it have a later one */
		if (chunk->head->last < most)
			break;
		if (chunk->head->first > search->end ||
		    chunk->searched == search->executed->searches)
			continue;
		number = latest(search, chunk);
		if (number != UINT64_MAX && number >= most &&
		    (!ret || number > most)) {
			ret = chunk;
			most = number;
		}
	}
	return ret;
}

static int compare_last(const void *one, const void *two)
{
	const struct trace_stream
		*a = (*(struct executed_chunk *const *)one)->head,
		*b = (*(struct executed_chunk *const *)two)->head;

	return (a->last < b->last) - (a->last > b->last);
}

static struct error *list_chunks(struct executed *executed)
{
	struct vec *all = &executed->by_last;

	for (size_t i = 0; i < executed->threads.count; i++) {
		const struct executed_thread *thread =
			vec_at(&executed->threads, i);

		for (size_t j = 0; j < thread->chunks.count; j++) {
			struct executed_chunk *chunk =
				vec_at(&thread->chunks, j);

			if (!vec_push(all, &chunk))
				return error_nomem;
		}
	}
	if (all->count)
		qsort(all->items, all->count, all->size, compare_last);
	return NULL;
}

static struct error *search_all(struct search *search)
{
	struct executed *executed = search->executed;
	struct executed_chunk *chunk;
	struct error *err = NULL;

	if (executed->by_last.count == 0)
		err = list_chunks(executed);
	executed->searches++;
	while (!err && (chunk = next_chunk(search))) {
		chunk->searched = executed->searches;
		err = search_chunk(search, chunk);
	}
	return err;
}

static uint64_t hash_of_search(const struct search *search)
{
	const uint64_t parts[] = { search->address, search->size,
				   search->before.number, search->before.event,
				   search->before.place };

	return hash_blocks(parts, sizeof(parts));
}

static const struct executed_result *find_known(const struct search *search)
{
	const struct executed *executed = search->executed;
	const uint64_t *place =
		map_get(&executed->known, hash_of_search(search));
	const struct executed_result *result =
		place ? vec_at(&executed->results, *place) : NULL;

	return result && result->address == search->address &&
			       result->size == search->size &&
			       memcmp(&result->before, &search->before,
				      sizeof(search->before)) == 0
		       ? result
		       : NULL;
}

static struct error *keep_result(const struct search *search)
{
	struct executed *executed = search->executed;
	const struct executed_result result = {
		.address = search->address,
		.size = search->size,
		.before = search->before,
		.write = search->best,
	};

	if (executed->results.count == EXECUTED_RESULTS) {
		vec_clear(&executed->results);
		map_deinit(&executed->known);
	}
	return map_set(&executed->known, hash_of_search(search),
		       executed->results.count) &&
			       vec_push(&executed->results, &result)
		       ? NULL
		       : error_nomem;
}

struct error *executed_write_before(struct executed *executed, uint64_t address,
				    uint64_t size,
				    const struct executed_write *write,
				    struct executed_write *ret)
{
	struct search search = { .executed = executed,
				 .address = address,
				 .size = size,
				 .before = position_of(write) };
	const struct executed_result *known;
	struct error *err;

	search.end = search.before.number +
		     (search.before.event > 0 || search.before.place > 0);
	memset(ret, 0, sizeof(*ret));
	if (size == 0 || search.end == 0)
		return NULL;
	known = find_known(&search);
	if (known) {
		*ret = known->write;
		return NULL;
	}
	err = search_all(&search);
	if (!err)
		err = keep_result(&search);
	if (!err)
		*ret = search.best;
	return err;
}

struct error *executed_last_write(struct executed *executed, uint64_t address,
				  uint64_t size, uint64_t before,
				  struct executed_write *ret)
{
	const struct executed_write first = { .kind = EXECUTED_STORE,
					      .number = before };

	return executed_write_before(executed, address, size, &first, ret);
}
