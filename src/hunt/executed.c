/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The index of what was executed, and cursors; see executed.h.
 */
#include "hunt/executed.h"

#include <stdlib.h>

#include "base/error.h"
#include "hunt/executed-parts.h"
#include "hunt/recording.h"
#include "hunt/trace-events.h"

static struct error *wrong(const struct executed *executed, const void *at,
			   const char *what)
{
	const struct trace_file *file = &executed->recording->file;

	return error_create(ERROR_FORMAT, "%s: byte %zu: %s", file->path,
			    (size_t)((const unsigned char *)at - file->bytes) -
				    sizeof(struct trace_chunk),
			    what);
}

struct executed_thread *executed_thread(const struct executed *executed,
					uint32_t id)
{
	const uint64_t *place = map_get(&executed->thread_ids, id);

	return place ? vec_at(&executed->threads, *place) : NULL;
}

static struct executed_thread *add_thread(struct executed *executed,
					  uint32_t id)
{
	struct executed_thread *thread = executed_thread(executed, id);

	if (thread)
		return thread;
	if (!map_set(&executed->thread_ids, id, executed->threads.count))
		return NULL;
	thread = vec_append(&executed->threads);
	if (!thread)
		return NULL;
	thread->id = id;
	thread->chunks.size = sizeof(struct executed_chunk);
	executed->totals.threads++;
	return thread;
}

static bool add_superblock(struct executed *executed,
			   const struct translated *translated)
{
	uint32_t id = translated->head->id;

	if (id >= EXECUTED_SMALL_IDS)
		return map_set(&executed->superblock_ids, id,
			       executed->superblocks.count) &&
		       vec_push(&executed->superblocks, translated);
	while (executed->places.count <= id) {
		if (!vec_append(&executed->places))
			return false;
	}
	if (!vec_push(&executed->superblocks, translated))
		return false;
	*(uint32_t *)vec_at(&executed->places, id) =
		(uint32_t)executed->superblocks.count;
	return true;
}

static struct error *take_superblock(struct executed *executed,
				     const struct trace_item *item)
{
	struct translated translated;

	if (!translated_read(item, &translated))
		return wrong(executed, item->payload,
			     "the superblock contradicts itself");
	if (executed_superblock(executed, translated.head->id))
		return NULL;
	executed->totals.superblocks++;
	executed->totals.partial |= translated.head->cut != 0;
	return add_superblock(executed, &translated) ? NULL : error_nomem;
}

static struct error *take_stream(struct executed *executed,
				 const struct trace_item *item)
{
	const struct trace_stream *head = item->payload;
	struct executed_thread *thread;
	struct executed_chunk *chunk, *last = NULL;

	if (head->version != TRACE_STREAM_VERSION)
		return error_create(ERROR_FORMAT,
				    "%s: steps of version %u, not %d",
				    executed->recording->file.path,
				    head->version, TRACE_STREAM_VERSION);
	if (!recording_thread(executed->recording, head->thread))
		return wrong(executed, head, "the thread is not known");
	thread = add_thread(executed, head->thread);
	if (!thread)
		return error_nomem;
	if (thread->chunks.count)
		last = vec_at(&thread->chunks, thread->chunks.count - 1);
	if (head->first == 0 || head->last < head->first - 1 ||
	    (last && last->head->last >= head->first))
		return wrong(executed, head, "the steps are not in order");
	chunk = vec_append(&thread->chunks);
	if (!chunk)
		return error_nomem;
	chunk->head = head;
	chunk->granules.size = sizeof(struct executed_granule);
	chunk->ranges.size = sizeof(struct executed_range);
	executed->totals.steps += head->steps;
	executed->totals.instructions += head->instructions;
	executed->totals.bytes += head->size;
	return NULL;
}

/* What was dropped until then: a thread has several before it executes a program. */
static void take_end(struct executed *executed,
		     const struct trace_stream_end *end)
{
	struct executed_thread *thread = executed_thread(executed, end->thread);

	executed->totals.dropped += end->dropped;
	if (!thread)
		return;
	executed->totals.dropped -= thread->dropped;
	thread->dropped = end->dropped;
}

