/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The virtual processor; see processor.h.
 */
#include "replay/processor-parts.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "replay/likely.h"

enum {
	INT3 = 0xcc,
	/* of a stack whose end is not known: so much is dead */
	DEAD_SIZE = 65536,
	RETURN_ADDRESS_SIZE = 8,
};

struct error *processor_create(enum scratch_way way, struct processor **ret)
{
	struct processor *processor = calloc(1, sizeof(*processor));
	struct error *err;

	if (!processor)
		return error_nomem;
	processor->way = way;
	pagecache_init(&processor->cache);
	err = scratch_create(way, &processor->scratch);
	if (err) {
		processor_destroy(processor);
		return err;
	}
	*ret = processor;
	return NULL;
}

void processor_destroy(struct processor *processor)
{
	if (!processor)
		return;
	scratch_destroy(processor->scratch);
	pagecache_deinit(&processor->cache);
	free(processor);
}

static struct error *processor_capture_threads(struct processor *processor)
{
	const struct replay_instance *instance = &processor->instance;
	struct likely likely = { .count = 0 };
	struct error *err = NULL;

	for (int i = 0; i < REPLAY_THREADS && !err; i++) {
		err = replay_context_read(instance->threads[i].tid,
					  &processor->starts[i]);
		if (!err)
			likely_add_thread(&likely, &processor->starts[i].regs,
					  instance->threads[i].return_slot);
	}
	if (err)
		return err;
	likely_add_hints(&likely, instance->hints);
	return pagecache_fetch(&processor->cache, &instance->source,
			       likely.pages, likely.count);
}

static struct error *processor_find_ends(struct processor *processor)
{
	for (int i = 0; i < REPLAY_THREADS; i++) {
		uint64_t slot = processor->instance.threads[i].return_slot;
		struct region_end *end = &processor->ends[i];

		if (!pagecache_read(&processor->cache, slot, &end->address,
				    RETURN_ADDRESS_SIZE))
			return error_create(
				ERROR_OTHER,
				"the stack of thread %d cannot be read",
				(int)processor->instance.threads[i].tid);
		end->rsp = slot + RETURN_ADDRESS_SIZE;
	}
	return NULL;
}

struct error *processor_capture(struct processor *processor,
				const struct replay_instance *instance)
{
	struct error *err;

	processor->captured = processor->prepared = processor->gone = false;
	processor->instance = *instance;
	processor->missed = 0;
	pagecache_clear(&processor->cache);
	err = processor_capture_threads(processor);
	if (!err)
		err = processor_find_ends(processor);
	processor->captured = !err;
	return err;
}

struct error *processor_fail(struct processor *processor, struct error *err)
{
	if (!err)
		return NULL;
	scratch_destroy(processor->scratch);
	processor->scratch = NULL;
	processor->captured = processor->prepared = false;
	if (err == error_gone && !processor->gone)
		err = error_create(ERROR_OTHER,
				   "the scratch process was ended");
	return err;
}

struct error *processor_prepare(struct processor *processor)
{
	struct error *err;

	if (processor->prepared)
		return NULL;
	if (!processor->captured)
		return error_create(ERROR_OTHER, "nothing was captured");
	if (processor->scratch)
		err = scratch_reset(processor->scratch);
	else
		err = scratch_create(processor->way, &processor->scratch);
	processor->prepared = !err;
	return processor_fail(processor, err);
}

bool processor_has_end(const struct processor *processor, uint64_t address)
{
	for (int i = 0; i < REPLAY_THREADS; i++) {
		if (processor->ends[i].address == address)
			return true;
	}
	return false;
}

/* The page as it is to be in the scratch process, with our int3s. */
static void processor_fill(const struct processor *processor,
			   const struct cached_page *page, uint8_t *bytes)
{
	memcpy(bytes, page->bytes, REPLAY_PAGE);
	for (int i = 0; i < REPLAY_THREADS; i++) {
		uint64_t offset = processor->ends[i].address - page->address;

		if (offset < REPLAY_PAGE)
			bytes[offset] = INT3;
	}
}

struct error *processor_install(struct processor *processor,
				const struct cached_page *page)
{
	uint8_t bytes[REPLAY_PAGE];

	processor_fill(processor, page, bytes);
	return scratch_install(processor->scratch, page->address, bytes,
			       page->access);
}

struct error *processor_restore(struct processor *processor,
				const struct cached_page *page)
{
	uint8_t bytes[REPLAY_PAGE];

	processor_fill(processor, page, bytes);
	return scratch_poke(processor->scratch, page->address, bytes,
			    sizeof(bytes));
}

bool replay_is_dead(const struct replay_thread *thread, uint64_t rsp,
		    uint64_t address)
{
	uint64_t low = thread->stack_low;

	if (low == 0)
		low = rsp > DEAD_SIZE ? rsp - DEAD_SIZE : 0;
	return address >= low && address < rsp;
}

const struct replay_context *processor_start(const struct processor *processor,
					     int thread)
{
	return &processor->starts[thread];
}

const struct pagecache *processor_pages(const struct processor *processor)
{
	return &processor->cache;
}

const struct scratch *processor_scratch(const struct processor *processor)
{
	return processor->scratch;
}
