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

/* What it led to rests on a page of another time. */
static void orders_learn(const struct processor *processor,
			 struct replay_outcome *ret)
{
	if (!processor->missed)
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

static void written_find(struct orders_written *written,
			 const struct processor *processor)
{
	for (size_t i = 0; i < processor->cache.used; i++) {
		struct cached_page *page = *(struct cached_page **)vec_at(
			&processor->cache.pages, i);

		if (!(page->access & MAPPING_WRITE) ||
		    !scratch_is_installed(processor->scratch, page->address))
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
static void written_hide_ends(const struct processor *processor,
			      const struct cached_page *original,
			      uint8_t *bytes)
{
	for (int i = 0; i < REPLAY_ENDS; i++) {
		uint64_t offset =
			processor->ends[i].address - original->address;

		if (offset < REPLAY_PAGE)
			bytes[offset] = original->bytes[offset];
	}
}

/* Keep what it is now, and make it again what it was. */
static struct error *orders_take_page(struct processor *processor,
				      const struct cached_page *original,
				      const struct memory_page *now,
				      struct replay_outcome *ret)
{
	struct outcome_page *page;

	if (!now->read)
		return error_create(ERROR_OTHER,
				    "a page of the scratch process is lost");
	written_hide_ends(processor, original, now->bytes);
	if (memcmp(original->bytes, now->bytes, REPLAY_PAGE) == 0)
		return NULL;
	page = vec_append(&ret->pages);
	if (!page)
		return error_nomem;
	page->address = original->address;
	memcpy(page->bytes, now->bytes, REPLAY_PAGE);
	return processor_restore(processor, original);
}

static struct error *orders_take(struct processor *processor,
				 struct replay_outcome *ret)
{
	struct orders_written written;
	struct error *err = NULL;

	if (!written_init(&written, processor->cache.used)) {
		written_deinit(&written);
		return error_nomem;
	}
	written_find(&written, processor);
	memory_read_pages(scratch_memory(processor->scratch), written.pages,
			  written.count);
	for (size_t i = 0; i < written.count && !err; i++)
		err = orders_take_page(processor, written.originals[i],
				       &written.pages[i], ret);
	written_deinit(&written);
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

bool outcome_read(const struct replay_outcome *outcome,
		  const struct pagecache *pages, uint64_t address, void *bytes,
		  size_t size)
{
	if (!pagecache_read(pages, address, bytes, size))
		return false;
	for (size_t i = 0; i < outcome->pages.count; i++) {
		const struct outcome_page *page = vec_at(&outcome->pages, i);

		for (size_t j = 0; j < size; j++) {
			uint64_t offset = address + j - page->address;

			if (offset < REPLAY_PAGE)
				((uint8_t *)bytes)[j] = page->bytes[offset];
		}
	}
	return true;
}
