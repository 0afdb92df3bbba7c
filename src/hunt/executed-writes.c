/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The last write to some bytes. For each chunk, an index tells which granules it
 * writes, and where it writes each for the last time; it is made when the chunk is
 * asked for the first time.
 */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "hunt/executed-parts.h"

/* A write of more granules is a range. */
enum { WRITE_GRANULES = 64 };

struct search {
	struct executed *executed;
	uint64_t address, size, before;
	uint32_t thread; /* that is searched */
	struct executed_write best;
};

/* Makes the index of a chunk. */
struct indexing {
	struct executed_chunk *chunk;
	size_t step; /* at work */
};

static uint32_t hash_of(uint64_t granule)
{
	return (uint32_t)((granule * 0x9e3779b97f4a7c15u) >> 32);
}

static bool overlaps(uint64_t a, uint64_t a_size, uint64_t b, uint64_t b_size)
{
	return a < b + b_size && b < a + a_size;
}

static bool note_write(const struct indexing *indexing, uint64_t address,
		       uint64_t size)
{
	struct executed_chunk *chunk = indexing->chunk;
	uint64_t first = address / 8, last = (address + size - 1) / 8;

	if (size == 0)
		return true;
	if (last - first >= WRITE_GRANULES)
		return vec_push(&chunk->ranges,
				&(struct executed_range){ address, size });
	for (uint64_t granule = first; granule <= last; granule++) {
		const struct executed_granule entry = {
			.hash = hash_of(granule),
			.step = (uint32_t)indexing->step,
		};

		if (!vec_push(&chunk->granules, &entry))
			return false;
	}
	return true;
}

/* By hash; of one, the last step comes first. */
static int compare_granules(const void *one, const void *two)
{
	const struct executed_granule *a = one, *b = two;

	if (a->hash != b->hash)
		return a->hash < b->hash ? -1 : 1;
	return (a->step < b->step) - (a->step > b->step);
}

static void sort_granules(struct vec *granules)
{
	struct executed_granule *all = granules->items;
	size_t kept = 0;

	if (granules->count)
		qsort(all, granules->count, granules->size, compare_granules);
	for (size_t i = 0; i < granules->count; i++) {
		if (kept == 0 || all[kept - 1].hash != all[i].hash)
			all[kept++] = all[i];
	}
	granules->count = kept;
}

/* The place + 1 of the last step that may write the granule; 0: none does. */
static size_t find_granule(const struct executed_chunk *chunk, uint32_t hash)
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
	return low < chunk->granules.count && all[low].hash == hash
		       ? all[low].step + (size_t)1
		       : 0;
}

/* The same of any of these bytes; SIZE_MAX: any step may. */
static size_t find_writer(const struct executed_chunk *chunk, uint64_t address,
			  uint64_t size)
{
	size_t ret = 0;

	for (size_t i = 0; i < chunk->ranges.count; i++) {
		const struct executed_range *range = vec_at(&chunk->ranges, i);

		if (overlaps(range->address, range->size, address, size))
			return SIZE_MAX;
	}
	for (uint64_t granule = address / 8;
	     granule <= (address + size - 1) / 8; granule++) {
		size_t writer = find_granule(chunk, hash_of(granule));

		if (writer > ret)
			ret = writer;
	}
	return ret;
}

/* The accesses of a step, for free(3); NULL: out of memory. */
static struct translated_access *accesses_of(const struct executed *executed,
					     const struct unpacked *unpacked,
					     const struct unpacked_step *step,
					     size_t *ret_count)
{
	const struct translated *translated =
		executed_superblock(executed, step->superblock);
	struct translated_access *accesses;

	*ret_count = translated_count(translated, step->exit);
	accesses = malloc((*ret_count + 1) * sizeof(*accesses));
	if (accesses)
		translated_accesses(translated, step->exit,
				    (const uint64_t *)unpacked->words.items +
					    step->words,
				    accesses);
	return accesses;
}

static bool is_write(const struct translated_access *access)
{
	return (access->flags & TRACE_WRITES) && access->done;
}

typedef bool write_visitor(void *context, const struct executed_write *write);

