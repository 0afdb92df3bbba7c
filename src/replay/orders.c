/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Schedules; see orders.h.
 */
#include "replay/orders.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "replay/processor-parts.h"
#include "replay/schedule-parts.h"
#include "sys/mapping.h"
#include "sys/memory.h"

const struct replay_step orders_ab[ORDERS_WHOLE_STEPS] = {
	{ .thread = 0, .extent = REPLAY_REST },
	{ .thread = 1, .extent = REPLAY_REST },
};
const struct replay_step orders_ba[ORDERS_WHOLE_STEPS] = {
	{ .thread = 1, .extent = REPLAY_REST },
	{ .thread = 0, .extent = REPLAY_REST },
};

void outcome_init(struct replay_outcome *outcome)
{
	memset(outcome, 0, sizeof(*outcome));
	outcome->pages.size = sizeof(struct outcome_page);
}

void outcome_deinit(struct replay_outcome *outcome)
{
	vec_deinit(&outcome->pages);
}

bool outcome_copy(const struct replay_outcome *outcome,
		  struct replay_outcome *ret)
{
	struct vec pages = ret->pages;

	vec_clear(&pages);
	*ret = *outcome;
	ret->pages = pages;
	for (size_t i = 0; i < outcome->pages.count; i++) {
		if (!vec_push(&ret->pages, vec_at(&outcome->pages, i)))
			return false;
	}
	return true;
}

const struct outcome_page *outcome_page(const struct replay_outcome *outcome,
					int space, uint64_t address)
{
	for (size_t i = 0; i < outcome->pages.count; i++) {
		const struct outcome_page *page = vec_at(&outcome->pages, i);

		if (page->space == space && page->address == address)
			return page;
	}
	return NULL;
}

/* What it led to rests on a page of another time. */
static void orders_learn(const struct processor *processor,
			 struct replay_outcome *ret)
{
	if (!processor->missed || processor->guesses)
		return;
	ret->complete = false;
	ret->stop = (struct replay_stop){ .kind = REPLAY_LEARNING,
					  .has_address = true,
					  .address = processor->missed };
}

/* The pages that may have been written, as they are in the scratch process. */
struct orders_written {
	struct cached_page **originals;
	struct memory_page *pages;
	uint8_t *bytes;
	size_t count;
};

static void written_deinit(struct orders_written *written)
{
	free(written->originals);
	free(written->pages);
	free(written->bytes);
}

static bool written_init(struct orders_written *written, size_t most)
{
	/* for at least one: calloc(0) may be NULL */
	*written = (struct orders_written){
		.originals = calloc(most + 1, sizeof(struct cached_page *)),
		.pages = calloc(most + 1, sizeof(struct memory_page)),
		.bytes = malloc((most + 1) * REPLAY_PAGE),
	};
	return written->originals && written->pages && written->bytes;
}

/* Its code may have, or the other process's if both have the page. */
static bool written_may_be(const struct cached_page *page)
{
	return page->access & MAPPING_WRITE ||
	       (page->twin && page->twin->access & MAPPING_WRITE);
}

static void written_find(struct orders_written *written,
			 const struct space *space)
{
	for (size_t i = 0; i < space->cache.used; i++) {
		struct cached_page *page =
			*(struct cached_page **)vec_at(&space->cache.pages, i);

		if (!written_may_be(page) ||
		    !scratch_is_installed(space->scratch, page->address))
			continue;
		written->originals[written->count] = page;
		written->pages[written->count] = (struct memory_page){
			.address = page->address,
			.bytes = written->bytes + written->count * REPLAY_PAGE,
		};
		written->count++;
	}
}

/* Our int3s are no change. */
static void written_hide_ends(const struct processor *processor, int space,
			      const struct cached_page *original,
			      uint8_t *bytes)
{
	for (int i = 0; i < REPLAY_ENDS; i++) {
		uint64_t end = processor->ends[i].address;
		uint64_t offset = end - original->address;

		if (offset < REPLAY_PAGE &&
		    processor_has_end(processor, space, end))
			bytes[offset] = original->bytes[offset];
	}
}

