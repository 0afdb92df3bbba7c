/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Reading a trace into tables; see recording.h. Strings and arrays stay in the
 * mapped file.
 */
#include "hunt/recording.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/strbuf.h"

/* A thread path that is longer is no program's. */
enum { PATH_LEVELS = 1000 };

static struct error *wrong(const struct recording *recording,
			   const struct trace_item *item, const char *what,
			   uint32_t id)
{
	return error_create(ERROR_FORMAT, "%s: byte %zu: %s %u is not known",
			    recording->file.path, item->at, what, id);
}

/* Make a place for an id, or find that it has; NULL: out of memory. */
static void *place_of(struct vec *vec, struct map *ids, uint32_t id)
{
	const uint64_t *place = map_get(ids, id);

	if (place)
		return vec_at(vec, *place);
	return map_set(ids, id, vec->count) ? vec_append(vec) : NULL;
}

static struct error *take_module(struct recording *recording,
				 const struct trace_item *item)
{
	const struct trace_module *raw = item->payload;
	struct recording_module *module =
		place_of(&recording->modules, &recording->module_ids, raw->id);

	if (!module)
		return error_nomem;
	*module = (struct recording_module){
		.id = raw->id,
		.path = item->behind,
		.bias = raw->bias,
		.low = raw->low,
		.high = raw->high,
	};
	for (uint32_t i = 0; i < raw->build_id_size; i++) {
		static const char digits[] = "0123456789abcdef";

		module->build_id[2 * i] = digits[raw->build_id[i] >> 4];
		module->build_id[2 * i + 1] = digits[raw->build_id[i] & 15];
	}
	return NULL;
}

static struct error *take_thread(struct recording *recording,
				 const struct trace_item *item)
{
	const struct trace_thread *raw = item->payload;
	bool known = map_get(&recording->thread_ids, raw->id) != NULL;
	struct recording_thread *thread;

	if (raw->parent && (raw->parent == raw->id ||
			    !map_get(&recording->thread_ids, raw->parent)))
		return wrong(recording, item, "thread", raw->parent);
	if (raw->joiner && raw->joined != TRACE_NEVER &&
	    !map_get(&recording->thread_ids, raw->joiner))
		return wrong(recording, item, "thread", raw->joiner);
	thread = place_of(&recording->threads, &recording->thread_ids, raw->id);
	if (!thread)
		return error_nomem;
	/* who its parent is does not change, so that paths end */
	if (known && thread->raw.parent != raw->parent)
		return wrong(recording, item, "another parent of thread",
			     raw->id);
	thread->raw = *raw;
	if (!known)
		thread->born_at = recording->file.at;
	if (raw->joined != TRACE_NEVER && !thread->joined_at)
		thread->joined_at = recording->file.at;
	return NULL;
}

static struct error *check_place(const struct recording *recording,
				 const struct trace_item *item,
				 const struct trace_place *place)
{
	if (place->module && !map_get(&recording->module_ids, place->module))
		return wrong(recording, item, "module", place->module);
	return NULL;
}

static struct error *take_descriptor(struct recording *recording,
				     const struct trace_item *item)
{
	const struct trace_descriptor *raw = item->payload;
	struct recording_descriptor *descriptor;
	struct error *err = check_place(recording, item, &raw->place);

	for (uint32_t i = 0; !err && i < raw->depth; i++)
		err = check_place(recording, item,
				  (const struct trace_place *)item->behind + i);
	if (err)
		return err;
	descriptor = place_of(&recording->descriptors,
			      &recording->descriptor_ids, raw->id);
	if (!descriptor)
		return error_nomem;
	descriptor->raw = raw;
	descriptor->stack = item->behind;
	return NULL;
}

