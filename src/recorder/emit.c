/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Descriptors, locksets and blocks are written when the first cell names them. They
 * are called written when they are: the process may be killed in between.
 */
#include "recorder/emit.h"

#include <stddef.h>

#include "hunt/trace-events.h"
#include "hunt/trace-format.h"
#include "recorder/cells.h"
#include "recorder/os.h"
#include "recorder/recorder.h"
#include "recorder/slots.h"

enum {
	CLOCK_STEP = 1000000, /* ns */
	RAW_MAX = WRITER_BUFFER / sizeof(struct trace_access_raw),
};

static void write_one(struct recorder *recorder, uint32_t type,
		      const void *payload, size_t size)
{
	writer_chunk(&recorder->writer, type, payload, size, NULL, 0);
}

void emit_thread(struct recorder *recorder, const struct thread *thread)
{
	struct trace_thread chunk = {
		.id = thread->id,
		.parent = thread->parent,
		.ordinal = thread->ordinal,
		.tid = thread->tid,
		.created = thread->created,
		.ended = thread->ended,
		.joined = thread->joined,
		.joiner = thread->joiner,
		.descriptor = thread->descriptor,
	};

	write_one(recorder, TRACE_THREAD, &chunk, sizeof(chunk));
}

void emit_module(struct recorder *recorder, uint32_t id)
{
	const struct module *module = module_at(&recorder->modules, id);
	struct trace_module chunk = {
		.id = id,
		.build_id_size = module->build_id_size,
		.bias = module->bias,
		.low = module->low,
		.high = module->high,
		.sequence = module->sequence,
	};

	os_copy(chunk.build_id, module->build_id, sizeof(chunk.build_id));
	writer_chunk(&recorder->writer, TRACE_MODULE, &chunk, sizeof(chunk),
		     module->path, os_length(module->path) + 1);
}

void emit_unload(struct recorder *recorder, uint32_t module)
{
	struct trace_unload chunk = { .module = module,
				      .sequence = recorder->sequence };

	write_one(recorder, TRACE_UNLOAD, &chunk, sizeof(chunk));
}

static struct trace_place place_of(struct recorder *recorder, uint64_t address)
{
	uint32_t module = modules_find(&recorder->modules, address);
	struct trace_place place = { .module = module, .offset = address };

	if (module != 0)
		place.offset -= module_at(&recorder->modules, module)->bias;
	return place;
}

/* Write a descriptor with the stack of a context; its new id. */
static uint32_t write_descriptor(struct recorder *recorder,
				 struct trace_descriptor *descriptor,
				 uint32_t context)
{
	struct trace_place places[STACKS_TOP];
	uint32_t depth = 0;

	if (context != 0) {
		const uint64_t *returns =
			context_at(&recorder->contexts, context)->returns;

		while (depth < STACKS_TOP && returns[depth] != 0) {
			places[depth] = place_of(recorder, returns[depth]);
			depth++;
		}
	}
	descriptor->id = ++recorder->descriptors;
	descriptor->depth = depth;
	writer_chunk(&recorder->writer, TRACE_DESCRIPTOR, descriptor,
		     sizeof(*descriptor), places, depth * sizeof(*places));
	return descriptor->id;
}

uint32_t emit_stack(struct recorder *recorder, uint32_t context)
{
	struct trace_descriptor descriptor = { 0 };
	struct context *stack;

	if (context == 0)
		return 0;
	stack = context_at(&recorder->contexts, context);
	if (stack->descriptor == 0) {
		descriptor.place = place_of(recorder, stack->returns[0]);
		stack->descriptor =
			write_descriptor(recorder, &descriptor, context);
	}
	return stack->descriptor;
}

static uint32_t describe(struct recorder *recorder, const struct site *site,
			 uint32_t context)
{
	struct trace_descriptor descriptor = {
		.flags = site->flags,
		.place = place_of(recorder, site->address),
		.size = site->size,
	};

	if (site->function != 0) {
		const struct function *function =
			function_at(&recorder->modules, site->function);

		descriptor.function =
			place_of(recorder, function->entry).offset;
		os_copy(descriptor.name, function->name,
			sizeof(descriptor.name));
	}
	return write_descriptor(recorder, &descriptor, context);
}

/* The id of the descriptor of a use; written when it is new. */
static uint32_t emit_descriptor(struct recorder *recorder, struct use *use)
{
	struct site *site = site_at(&recorder->uses, use->site);

	site->wanted = true;
	if (use->descriptor != 0)
		return use->descriptor;
	for (uint32_t id = site->uses; id != 0;) {
		const struct use *other = use_at(&recorder->uses, id);

		if (other->context == use->context && other->descriptor != 0) {
			use->descriptor = other->descriptor;
			return use->descriptor;
		}
		id = other->next;
	}
	use->descriptor = describe(recorder, site, use->context);
	return use->descriptor;
}