static bool visit_stores(const struct executed *executed,
			 const struct unpacked *unpacked,
			 const struct unpacked_step *step, write_visitor *visit,
			 void *context)
{
	size_t count;
	struct translated_access *accesses =
		accesses_of(executed, unpacked, step, &count);
	bool done = accesses != NULL;

	for (size_t i = 0; done && i < count; i++) {
		if (is_write(&accesses[i]))
			done = visit(context,
				     &(struct executed_write){
					     .kind = EXECUTED_STORE,
					     .number = step->number,
					     .access = i,
					     .address = accesses[i].address,
					     .size = accesses[i].size,
					     .value = accesses[i].value,
					     .has_value =
						     accesses[i].has_value });
	}
	free(accesses);
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
	struct executed_write write = { .number = step->number };

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
static bool visit_step(const struct executed *executed,
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

static struct error *make_index(const struct executed *executed,
				struct executed_chunk *chunk,
				const struct unpacked *unpacked)
{
	struct indexing indexing = { .chunk = chunk };

	if (chunk->indexed)
		return NULL;
	for (; indexing.step < unpacked->steps.count; indexing.step++) {
		if (!visit_step(executed, unpacked, indexing.step, add_to_index,
				&indexing))
			return error_nomem;
	}
	sort_granules(&chunk->granules);
	chunk->indexed = true;
	return NULL;
}

/* The chunk's steps, which stay until others take their place in the cache. */
static struct error *get_unpacked(struct executed *executed,
				  const struct trace_stream *head,
				  const struct unpacked **ret)
{
	size_t oldest = 0;
	struct error *err;

	for (size_t i = 0; i < EXECUTED_CACHE; i++) {
		if (executed->cache[i].head == head) {
			executed->cache[i].used = ++executed->uses;
			*ret = &executed->cache[i].unpacked;
			return NULL;
		}
		if (executed->cache[i].used < executed->cache[oldest].used)
			oldest = i;
	}
	executed->cache[oldest].head = NULL;
	err = executed_unpack(executed, head,
			      &executed->cache[oldest].unpacked);
	if (err)
		return err;
	executed->cache[oldest].head = head;
	executed->cache[oldest].used = ++executed->uses;
	*ret = &executed->cache[oldest].unpacked;
	return NULL;
}

/*
 * An event has the number of the last step of all threads: it came after the store
 * of another thread that has the same.
 */
static bool take_is_later(const struct search *search,
			  const struct executed_write *write)
{
	const struct executed_write *best = &search->best;

	if (write->number != best->number)
		return write->number > best->number;
	return write->kind != EXECUTED_STORE || best->kind == EXECUTED_STORE ||
	       best->thread == search->thread;
}

/* Of one step, the last of its writes that fits. */
static bool take_write(void *context, const struct executed_write *write)
{
	struct search *search = context;

	if (overlaps(write->address, write->size, search->address,
		     search->size) &&
	    take_is_later(search, write)) {
		search->best = *write;
		search->best.thread = search->thread;
	}
	return true;
}

/* Those before `end'. */
static struct error *search_steps(struct search *search,
				  const struct unpacked *unpacked, size_t end)
{
	if (end > unpacked->steps.count)
		end = unpacked->steps.count;
	for (size_t i = end; i-- > 0;) {
		const struct unpacked_step *step = vec_at(&unpacked->steps, i);
		uint64_t best = search->best.number;

		/* an event comes before the step after the number that it has */
		if (step->number >= search->before)
			continue;
		if (step->number < best)
			return NULL;
		if (!visit_step(search->executed, unpacked, i, take_write,
				search))
			return error_nomem;
		if (search->best.number > best)
			return NULL;
	}
	return NULL;
}

static struct error *search_chunk(struct search *search,
				  struct executed_chunk *chunk)
{
	const struct unpacked *unpacked;
	struct error *err = NULL;

	if (chunk->indexed &&
	    find_writer(chunk, search->address, search->size) == 0)
		return NULL;
	err = get_unpacked(search->executed, chunk->head, &unpacked);
	if (!err)
		err = make_index(search->executed, chunk, unpacked);
	return err ? err
		   : search_steps(search, unpacked,
				  find_writer(chunk, search->address,
					      search->size));
}

static struct error *search_thread(struct search *search,
				   struct executed_thread *thread)
{
	struct error *err = NULL;

	search->thread = thread->id;
	for (size_t i = thread->chunks.count; !err && i-- > 0;) {
		struct executed_chunk *chunk = vec_at(&thread->chunks, i);

		if (chunk->head->first >= search->before)
			continue;
		/* what it has found is later than all of these */
		if (chunk->head->last < search->best.number)
			break;
		err = search_chunk(search, chunk);
	}
	return err;
}

struct error *executed_last_write(struct executed *executed, uint64_t address,
				  uint64_t size, uint64_t before,
				  struct executed_write *ret)
{
	struct search search = { .executed = executed,
				 .address = address,
				 .size = size,
				 .before = before };
	struct error *err = NULL;

	memset(ret, 0, sizeof(*ret));
	for (size_t i = 0; !err && size > 0 && i < executed->threads.count; i++)
		err = search_thread(&search, vec_at(&executed->threads, i));
	if (!err)
		*ret = search.best;
	return err;
}
