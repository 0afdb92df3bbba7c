/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The virtual processor; see processor.h.
 */
#include "replay/processor-parts.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "sys/mapping.h"
#include "x86/decode.h"

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
	processor->hazards = (struct vec)VEC_INIT(struct hazard);
	pagecache_init(&processor->cache);
	err = decoder_create(&processor->decoder);
	if (!err)
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
	decoder_destroy(processor->decoder);
	vec_deinit(&processor->hazards);
	pagecache_deinit(&processor->cache);
	free(processor);
}

static struct error *processor_add_pages(struct processor *processor,
					 const struct replay_capture *capture)
{
	struct error *err = NULL;

	for (size_t i = 0; i < capture->count && !err; i++)
		err = pagecache_add(&processor->cache,
				    &processor->instance.source,
				    capture->addresses[i], capture->pages[i]);
	return err;
}

/*
 * It was not captured, and is of another time: enough to run the code, and to
 * see what else is missed.
 */
static struct error *processor_read_slot(struct processor *processor,
					 uint64_t slot)
{
	const uint64_t pages[] = {
		replay_page_of(slot),
		replay_page_of(slot + RETURN_ADDRESS_SIZE - 1),
	};

	for (int i = 0; i < 2; i++) {
		if (!pagecache_find(&processor->cache, pages[i]))
			replay_hints_add(processor->instance.hints, pages[i]);
	}
	processor->missed = slot;
	return pagecache_fetch(&processor->cache, &processor->instance.source,
			       pages, 2);
}

static struct error *processor_find_end(struct processor *processor,
					uint64_t slot, struct region_end *end)
{
	struct error *err;

	end->rsp = slot + RETURN_ADDRESS_SIZE;
	if (pagecache_read(&processor->cache, slot, &end->address,
			   RETURN_ADDRESS_SIZE))
		return NULL;
	err = processor_read_slot(processor, slot);
	if (!err && !pagecache_read(&processor->cache, slot, &end->address,
				    RETURN_ADDRESS_SIZE))
		err = error_create(ERROR_OTHER,
				   "the stack of a thread cannot be read");
	return err;
}

struct error *processor_load(struct processor *processor,
			     const struct replay_capture *capture,
			     const struct replay_instance *instance)
{
	struct error *err;

	processor->captured = processor->prepared = processor->gone = false;
	processor->instance = *instance;
	processor->missed = 0;
	processor->futex_count = 0;
	vec_clear(&processor->hazards);
	memset(processor->accesses, 0, sizeof(processor->accesses));
	memset(processor->ends, 0, sizeof(processor->ends));
	pagecache_clear(&processor->cache);
	err = processor_add_pages(processor, capture);
	for (int i = 0; i < REPLAY_THREADS && !err; i++) {
		processor->starts[i] = capture->threads[i];
		err = processor_find_end(processor,
					 instance->threads[i].return_slot,
					 &processor->ends[i]);
	}
	processor->captured = !err;
	return err;
}

uint64_t processor_cpu_ns(const struct processor *processor)
{
	uint64_t now = 0;

	/* of one that has just been killed it is not known */
	if (processor->scratch)
		error_free(scratch_cpu(processor->scratch, &now));
	return processor->ended_cpu_ns + now;
}

struct error *processor_fail(struct processor *processor, struct error *err)
{
	if (!err)
		return NULL;
	processor->ended_cpu_ns = processor_cpu_ns(processor);
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
	for (int i = 0; i < REPLAY_ENDS; i++) {
		if (address != 0 && processor->ends[i].address == address)
			return true;
	}
	return false;
}

/* The page as it is to be in the scratch process, with our int3s. */
static void processor_fill(const struct processor *processor,
			   const struct cached_page *page, uint8_t *bytes)
{
	memcpy(bytes, page->bytes, REPLAY_PAGE);
	for (int i = 0; i < REPLAY_ENDS; i++) {
		uint64_t offset = processor->ends[i].address - page->address;

		if (offset < REPLAY_PAGE)
			bytes[offset] = INT3;
	}
	for (size_t i = 0; i < processor->hazards.count; i++) {
		const struct hazard *hazard = vec_at(&processor->hazards, i);
		uint64_t offset = hazard->address - page->address;

		if (offset < REPLAY_PAGE)
			bytes[offset] = INT3;
	}
}

const struct hazard *processor_hazard(const struct processor *processor,
				      uint64_t address)
{
	for (size_t i = 0; i < processor->hazards.count; i++) {
		const struct hazard *hazard = vec_at(&processor->hazards, i);

		if (hazard->address == address)
			return hazard;
	}
	return NULL;
}

/* Code that is written while it runs is left as it is. */
static struct error *processor_find_hazards(struct processor *processor,
					    const struct cached_page *page)
{
	struct hazard found[HAZARDS_MAX];
	size_t count;

	if (!(page->access & MAPPING_EXECUTE) || page->access & MAPPING_WRITE)
		return NULL;
	count = hazard_find(processor->decoder, page->bytes, REPLAY_PAGE,
			    page->address, found);
	for (size_t i = 0; i < count; i++) {
		if (!vec_push(&processor->hazards, &found[i]))
			return error_nomem;
	}
	return NULL;
}

struct error *processor_install(struct processor *processor,
				const struct cached_page *page)
{
	uint8_t bytes[REPLAY_PAGE];
	struct error *err = processor_find_hazards(processor, page);

	if (err)
		return err;
	processor_fill(processor, page, bytes);
	return scratch_install(processor->scratch, page->address, bytes,
			       page->access);
}

struct error *processor_add_arrivals(struct processor *processor)
{
	struct error *err = NULL;

	for (int i = 0; i < REPLAY_THREADS && !err; i++) {
		const struct x86_registers *regs = &processor->starts[i].regs;
		uint64_t page = replay_page_of(regs->rip);
		const struct cached_page *cached;

		processor->ends[REPLAY_THREADS + i] =
			(struct region_end){ .address = regs->rip,
					     .rsp = regs->gpr[X86_RSP] };
		cached = pagecache_find(&processor->cache, page);
		if (cached && scratch_is_installed(processor->scratch, page))
			err = processor_restore(processor, cached);
	}
	return processor_fail(processor, err);
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
