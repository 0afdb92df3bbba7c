/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How far back a window reaches; see transfer-window.h. */
#include "hunt/transfer-window.h"

#include <stddef.h>

#include "hunt/executed-parts.h"

/* A place in what a thread has executed: bytes of one of its chunks. */
struct place {
	struct executed_chunk *chunk;
	uint64_t bytes; /* of it, from its start */
};

/* How many of the chunk's steps and events come before that one. */
static size_t count_before(const struct executed_open *open, uint64_t number)
{
	const struct vec *steps = &open->unpacked.steps;
	size_t low = 0, high = steps->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		const struct unpacked_step *step = vec_at(steps, middle);

		if (step->number < number)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* How many of the chunk's bytes are of steps before that one. */
static struct error *bytes_before(struct executed *executed,
				  struct executed_chunk *chunk, uint64_t number,
				  uint64_t *ret)
{
	const struct executed_open *open;
	struct error *err;

	*ret = chunk->head->last < number ? chunk->head->size : 0;
	if (chunk->head->last < number || chunk->head->first >= number)
		return NULL;
	err = executed_open(executed, chunk, &open);
	if (!err && open->unpacked.steps.count > 0)
		*ret = chunk->head->size * count_before(open, number) /
		       open->unpacked.steps.count;
	return err;
}

/*
 * Find the place that is `bytes' bytes before step `now'. ret->chunk is NULL if the
 * thread has executed fewer bytes than that.
 */
static struct error *go_back(struct executed *executed,
			     const struct executed_thread *thread,
			     uint64_t bytes, uint64_t now, struct place *ret)
{
	struct error *err = NULL;

	*ret = (struct place){ .chunk = NULL };
	for (size_t i = thread->chunks.count; !err && i-- > 0;) {
		struct executed_chunk *chunk = vec_at(&thread->chunks, i);
		uint64_t before;

		err = bytes_before(executed, chunk, now, &before);
		if (!err && before > bytes) {
			*ret = (struct place){ chunk, before - bytes };
			return NULL;
		}
		bytes -= before;
	}
	return err;
}

/* The first step of which all bytes come behind the place. */
static struct error *step_from(struct executed *executed,
			       const struct place *place, uint64_t *ret)
{
	const uint64_t size = place->chunk->head->size;
	const struct executed_open *open;
	const struct unpacked_step *step;
	size_t count, i;
	struct error *err = executed_open(executed, place->chunk, &open);

	if (err)
		return err;
	count = open->unpacked.steps.count;
	i = (size_t)((place->bytes * count + size - 1) / size);
	*ret = place->chunk->head->last + 1;
	if (i >= count)
		return NULL;
	step = vec_at(&open->unpacked.steps, i);
	/* an event has the number of the step before it, which is cut off */
	*ret = step->number + (step->superblock == 0);
	return NULL;
}

static struct error *since_of(struct executed *executed,
			      const struct executed_thread *thread,
			      uint64_t bytes, uint64_t now, uint64_t *ret)
{
	struct place place;
	struct error *err = go_back(executed, thread, bytes, now, &place);

	*ret = 0;
	return err || !place.chunk ? err : step_from(executed, &place, ret);
}

struct error *transfer_window_of(struct executed *executed, uint32_t thread,
				 uint64_t bytes, uint64_t now, uint64_t *ret)
{
	const struct executed_thread *of = executed_thread(executed, thread);

	*ret = 0;
	return bytes > 0 && of ? since_of(executed, of, bytes, now, ret) : NULL;
}

struct error *transfer_window_since(struct executed *executed, uint64_t bytes,
				    uint64_t now, uint64_t *ret)
{
	const struct vec *threads = &executed->threads;
	struct error *err = NULL;

	*ret = 0;
	for (size_t i = 0; bytes > 0 && !err && i < threads->count; i++) {
		uint64_t since;

		err = since_of(executed, vec_at(threads, i), bytes, now,
			       &since);
		if (!err && since > *ret)
			*ret = since;
	}
	return err;
}