static void write_lockset(struct recorder *recorder, uint16_t id)
{
	struct trace_lockset chunk = { .id = id };
	struct lockset *set;

	if (id == 0 || id == LOCKSET_UNKNOWN)
		return;
	set = lockset_at(&recorder->locksets, id);
	if (set->written)
		return;
	chunk.count = set->count;
	writer_chunk(&recorder->writer, TRACE_LOCKSET, &chunk, sizeof(chunk),
		     set->locks, set->count * sizeof(*set->locks));
	set->written = true;
}

static uint32_t known_lockset(uint16_t id)
{
	return id == LOCKSET_UNKNOWN ? 0 : id;
}

/*
 * The id of a slot's lockset: with the stacks of the calls that took the locks,
 * if these are known. Those ids follow on the ones of locksets without.
 */
static uint32_t write_held(struct recorder *recorder, const struct slot *slot)
{
	struct trace_lock locks[LOCKS_HELD_MAX];
	struct trace_lockset chunk = { .id = LOCKSETS_MAX + slot->held };
	struct hold *held, *hold;

	if (slot->held == 0 || slot->held == HOLDS_UNKNOWN) {
		write_lockset(recorder, slot->lockset);
		return known_lockset(slot->lockset);
	}
	held = hold = hold_at(&recorder->holds, slot->held);
	if (held->written)
		return chunk.id;
	chunk.count = hold->depth;
	for (uint32_t i = chunk.count; i-- > 0;) {
		locks[i] = hold->lock;
		locks[i].descriptor = emit_stack(recorder, hold->context);
		if (hold->outer != 0)
			hold = hold_at(&recorder->holds, hold->outer);
	}
	writer_chunk(&recorder->writer, TRACE_LOCKSET, &chunk, sizeof(chunk),
		     locks, chunk.count * sizeof(*locks));
	held->written = true;
	return chunk.id;
}

static uint32_t write_block(struct recorder *recorder, struct block *block)
{
	struct trace_block chunk;

	if (!block || block->number != 0)
		return block ? block->number : 0;
	chunk = (struct trace_block){
		.id = ++recorder->heap.numbers,
		.thread = block->thread,
		.address = block->address,
		.size = block->size,
		.sequence = block->sequence,
		.descriptor = emit_stack(recorder, block->context),
	};
	write_one(recorder, TRACE_BLOCK, &chunk, sizeof(chunk));
	block->number = chunk.id;
	return chunk.id;
}

static struct trace_cell cell_of(struct recorder *recorder, uint64_t address,
				 const struct slot *slot, uint32_t block,
				 uint16_t flags)
{
	struct use *use = use_at(&recorder->uses, slot->use);
	uint64_t last = (uint64_t)slot->last * 256;
	struct trace_cell cell = {
		.address = address,
		.thread = use->thread,
		.descriptor = emit_descriptor(recorder, use),
		.ordinal = slot->ordinal,
		.count = slot->count,
		.first = slot->first,
		.last = last > slot->first ? last : slot->first,
		.value = slot->value,
		.mask = slot->mask,
		.first_mask = slot->first_mask,
		.flags = flags,
		.lockset = write_held(recorder, slot),
		.common = known_lockset(slot->common),
		.block = block,
	};

	write_lockset(recorder, slot->common);
	return cell;
}

static void write_cells(struct recorder *recorder, const struct cells *cells)
{
	writer_chunk(&recorder->writer, TRACE_CELLS, &cells->head,
		     sizeof(cells->head), cells->bytes, cells->size);
	recorder->cells += cells->head.count;
}

/* The cells of a granule, if threads share it and one wrote. */
static void write_granule(struct recorder *recorder, uint64_t address,
			  const struct granule *granule, struct block *block)
{
	struct cells cells;
	uint32_t number;

	if (!granule->shared || !granule->written)
		return;
	number = write_block(recorder, block);
	cells_begin(&cells, address, number);
	for (uint32_t i = 0; i < granule->count; i++) {
		/* it writes what the cell names */
		const struct trace_cell cell =
			cell_of(recorder, address,
				granule_slot(&recorder->shadow, granule, i),
				number, granule->crowded ? TRACE_CROWDED : 0);

		if (!cells_has_room(&cells)) {
			write_cells(recorder, &cells);
			cells_begin(&cells, address, number);
		}
		cells_add(&cells, &cell);
	}
	write_cells(recorder, &cells);
}