static struct error *take_lockset(struct recording *recording,
				  const struct trace_item *item)
{
	const struct trace_lockset *raw = item->payload;
	const struct trace_lock *locks = item->behind;
	struct recording_lockset *lockset;

	for (uint32_t i = 0; i < raw->count; i++) {
		uint32_t id = locks[i].descriptor;

		if (id && !map_get(&recording->descriptor_ids, id))
			return wrong(recording, item, "descriptor", id);
	}
	lockset = place_of(&recording->locksets, &recording->lockset_ids,
			   raw->id);
	if (!lockset)
		return error_nomem;
	lockset->raw = raw;
	lockset->locks = locks;
	return NULL;
}

static struct error *take_block(struct recording *recording,
				const struct trace_item *item)
{
	const struct trace_block *raw = item->payload;
	const struct trace_block **block =
		place_of(&recording->blocks, &recording->block_ids, raw->id);

	if (!block)
		return error_nomem;
	*block = raw;
	return NULL;
}

static struct error *check_user(const struct recording *recording,
				const struct trace_item *item, uint32_t thread,
				uint32_t descriptor)
{
	if (!map_get(&recording->thread_ids, thread))
		return wrong(recording, item, "thread", thread);
	if (!map_get(&recording->descriptor_ids, descriptor))
		return wrong(recording, item, "descriptor", descriptor);
	return NULL;
}

static struct error *take_uses(struct recording *recording,
			       const struct trace_item *item)
{
	const struct trace_uses *raw = item->payload;
	struct error *err =
		check_user(recording, item, raw->thread, raw->descriptor);

	if (err)
		return err;
	return vec_push(&recording->uses, raw) ? NULL : error_nomem;
}

static struct error *take_cell(struct recording *recording, struct vec *cells,
			       const struct trace_item *item)
{
	const struct trace_cell *raw = item->payload;
	const uint32_t locksets[] = { raw->lockset, raw->common };
	struct error *err =
		check_user(recording, item, raw->thread, raw->descriptor);

	for (int i = 0; !err && i < 2; i++) {
		if (locksets[i] &&
		    !map_get(&recording->lockset_ids, locksets[i]))
			err = wrong(recording, item, "lockset", locksets[i]);
	}
	if (!err && raw->block && !map_get(&recording->block_ids, raw->block))
		err = wrong(recording, item, "block", raw->block);
	if (err)
		return err;
	return vec_push(cells, raw) ? NULL : error_nomem;
}

static struct error *take_item(struct recording *recording,
			       const struct trace_item *item)
{
	const char *text;

	switch (item->type) {
	case TRACE_END:
		memcpy(&recording->end, item->payload, sizeof(recording->end));
		return NULL;
	case TRACE_PROGRAM:
		recording->program = item->behind;
		return NULL;
	case TRACE_MODULE:
		return take_module(recording, item);
	case TRACE_THREAD:
		return take_thread(recording, item);
	case TRACE_DESCRIPTOR:
		return take_descriptor(recording, item);
	case TRACE_USES:
		return take_uses(recording, item);
	case TRACE_CELL:
		return take_cell(recording, &recording->cells, item);
	case TRACE_WHOLE_CELL:
		return take_cell(recording, &recording->whole, item);
	case TRACE_LOCKSET:
		return take_lockset(recording, item);
	case TRACE_BLOCK:
		return take_block(recording, item);
	case TRACE_CLOCK:
		return vec_push(&recording->clocks, item->payload)
			       ? NULL
			       : error_nomem;
	case TRACE_UNABLE:
		text = item->behind;
		return vec_push(&recording->unable, &text) ? NULL : error_nomem;
	default: /* of no use here */
		return NULL;
	}
}

static int compare_numbers(uint64_t a, uint64_t b)
{
	return (a > b) - (a < b);
}

static int compare_clocks(const void *one, const void *two)
{
	const struct trace_clock *a = one, *b = two;

	return compare_numbers(a->sequence, b->sequence);
}