/* What both have is known as the first one's, whoever has it installed. */
static bool orders_add_page(const struct processor *processor, int space,
			    const struct cached_page *original,
			    const uint8_t *now, struct replay_outcome *ret)
{
	uint64_t address = original->address;
	struct outcome_page *page;

	space_canonical(processor, &space, &address);
	if (outcome_page(ret, space, address))
		return true;
	page = vec_append(&ret->pages);
	if (!page)
		return false;
	page->space = space;
	page->address = address;
	memcpy(page->bytes, now, REPLAY_PAGE);
	return true;
}

/* Keep what it is now, and make it again what it was. */
static struct error *orders_take_page(struct processor *processor, int space,
				      const struct cached_page *original,
				      const struct memory_page *now,
				      struct replay_outcome *ret)
{
	if (!now->read)
		return error_create(ERROR_OTHER,
				    "a page of the scratch process is lost");
	written_hide_ends(processor, space, original, now->bytes);
	if (memcmp(original->bytes, now->bytes, REPLAY_PAGE) == 0)
		return NULL;
	if (!orders_add_page(processor, space, original, now->bytes, ret))
		return error_nomem;
	return processor_restore(processor, space, original);
}

static struct error *orders_take_space(struct processor *processor, int number,
				       struct replay_outcome *ret)
{
	const struct space *space = &processor->spaces[number];
	struct orders_written written;
	struct error *err = NULL;

	if (!written_init(&written, space->cache.used)) {
		written_deinit(&written);
		return error_nomem;
	}
	written_find(&written, space);
	memory_read_pages(scratch_memory(space->scratch), written.pages,
			  written.count);
	for (size_t i = 0; i < written.count && !err; i++)
		err = orders_take_page(processor, number, written.originals[i],
				       &written.pages[i], ret);
	written_deinit(&written);
	return err;
}

/* Of both processes: first each knows what the other has written last. */
static struct error *orders_take(struct processor *processor,
				 struct replay_outcome *ret)
{
	struct error *err = NULL;

	if (!processor->instance.two)
		return orders_take_space(processor, 0, ret);
	for (int i = 0; i < REPLAY_SPACES && !err; i++)
		err = processor_enter(processor, i);
	for (int i = 0; i < REPLAY_SPACES && !err; i++)
		err = orders_take_space(processor, i, ret);
	return err;
}

struct error *orders_run(struct processor *processor,
			 const struct replay_step *steps, size_t count,
			 struct replay_outcome *ret)
{
	struct error *err = processor_prepare(processor);

	if (err)
		return err;
	vec_clear(&ret->pages);
	ret->complete = false;
	for (int i = 0; i < REPLAY_THREADS; i++) {
		ret->contexts[i] = processor->starts[i];
		processor->begun[i] = false;
	}
	err = schedule_run(processor, steps, count, ret);
	/* region_run() has ended the instance then */
	if (err)
		return err;
	orders_learn(processor, ret);
	return processor_fail(processor, orders_take(processor, ret));
}

/* The bytes of a page in the cache of the space. */
static const uint8_t *outcome_bytes(const struct replay_outcome *outcome,
				    const struct processor *processor,
				    int space, uint64_t address)
{
	const struct cached_page *cached =
		pagecache_find(&processor->spaces[space].cache, address);
	const struct outcome_page *page;

	if (!cached)
		return NULL;
	space_canonical(processor, &space, &address);
	page = outcome_page(outcome, space, address);
	return page ? page->bytes : cached->bytes;
}

bool outcome_read(const struct replay_outcome *outcome,
		  const struct processor *processor, int space,
		  uint64_t address, void *bytes, size_t size)
{
	for (size_t done = 0, chunk; done < size; done += chunk) {
		uint64_t page = replay_page_of(address + done);
		size_t offset = (size_t)(address + done - page);
		const uint8_t *from =
			outcome_bytes(outcome, processor, space, page);

		if (!from)
			return false;
		chunk = REPLAY_PAGE - offset;
		if (chunk > size - done)
			chunk = size - done;
		memcpy((char *)bytes + done, from + offset, chunk);
	}
	return true;
}