static struct error *take_channel(struct executed *executed,
				  const struct trace_channel *channel)
{
	return map_set(&executed->channel_ids, channel->id,
		       executed->channels.count) &&
			       vec_push(&executed->channels, &channel)
		       ? NULL
		       : error_nomem;
}

static struct error *read_all(struct executed *executed)
{
	struct trace_file file = executed->recording->file;
	const struct trace_stream_end *end;
	struct trace_item item;
	struct error *err;

	trace_file_rewind(&file);
	do {
		err = trace_file_next(&file, &item);
		if (err || !item.payload)
			return err;
		switch (item.type) {
		case TRACE_SUPERBLOCK:
			err = take_superblock(executed, &item);
			break;
		case TRACE_STREAM:
			err = take_stream(executed, &item);
			break;
		case TRACE_CHANNEL:
			err = take_channel(executed, item.payload);
			break;
		case TRACE_STREAM_END:
			end = item.payload;
			take_end(executed, end);
			break;
		default:
			break;
		}
	} while (!err);
	return err;
}

struct error *executed_create(const struct recording *recording,
			      struct executed **ret)
{
	struct executed *executed = calloc(1, sizeof(*executed));
	struct error *err;

	if (!executed)
		return error_nomem;
	executed->recording = recording;
	executed->places.size = sizeof(uint32_t);
	executed->superblocks.size = sizeof(struct translated);
	executed->threads.size = sizeof(struct executed_thread);
	executed->channels.size = sizeof(const struct trace_channel *);
	executed->by_last.size = sizeof(struct executed_chunk *);
	executed->results.size = sizeof(struct executed_result);
	for (size_t i = 0; i < EXECUTED_CACHE; i++)
		executed->cache[i].writers.size =
			sizeof(struct executed_writer);
	executed->totals.cut = recording->cut;
	err = read_all(executed);
	if (err)
		executed_destroy(executed);
	else
		*ret = executed;
	return err;
}

static void free_thread(struct executed_thread *thread)
{
	for (size_t i = 0; i < thread->chunks.count; i++) {
		struct executed_chunk *chunk = vec_at(&thread->chunks, i);

		vec_deinit(&chunk->granules);
		vec_deinit(&chunk->ranges);
	}
	vec_deinit(&thread->chunks);
}

void executed_destroy(struct executed *executed)
{
	if (!executed)
		return;
	for (size_t i = 0; i < executed->threads.count; i++)
		free_thread(vec_at(&executed->threads, i));
	for (size_t i = 0; i < EXECUTED_CACHE; i++) {
		unpacked_deinit(&executed->cache[i].unpacked);
		vec_deinit(&executed->cache[i].writers);
	}
	vec_deinit(&executed->by_last);
	vec_deinit(&executed->results);
	map_deinit(&executed->known);
	free(executed->accesses);
	free(executed->sorting);
	vec_deinit(&executed->moves.all);
	vec_deinit(&executed->moves.parts);
	vec_deinit(&executed->moves.sent);
	vec_deinit(&executed->threads);
	vec_deinit(&executed->channels);
	map_deinit(&executed->channel_ids);
	vec_deinit(&executed->superblocks);
	map_deinit(&executed->thread_ids);
	map_deinit(&executed->superblock_ids);
	vec_deinit(&executed->places);
	free(executed);
}

const struct executed_totals *executed_totals(const struct executed *executed)
{
	return &executed->totals;
}

const struct translated *executed_superblock(const struct executed *executed,
					     uint32_t id)
{
	const uint64_t *place;
	uint32_t small;

	if (id >= EXECUTED_SMALL_IDS) {
		place = map_get(&executed->superblock_ids, id);
		return place ? vec_at(&executed->superblocks, *place) : NULL;
	}
	if (id >= executed->places.count)
		return NULL;
	small = ((const uint32_t *)executed->places.items)[id];
	return small ? vec_at(&executed->superblocks, small - 1) : NULL;
}

static int count_words(const void *codes, uint32_t superblock, uint32_t exit)
{
	const struct translated *translated =
		executed_superblock(codes, superblock);

	return translated && exit < translated->head->exits
		       ? translated->exits[exit].words
		       : -1;
}

struct error *executed_unpack(const struct executed *executed,
			      const struct trace_stream *head,
			      struct unpacked *ret)
{
	const struct unpack_codes codes = { count_words, executed };
	bool is_wrong;