/* By address; the same cell again: the one that counted more is the later. */
static int compare_cells(const void *one, const void *two)
{
	const struct trace_cell *a = one, *b = two;
	const uint64_t numbers[][2] = {
		{ a->address, b->address },	  { a->thread, b->thread },
		{ a->descriptor, b->descriptor }, { a->first, b->first },
		{ b->count, a->count },		  { b->last, a->last },
	};
	int order = 0;

	for (size_t i = 0; !order && i < sizeof(numbers) / sizeof(*numbers);
	     i++)
		order = compare_numbers(numbers[i][0], numbers[i][1]);
	return order;
}

static bool same_cell(const struct trace_cell *a, const struct trace_cell *b)
{
	return a->address == b->address && a->thread == b->thread &&
	       a->descriptor == b->descriptor && a->first == b->first;
}

static void sort_cells(struct vec *cells)
{
	size_t kept = 0;

	if (cells->count)
		qsort(cells->items, cells->count, cells->size, compare_cells);
	for (size_t i = 0; i < cells->count; i++) {
		if (kept &&
		    same_cell(vec_at(cells, kept - 1), vec_at(cells, i)))
			continue;
		if (kept != i)
			memcpy(vec_at(cells, kept), vec_at(cells, i),
			       cells->size);
		kept++;
	}
	cells->count = kept;
}

/* A parent has a chunk before its child, so that this ends. */
static struct error *name_thread(struct recording *recording,
				 struct recording_thread *thread)
{
	const struct recording_thread *up = thread;
	uint32_t ordinals[PATH_LEVELS];
	struct strbuf path = { 0 };
	int levels = 0;

	while (up->raw.parent && levels < PATH_LEVELS) {
		ordinals[levels++] = up->raw.ordinal;
		up = recording_thread(recording, up->raw.parent);
	}
	if (levels == PATH_LEVELS)
		return error_create(ERROR_FORMAT,
				    "%s: thread %u has more than %d ancestors",
				    recording->file.path, thread->raw.id,
				    PATH_LEVELS);
	strbuf_add(&path, "0");
	while (levels > 0)
		strbuf_addf(&path, ".%u", ordinals[--levels]);
	thread->path = strbuf_steal(&path);
	return thread->path ? NULL : error_nomem;
}

/*
 * Until now it is what was executed. By QEMU this is the executable's whole path,
 * and the loader's module may come first; by the others the executable's does.
 */
static void name_program(struct recording *recording)
{
	const struct recording_module *module;

	for (size_t i = 0; i < recording->modules.count; i++) {
		module = vec_at(&recording->modules, i);
		if (strcmp(module->path, recording->program) == 0)
			return;
	}
	if (recording->modules.count == 0)
		return;
	module = vec_at(&recording->modules, 0);
	recording->program = module->path;
}

static struct error *read_all(struct recording *recording)
{
	struct trace_item item;
	struct error *err;

	do {
		err = trace_file_next(&recording->file, &item);
		if (!err && item.payload)
			err = take_item(recording, &item);
	} while (!err && item.payload);
	for (size_t i = 0; !err && i < recording->threads.count; i++)
		err = name_thread(recording, vec_at(&recording->threads, i));
	if (err)
		return err;
	name_program(recording);
	recording->cut = !recording->file.ended;
	sort_cells(&recording->cells);
	sort_cells(&recording->whole);
	if (recording->clocks.count)
		qsort(recording->clocks.items, recording->clocks.count,
		      recording->clocks.size, compare_clocks);
	return NULL;
}

struct error *recording_open(const char *path, struct recording *ret)
{
	struct recording recording = {
		.program = "",
		.modules = VEC_INIT(struct recording_module),
		.threads = VEC_INIT(struct recording_thread),
		.descriptors = VEC_INIT(struct recording_descriptor),
		.locksets = VEC_INIT(struct recording_lockset),
		.blocks = VEC_INIT(const struct trace_block *),
		.uses = VEC_INIT(struct trace_uses),
		.cells = VEC_INIT(struct trace_cell),
		.whole = VEC_INIT(struct trace_cell),
		.clocks = VEC_INIT(struct trace_clock),
		.unable = VEC_INIT(const char *),
	};
	struct error *err = trace_file_open(path, &recording.file);

