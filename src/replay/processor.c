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
#include "x86/int3.h"

enum {
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
	twins_init(&processor->twins);
	for (int i = 0; i < REPLAY_SPACES; i++)
		space_init(&processor->spaces[i]);
	err = decoder_create(&processor->decoder);
	if (!err)
		err = scratch_create(way, &processor->spaces[0].scratch);
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
	for (int i = 0; i < REPLAY_SPACES; i++)
		space_deinit(&processor->spaces[i]);
	twins_deinit(&processor->twins);
	decoder_destroy(processor->decoder);
	free(processor);
}

static struct error *processor_add_pages(struct processor *processor,
					 const struct replay_capture *capture)
{
	struct error *err = NULL;

	for (size_t i = 0; i < capture->count && !err; i++) {
		struct space *space = processor_space(
			processor, i < capture->of_first ? 0 : 1);

		err = pagecache_add(&space->cache, &space->source,
				    capture->addresses[i], capture->pages[i]);
	}
	if (!err && processor->instance.two)
		err = twins_read(&processor->twins, processor->instance.sources,
				 processor->instance.shift);
	return err ? err : space_link_all(processor);
}

/*
 * It was not captured, and is of another time: enough to run the code, and to
 * see what else is missed.
 */
static struct error *processor_read_slot(struct processor *processor,
					 int thread, uint64_t slot)
{
	struct space *space = processor_space(processor, thread);
	const uint64_t pages[] = {
		replay_page_of(slot),
		replay_page_of(slot + RETURN_ADDRESS_SIZE - 1),
	};

	for (int i = 0; i < 2; i++) {
		if (!pagecache_find(&space->cache, pages[i]))
			replay_hints_add(processor->instance.hints,
					 replay_hint(processor_space_of(
							     processor, thread),
						     pages[i]));
	}
	processor->missed = slot;
	return pagecache_fetch(&space->cache, &space->source, pages, 2);
}

static struct error *processor_find_end(struct processor *processor, int thread)
{
	const struct pagecache *cache =
		&processor_space(processor, thread)->cache;
	uint64_t slot = processor->instance.threads[thread].return_slot;
	struct region_end *end = &processor->ends[thread];
	struct error *err;

	end->rsp = slot + RETURN_ADDRESS_SIZE;
	if (pagecache_read(cache, slot, &end->address, RETURN_ADDRESS_SIZE))
		return NULL;
	err = processor_read_slot(processor, thread, slot);
	if (!err &&
	    !pagecache_read(cache, slot, &end->address, RETURN_ADDRESS_SIZE))
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
	processor->current = 0;
	memset(processor->accesses, 0, sizeof(processor->accesses));
	memset(processor->ends, 0, sizeof(processor->ends));
	for (int i = 0; i < REPLAY_SPACES; i++) {
		struct space *space = &processor->spaces[i];

		space->source = instance->sources[i];
		vec_clear(&space->hazards);
		pagecache_clear(&space->cache);
	}
	processor->absent_count = capture->absent_count;
	memcpy(processor->absent, capture->absent,
	       capture->absent_count * sizeof(capture->absent[0]));
	err = processor_add_pages(processor, capture);
	for (int i = 0; i < REPLAY_THREADS && !err; i++) {
		processor->starts[i] = capture->threads[i];
		err = processor_find_end(processor, i);
	}
	processor->captured = !err;
	return err;
}

uint64_t processor_cpu_ns(const struct processor *processor)
{
	uint64_t sum = processor->ended_cpu_ns;

	for (int i = 0; i < REPLAY_SPACES; i++) {
		uint64_t now = 0;

		/* of one that has just been killed it is not known */
		if (processor->spaces[i].scratch)
			error_free(scratch_cpu(processor->spaces[i].scratch,
					       &now));
		sum += now;
	}
	return sum;
}

struct error *processor_fail(struct processor *processor, struct error *err)
{
	if (!err)
		return NULL;
	processor->ended_cpu_ns = processor_cpu_ns(processor);
	for (int i = 0; i < REPLAY_SPACES; i++) {
		scratch_destroy(processor->spaces[i].scratch);
		processor->spaces[i].scratch = NULL;
	}
	processor->captured = processor->prepared = false;
	if (err == error_gone && !processor->gone)
		err = error_create(ERROR_OTHER,
				   "the scratch process was ended");
	return err;
}

struct error *processor_prepare(struct processor *processor)
{
	struct error *err = NULL;