static void write_whole(struct recorder *recorder, uint64_t address,
			const struct whole_granule *granule,
			struct block *block)
{
	const struct whole_cell *whole;
	struct trace_cell cell;
	uint32_t number;

	if (!granule->shared || !granule->written)
		return;
	number = write_block(recorder, block);
	for (uint32_t id = granule->cells; id != 0; id = whole->next) {
		whole = whole_cell_at(&recorder->whole, id);
		cell = cell_of(recorder, address, &whole->slot, number, 0);
		write_one(recorder, TRACE_WHOLE_CELL, &cell, sizeof(cell));
	}
}

static void forget_whole(struct recorder *recorder, uint64_t address,
			 uint64_t last, struct block *block)
{
	for (uint64_t at = address & ~(uint64_t)7; at < last; at += 8) {
		struct whole_granule *granule =
			whole_find(&recorder->whole, at);

		if (!granule) {
			at |= (1 << SHADOW_SHIFT) - 8;
		} else if (granule->cells != 0) {
			write_whole(recorder, at, granule, block);
			whole_clear(&recorder->whole, granule);
		}
	}
}

void emit_forgotten(struct recorder *recorder, uint64_t address, uint64_t size,
		    struct block *block)
{
	uint64_t last = address + size;

	if (recorder->options.whole)
		forget_whole(recorder, address, last, block);
	for (uint64_t at = address & ~(uint64_t)7; at < last; at += 8) {
		struct shadow_chunk *chunk = shadow_find(&recorder->shadow, at);

		if (!chunk) {
			at |= (1 << SHADOW_SHIFT) - 8;
		} else if (granule_at(chunk, at)->count != 0) {
			write_granule(recorder, at, granule_at(chunk, at),
				      block);
			shadow_clear(&recorder->shadow, chunk, at);
		}
	}
}

void emit_free(struct recorder *recorder, const struct block *block,
	       const struct thread *thread)
{
	struct trace_free chunk = {
		.block = block->number,
		.thread = thread->id,
		.sequence = recorder->sequence,
		.descriptor = emit_stack(recorder, thread->context),
	};

	write_one(recorder, TRACE_FREE, &chunk, sizeof(chunk));
}

static bool has_room(struct recorder *recorder)
{
	if (recorder->events >= recorder->options.events_max) {
		recorder->dropped_events++;
		return false;
	}
	recorder->events++;
	return true;
}

void emit_event(struct recorder *recorder, uint32_t kind,
		const struct trace_lock *lock)
{
	struct trace_event chunk = {
		.kind = kind,
		.thread = recorder->current->id,
		.lock = *lock,
		.sequence = recorder->sequence,
	};

	if (has_room(recorder))
		write_one(recorder, TRACE_EVENT, &chunk, sizeof(chunk));
}

void emit_transfer(struct recorder *recorder, struct use *use, uint64_t address,
		   uint64_t size, int number, int fd)
{
	const struct site *site = site_at(&recorder->uses, use->site);
	struct trace_transfer chunk = {
		.thread = use->thread,
		.address = address,
		.size = size,
		.sequence = recorder->sequence,
		.number = number,
		.fd = fd,
		.writes = (site->flags & TRACE_WRITES) != 0,
	};

	if (!has_room(recorder))
		return;
	chunk.descriptor = emit_descriptor(recorder, use);
	write_one(recorder, TRACE_TRANSFER, &chunk, sizeof(chunk));
}

void emit_clock(struct recorder *recorder, bool forced)
{
	uint32_t thread = recorder->current ? recorder->current->id : 0;
	struct trace_clock chunk = {
		.sequence = recorder->sequence + 1,
		.ns = recorder->resumed,
		.busy_ns = recorder->busy,
		.thread = thread,
	};

	if (!forced && (thread == 0 || thread == recorder->clock_thread) &&
	    chunk.ns < recorder->clock + CLOCK_STEP)
		return;
	if (!has_room(recorder))
		return;
	recorder->clock = chunk.ns;
	recorder->clock_thread = thread;
	write_one(recorder, TRACE_CLOCK, &chunk, sizeof(chunk));
}

void emit_unable(struct recorder *recorder, const char *text)
{
	struct trace_unable chunk = {
		.sequence = recorder->sequence,
		.thread = recorder->current ? recorder->current->id : 0,
	};

	writer_chunk(&recorder->writer, TRACE_UNABLE, &chunk, sizeof(chunk),
		     text, os_length(text) + 1);
	writer_flush(&recorder->writer);
}