	if (err)
		return err;
	err = read_all(&recording);
	if (err)
		recording_close(&recording);
	else
		*ret = recording;
	return err;
}

void recording_close(struct recording *recording)
{
	for (size_t i = 0; i < recording->threads.count; i++)
		free(((struct recording_thread *)vec_at(&recording->threads, i))
			     ->path);
	vec_deinit(&recording->modules);
	vec_deinit(&recording->threads);
	vec_deinit(&recording->descriptors);
	vec_deinit(&recording->locksets);
	vec_deinit(&recording->blocks);
	vec_deinit(&recording->uses);
	vec_deinit(&recording->cells);
	vec_deinit(&recording->whole);
	vec_deinit(&recording->clocks);
	vec_deinit(&recording->unable);
	map_deinit(&recording->module_ids);
	map_deinit(&recording->thread_ids);
	map_deinit(&recording->descriptor_ids);
	map_deinit(&recording->lockset_ids);
	map_deinit(&recording->block_ids);
	trace_file_close(&recording->file);
}

static void *find(const struct vec *vec, const struct map *ids, uint32_t id)
{
	const uint64_t *place = map_get(ids, id);

	return place ? vec_at(vec, *place) : NULL;
}

const struct recording_thread *
recording_thread(const struct recording *recording, uint32_t id)
{
	return find(&recording->threads, &recording->thread_ids, id);
}

const struct recording_descriptor *
recording_descriptor(const struct recording *recording, uint32_t id)
{
	return find(&recording->descriptors, &recording->descriptor_ids, id);
}

const struct recording_module *
recording_module(const struct recording *recording, uint32_t id)
{
	return find(&recording->modules, &recording->module_ids, id);
}

bool recording_has_module(const struct recording *recording, uint64_t address)
{
	for (size_t i = 0; i < recording->modules.count; i++) {
		const struct recording_module *module =
			vec_at(&recording->modules, i);

		if (module->low <= address && address < module->high)
			return true;
	}
	return false;
}

const struct recording_lockset *
recording_lockset(const struct recording *recording, uint32_t id)
{
	return find(&recording->locksets, &recording->lockset_ids, id);
}

bool recording_knows_locks(const struct recording *recording, uint32_t lockset)
{
	return lockset != 0 ||
	       ((recording->file.header.promises & TRACE_EXACT_LOCKS) &&
		recording->end.dropped_locksets == 0);
}

const struct trace_block *recording_block(const struct recording *recording,
					  uint32_t id)
{
	const struct trace_block **block =
		find(&recording->blocks, &recording->block_ids, id);

	return block ? *block : NULL;
}

/* Clocks up to that number. */
static size_t clocks_before(const struct vec *clocks, uint64_t sequence)
{
	size_t low = 0, high = clocks->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		const struct trace_clock *clock = vec_at(clocks, middle);

		if (clock->sequence <= sequence)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static uint64_t between(uint64_t from, uint64_t to, double part)
{
	return to <= from ? from
			  : from + (uint64_t)(part * (double)(to - from));
}

struct recording_time recording_time(const struct recording *recording,
				     uint64_t sequence)
{
	const struct vec *clocks = &recording->clocks;
	size_t next = clocks_before(clocks, sequence);
	struct trace_clock from = { 0 };
	struct trace_clock to = {
		.sequence = recording->end.sequence,
		.ns = recording->end.ns,
		.busy_ns = recording->end.busy_ns,
	};
	double part = 0;

	if (next > 0)
		from = *(const struct trace_clock *)vec_at(clocks, next - 1);
	if (next < clocks->count)
		to = *(const struct trace_clock *)vec_at(clocks, next);
	if (to.sequence > from.sequence)
		part = (double)(sequence - from.sequence) /
		       (double)(to.sequence - from.sequence);
	if (part > 1)
		part = 1;
	return (struct recording_time){
		.ns = between(from.ns, to.ns, part),
		.busy_ns = between(from.busy_ns, to.busy_ns, part),
	};
}