	if (processor->prepared)
		return NULL;
	if (!processor->captured)
		return error_create(ERROR_OTHER, "nothing was captured");
	for (int i = 0; i <= processor->instance.two && !err; i++) {
		struct space *space = &processor->spaces[i];

		if (space->scratch) {
			err = scratch_reset(space->scratch);
		} else {
			space->held.known = false;
			space->held.vectors_size = 0;
			err = scratch_create(processor->way, &space->scratch);
		}
	}
	processor->prepared = !err;
	return processor_fail(processor, err);
}

/* Of an end, by its number: the thread's. */
static int processor_end_space(const struct processor *processor, int number)
{
	return processor_space_of(processor, number % REPLAY_THREADS);
}

bool processor_has_end(const struct processor *processor, int space,
		       uint64_t address)
{
	for (int i = 0; i < REPLAY_ENDS; i++) {
		if (address != 0 && processor->ends[i].address == address &&
		    processor_end_space(processor, i) == space)
			return true;
	}
	return false;
}

/* The page as it is to be in the scratch process, with our int3s. */
static void processor_fill(const struct processor *processor, int space,
			   const struct cached_page *page, uint8_t *bytes)
{
	const struct vec *hazards = &processor->spaces[space].hazards;

	memcpy(bytes, page->bytes, REPLAY_PAGE);
	for (int i = 0; i < REPLAY_ENDS; i++) {
		uint64_t offset = processor->ends[i].address - page->address;

		if (offset < REPLAY_PAGE &&
		    processor_end_space(processor, i) == space)
			bytes[offset] = X86_INT3;
	}
	for (size_t i = 0; i < hazards->count; i++) {
		const struct hazard *hazard = vec_at(hazards, i);
		uint64_t offset = hazard->address - page->address;

		if (offset < REPLAY_PAGE)
			bytes[offset] = X86_INT3;
	}
}

const struct hazard *processor_hazard(const struct space *space,
				      uint64_t address)
{
	for (size_t i = 0; i < space->hazards.count; i++) {
		const struct hazard *hazard = vec_at(&space->hazards, i);

		if (hazard->address == address)
			return hazard;
	}
	return NULL;
}

/* Code that is written while it runs is left as it is. */
static struct error *processor_find_hazards(struct processor *processor,
					    int space,
					    const struct cached_page *page)
{
	struct hazard found[HAZARDS_MAX];
	size_t count;

	if (!(page->access & MAPPING_EXECUTE) || page->access & MAPPING_WRITE)
		return NULL;
	count = hazard_find(processor->decoder, page->bytes, REPLAY_PAGE,
			    page->address, found);
	for (size_t i = 0; i < count; i++) {
		if (!vec_push(&processor->spaces[space].hazards, &found[i]))
			return error_nomem;
	}
	return NULL;
}

struct error *processor_install(struct processor *processor, int space,
				const struct cached_page *page)
{
	uint8_t bytes[REPLAY_PAGE];
	struct error *err = processor_find_hazards(processor, space, page);

	if (err)
		return err;
	processor_fill(processor, space, page, bytes);
	err = space_read_twin(processor, space, page, bytes);
	if (err)
		return err;
	return scratch_install(processor->spaces[space].scratch, page->address,
			       bytes, page->access);
}

struct error *processor_add_arrivals(struct processor *processor)
{
	struct error *err = NULL;

	for (int i = 0; i < REPLAY_THREADS && !err; i++) {
		const struct x86_registers *regs = &processor->starts[i].regs;
		int number = processor_space_of(processor, i);
		const struct space *space = &processor->spaces[number];
		uint64_t page = replay_page_of(regs->rip);
		const struct cached_page *cached;

		processor->ends[REPLAY_THREADS + i] =
			(struct region_end){ .address = regs->rip,
					     .rsp = regs->gpr[X86_RSP] };
		cached = pagecache_find(&space->cache, page);
		if (cached && scratch_is_installed(space->scratch, page))
			err = processor_restore(processor, number, cached);
	}
	return processor_fail(processor, err);
}

struct error *processor_restore(struct processor *processor, int space,
				const struct cached_page *page)
{
	uint8_t bytes[REPLAY_PAGE];

	processor_fill(processor, space, page, bytes);
	return scratch_poke(processor->spaces[space].scratch, page->address,
			    bytes, sizeof(bytes));
}

bool replay_is_dead(const struct replay_thread *thread, uint64_t rsp,
		    uint64_t address)
{
	uint64_t low = thread->stack_low;

	if (low == 0)
		low = rsp > DEAD_SIZE ? rsp - DEAD_SIZE : 0;
	return address >= low && address < rsp;
}

const struct pagecache *processor_pages(const struct processor *processor,
					int thread)
{
	return &processor->spaces[processor_space_of(processor, thread)].cache;
}

const struct scratch *processor_scratch(const struct processor *processor,
					int thread)
{
	return processor->spaces[processor_space_of(processor, thread)].scratch;
}