static void flush_raw(struct recorder *recorder)
{
	struct trace_accesses chunk = {
		.first = recorder->sequence - recorder->raw_count + 1,
		.count = recorder->raw_count,
	};

	if (recorder->raw_count > 0)
		writer_chunk(&recorder->writer, TRACE_ACCESSES, &chunk,
			     sizeof(chunk), recorder->raw,
			     recorder->raw_count * sizeof(*recorder->raw));
	recorder->raw_count = 0;
}

void emit_access(struct recorder *recorder, struct use *use, uint64_t address,
		 uint64_t size)
{
	struct trace_access_raw *raw;

	emit_descriptor(recorder, use);
	raw = &recorder->raw[recorder->raw_count++];
	raw->address = address;
	raw->descriptor = use->descriptor;
	raw->thread = (uint16_t)use->thread;
	raw->size = size < UINT16_MAX ? (uint16_t)size : UINT16_MAX;
	if (recorder->raw_count == RAW_MAX)
		flush_raw(recorder);
}

/* All uses of the sites that a cell names, of any thread and stack. */
static void write_uses(struct recorder *recorder)
{
	struct uses *uses = &recorder->uses;

	for (uint32_t id = 1; id <= uses->all.count; id++) {
		struct use *use = use_at(uses, id);
		struct trace_uses chunk = { .thread = use->thread,
					    .executions = use->executions };

		if (!site_at(uses, use->site)->wanted)
			continue;
		chunk.descriptor = emit_descriptor(recorder, use);
		write_one(recorder, TRACE_USES, &chunk, sizeof(chunk));
	}
}

static void write_chunk(struct recorder *recorder,
			const struct shadow_chunk *chunk)
{
	uint64_t address = chunk->number << SHADOW_SHIFT;

	for (uint32_t i = 0; i < SHADOW_GRANULES; i++) {
		const struct granule *granule = &chunk->granules[i];
		uint64_t at = address + (uint64_t)i * 8;

		if (granule->shared && granule->written)
			write_granule(recorder, at, granule,
				      heap_containing(&recorder->heap, at));
	}
}

static void write_whole_chunk(struct recorder *recorder,
			      const struct whole_chunk *chunk)
{
	for (uint64_t i = 0; i < SHADOW_GRANULES; i++) {
		uint64_t at = (chunk->number << SHADOW_SHIFT) + i * 8;

		write_whole(recorder, at, &chunk->granules[i],
			    heap_containing(&recorder->heap, at));
	}
}

void emit_all(struct recorder *recorder)
{
	flush_raw(recorder);
	heap_sort(&recorder->heap);
	for (uint32_t i = 0; i < recorder->shadow.chunks_count; i++)
		write_chunk(recorder, recorder->shadow.chunks[i]);
	for (uint32_t id = 1; id <= recorder->whole.chunks.count; id++)
		write_whole_chunk(recorder,
				  whole_chunk_at(&recorder->whole, id));
	heap_unsort(&recorder->heap);
	for (uint32_t id = 1; id <= recorder->threads.count; id++)
		emit_thread(recorder, records_at(&recorder->threads, id));
	write_uses(recorder);
	stream_flush(recorder);
	emit_clock(recorder, true);
	writer_flush(&recorder->writer);
}

static uint64_t bytes_of(const struct recorder *recorder)
{
	return shadow_bytes(&recorder->shadow) +
	       records_bytes(&recorder->uses.all) +
	       records_bytes(&recorder->uses.sites) +
	       records_bytes(&recorder->contexts.all) +
	       records_bytes(&recorder->heap.blocks) +
	       records_bytes(&recorder->locksets.all) +
	       records_bytes(&recorder->holds.all);
}

void emit_end(struct recorder *recorder, int status, uint32_t reason)
{
	struct trace_end end = {
		.sequence = recorder->sequence,
		.ns = os_ns() - recorder->start,
		.busy_ns = recorder->busy,
		.granules = recorder->shadow.granules,
		.shared = recorder->shadow.shared,
		.cells = recorder->cells,
		.memory = bytes_of(recorder),
		.dropped_cells = recorder->shadow.dropped,
		.starved_cells = recorder->shadow.starved,
		.dropped_stacks = recorder->uses.dropped,
		.dropped_locksets = recorder->dropped_locksets,
		.dropped_events = recorder->dropped_events,
		.status = status,
		.reason = reason,
	};

	write_one(recorder, TRACE_END, &end, sizeof(end));
	writer_flush(&recorder->writer);
	recorder->over = true;
}