	if (unpack(head, &codes, ret, &is_wrong))
		return NULL;
	return is_wrong ? wrong(executed, head, "the steps cannot be unpacked")
			: error_nomem;
}

void executed_cursor_deinit(struct executed_cursor *cursor)
{
	unpacked_deinit(&cursor->unpacked);
}

static const struct trace_stream *head_at(const struct executed_thread *thread,
					  size_t i)
{
	return ((const struct executed_chunk *)vec_at(&thread->chunks, i))
		->head;
}

/* The last chunk that begins at or before that step; count: none. */
static size_t find_chunk(const struct executed_thread *thread, uint64_t number)
{
	size_t low = 0, high = thread->chunks.count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (head_at(thread, middle)->first <= number)
			low = middle + 1;
		else
			high = middle;
	}
	return low > 0 ? low - 1 : thread->chunks.count;
}

/* The last step at or before that one; count: none. */
static size_t find_step(const struct unpacked *unpacked, uint64_t number)
{
	size_t low = 0, high = unpacked->steps.count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		const struct unpacked_step *step =
			vec_at(&unpacked->steps, middle);

		if (step->number <= number)
			low = middle + 1;
		else
			high = middle;
	}
	/* events have the number of the step that they follow */
	while (low > 0 &&
	       ((const struct unpacked_step *)vec_at(&unpacked->steps, low - 1))
			       ->superblock == 0)
		low--;
	return low > 0 ? low - 1 : unpacked->steps.count;
}

static struct error *to_chunk(struct executed_cursor *cursor, size_t chunk)
{
	const struct executed_thread *thread =
		executed_thread(cursor->executed, cursor->thread);

	cursor->chunk = chunk;
	return executed_unpack(cursor->executed, head_at(thread, chunk),
			       &cursor->unpacked);
}

struct error *executed_seek(struct executed *executed, uint32_t thread,
			    uint64_t number, struct executed_cursor *ret,
			    bool *ret_found)
{
	const struct executed_thread *of = executed_thread(executed, thread);
	struct error *err;
	size_t chunk;

	*ret = (struct executed_cursor){ .executed = executed,
					 .thread = thread };
	*ret_found = false;
	if (!of)
		return NULL;
	chunk = find_chunk(of, number);
	if (chunk == of->chunks.count)
		return NULL;
	err = executed_unpack(executed, head_at(of, chunk), &ret->unpacked);
	if (err)
		return err;
	ret->chunk = chunk;
	ret->step = find_step(&ret->unpacked, number);
	/* a chunk may begin with events, which follow a step of the one before */
	while (ret->step == ret->unpacked.steps.count && ret->chunk > 0) {
		err = to_chunk(ret, ret->chunk - 1);
		if (err)
			return err;
		ret->step = find_step(&ret->unpacked, number);
	}
	*ret_found = ret->step < ret->unpacked.steps.count;
	return NULL;
}

const struct unpacked_step *executed_step(const struct executed_cursor *cursor)
{
	return vec_at(&cursor->unpacked.steps, cursor->step);
}

const uint64_t *executed_words(const struct executed_cursor *cursor)
{
	return (const uint64_t *)cursor->unpacked.words.items +
	       executed_step(cursor)->words;
}

struct error *executed_previous(struct executed_cursor *cursor, bool *ret_moved)
{
	struct error *err;

	*ret_moved = cursor->step > 0 || cursor->chunk > 0;
	if (cursor->step > 0) {
		cursor->step--;
		return NULL;
	}
	if (!*ret_moved)
		return NULL;
	err = to_chunk(cursor, cursor->chunk - 1);
	cursor->step = cursor->unpacked.steps.count - 1;
	return err;
}

struct error *executed_next(struct executed_cursor *cursor, bool *ret_moved)
{
	const struct executed_thread *thread =
		executed_thread(cursor->executed, cursor->thread);

	*ret_moved = true;
	if (cursor->step + 1 < cursor->unpacked.steps.count) {
		cursor->step++;
		return NULL;
	}
	*ret_moved = cursor->chunk + 1 < thread->chunks.count;
	if (!*ret_moved)
		return NULL;
	cursor->step = 0;
	return to_chunk(cursor, cursor->chunk + 1);
}
