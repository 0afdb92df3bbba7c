/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The history of a side's bytes; see history.h. The cells of a granule are
 * neighbours.
 */
#include "hunt/history.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/vec.h"
#include "hunt/code.h"
#include "hunt/recording.h"
#include "report/field.h"
#include "report/frame.h"
#include "report/recorded.h"
#include "report/target-record.h"
#include "x86/access.h"

/* A cell that may be kept, and how much that is wanted: the lower, the more. */
struct candidate {
	uint32_t cell;
	uint32_t rank; /* 0: the side, then its partners, then others */
	uint64_t first;
	uint64_t distance; /* accesses between it and the side */
};

static const struct trace_cell *cell_at(const struct history_input *input,
					uint32_t cell)
{
	return vec_at(&input->recording->cells, cell);
}

static uint32_t rank_of(const struct history_input *input, uint32_t cell)
{
	uint32_t rank = 1;

	if (cell == input->cell)
		return 0;
	for (; rank <= input->partner_count; rank++) {
		if (input->partners[rank - 1] == cell)
			break;
	}
	return rank;
}

static struct error *is_wanted(const struct history_input *input, uint32_t i,
			       bool *ret)
{
	const struct trace_cell *side = cell_at(input, input->cell);
	const struct trace_cell *cell = cell_at(input, i);
	const struct recording_descriptor *descriptor =
		recording_descriptor(input->recording, cell->descriptor);
	uint8_t bytes = side->first_mask ? side->first_mask : side->mask;
	uint32_t number;
	struct error *err;

	*ret = (cell->mask & bytes) != 0 &&
	       (!cell->block || !side->block || cell->block == side->block);
	if (!*ret)
		return NULL;
	err = code_number(input->code, input->recording,
			  &descriptor->raw->place, &number);
	if (!err)
		*ret = !code_is_runtime(input->code, number,
					descriptor->raw->flags);
	return err;
}

static struct error *add_candidate(const struct history_input *input,
				   uint32_t i, struct vec *candidates)
{
	const struct trace_cell *side = cell_at(input, input->cell);
	const struct trace_cell *cell = cell_at(input, i);
	struct candidate candidate = {
		.cell = i,
		.rank = rank_of(input, i),
		.first = cell->first,
		.distance = cell->first > side->first
				    ? cell->first - side->first
				    : side->first - cell->first,
	};
	bool wanted;
	struct error *err = is_wanted(input, i, &wanted);

	if (err || !wanted)
		return err;
	return vec_push(candidates, &candidate) ? NULL : error_nomem;
}

static int compare_numbers(uint64_t a, uint64_t b)
{
	return (a > b) - (a < b);
}

static int compare_worth(const void *one, const void *two)
{
	const struct candidate *a = one, *b = two;
	int order = compare_numbers(a->rank, b->rank);

	if (!order)
		order = compare_numbers(a->distance, b->distance);
	return order ? order : compare_numbers(a->cell, b->cell);
}

static int compare_first(const void *one, const void *two)
{
	const struct candidate *a = one, *b = two;
	int order = compare_numbers(a->first, b->first);

	return order ? order : compare_numbers(a->cell, b->cell);
}

static struct error *find_candidates(const struct history_input *input,
				     struct vec *candidates)
{
	uint64_t address = cell_at(input, input->cell)->address;
	uint32_t i = input->cell;
	struct error *err = NULL;

	while (i > 0 && cell_at(input, i - 1)->address == address)
		i--;
	for (; !err && i < input->recording->cells.count &&
	       cell_at(input, i)->address == address;
	     i++)
		err = add_candidate(input, i, candidates);
	return err;
}

static struct error *copy_text(char **to, const char *from)
{
	*to = from && *from ? strdup(from) : NULL;
	return from && *from && !*to ? error_nomem : NULL;
}

/* back: 1 for a return address, so that the call is named. */
static struct error *add_frame(const struct history_input *input,
			       const struct trace_place *place, uint64_t back,
			       struct vec *frames)
{
	struct race_frame *frame = vec_append(frames);
	struct hunt_place named = { .module = NULL };
	uint32_t number;
	struct error *err;

	if (!frame)
		return error_nomem;
	fields_init(&race_frame_fields, frame);
	err = code_number(input->code, input->recording, place, &number);
	if (!err)
		err = code_place(input->code, number, &named);
	frame->module = named.module;
	frame->build_id = named.build_id;
	frame->offset = place->offset - (place->offset > 0 ? back : 0);
	return err;
}

/* The return addresses of a descriptor. */
static struct error *add_callers(const struct history_input *input,
				 const struct recording_descriptor *descriptor,
				 size_t most, struct vec *frames)
{
	struct error *err = NULL;

	for (uint32_t i = 0;
	     !err && i < descriptor->raw->depth && frames->count < most; i++)
		err = add_frame(input, &descriptor->stack[i], 1, frames);
	return err;
}

struct error *history_add_stack(const struct recording *recording,
				struct code *code,
				const struct trace_place *place,
				const struct recording_descriptor *descriptor,
				size_t most, struct vec *frames)
{
	const struct history_input input = { .recording = recording,
					     .code = code };
	struct error *err = add_frame(&input, place, 0, frames);

	return err || !descriptor
		       ? err
		       : add_callers(&input, descriptor, most, frames);
}

static unsigned int kind_of(uint8_t kind)
{
	switch (kind) {
	case TRACE_RWLOCK:
		return RECORDED_RWLOCK;
	case TRACE_SPIN:
		return RECORDED_SPIN;
	default:
		return RECORDED_MUTEX;
	}
}

/* What its variable has, in glibc on x86-64. */
static uint32_t lock_size(uint8_t kind)
{
	switch (kind) {
	case TRACE_RWLOCK:
		return 56;
	case TRACE_SPIN:
		return 4;
	default:
		return 40;
	}
}

/* The block that has the address at that time; 0: none that is recorded. */
static uint32_t block_of(const struct recording *recording, uint64_t address,
			 uint64_t sequence)
{
	const struct trace_block *best = NULL;

	for (size_t i = 0; i < recording->blocks.count; i++) {
		const struct trace_block *block =
			*(const struct trace_block **)vec_at(&recording->blocks,
							     i);

		if (address - block->address < block->size &&
		    block->sequence <= sequence &&
		    (!best || block->sequence >= best->sequence))
			best = block;
	}
	return best ? best->id : 0;
}

void history_cut_name(char *name)
{
	static const char *const inside[] = { ".__", "._M_" };

	for (size_t i = 0; name && i < sizeof(inside) / sizeof(inside[0]);
	     i++) {
		char *at = strstr(name, inside[i]);

		if (at)
			*at = '\0';
	}
}

static struct error *add_lock(const struct history_input *input,
			      const struct trace_lock *raw, uint64_t sequence,
			      struct vec *locks)
{
	struct recorded_lock *lock = vec_append(locks);
	const struct recording_descriptor *descriptor =
		recording_descriptor(input->recording, raw->descriptor);
	struct error *err;

	if (!lock)
		return error_nomem;
	fields_init(&recorded_lock_fields, lock);
	lock->address = raw->address;
	lock->kind = kind_of(raw->kind);
	lock->shared = raw->shared;
	err = code_variable(input->code, input->recording, raw->address,
			    lock_size(raw->kind),
			    block_of(input->recording, raw->address, sequence),
			    &lock->name);
	history_cut_name(lock->name);
	if (!err && descriptor)
		err = add_callers(input, descriptor, HISTORY_LOCK_FRAMES_MAX,
				  &lock->taken);
	return err;
}

static struct error *add_locks(const struct history_input *input,
			       const struct trace_cell *cell,
			       struct recorded_access *access)
{
	const struct recording_lockset *set =
		recording_lockset(input->recording, cell->lockset);
	struct error *err = NULL;

	access->locks_unknown =
		!recording_knows_locks(input->recording, cell->lockset);
	for (uint32_t i = 0; !err && set && i < set->raw->count; i++)
		err = add_lock(input, &set->locks[i], cell->first,
			       &access->locks);
	return err;
}

static struct error *add_access(const struct history_input *input, uint32_t i,
				struct vec *accesses)
{
	const struct trace_cell *cell = cell_at(input, i);
	const struct recording_descriptor *descriptor =
		recording_descriptor(input->recording, cell->descriptor);
	const struct trace_descriptor *raw = descriptor->raw;
	struct recorded_access *access = vec_append(accesses);
	struct error *err;

	if (!access)
		return error_nomem;
	fields_init(&recorded_access_fields, access);
	access->first = cell->first;
	access->last = cell->last > cell->first ? cell->last : cell->first;
	access->count = cell->count;
	access->access = (raw->flags & TRACE_READS ? ACCESS_READ : 0u) |
			 (raw->flags & TRACE_WRITES ? ACCESS_WRITE : 0u);
	access->size = raw->size
			       ? raw->size
			       : (uint32_t)__builtin_popcount(cell->first_mask);
	access->atomic = raw->flags & TRACE_ATOMIC;
	access->syscall = raw->flags & TRACE_SYSCALL;
	access->held = i == input->cell;
	err = copy_text(&access->thread_path,
			recording_thread(input->recording, cell->thread)->path);
	if (!err && (raw->flags & TRACE_STRING))
		err = copy_text(&access->string_function, raw->name);
	if (!err)
		err = add_locks(input, cell, access);
	if (!err)
		err = add_frame(input, &raw->place, 0, &access->frames);
	return err ? err
		   : add_callers(input, descriptor, HISTORY_FRAMES_MAX,
				 &access->frames);
}

static struct error *add_block(const struct history_input *input, uint32_t id,
			       struct recorded_block *block)
{
	const struct trace_block *raw = recording_block(input->recording, id);
	const struct recording_descriptor *descriptor;
	const struct recording_thread *thread;
	struct error *err = NULL;

	if (!raw)
		return NULL;
	descriptor = recording_descriptor(input->recording, raw->descriptor);
	thread = recording_thread(input->recording, raw->thread);
	block->address = raw->address;
	block->size = raw->size;
	if (thread)
		err = copy_text(&block->thread_path, thread->path);
	if (!err && descriptor)
		err = add_callers(input, descriptor, TRACE_STACK_MAX,
				  &block->allocated);
	return err;
}

static void sort(struct vec *vec,
		 int (*compare)(const void *one, const void *two))
{
	if (vec->count)
		qsort(vec->items, vec->count, vec->size, compare);
}

struct error *history_make(const struct history_input *input,
			   struct recorded *ret)
{
	const struct trace_cell *cell = cell_at(input, input->cell);
	unsigned int bytes = cell->first_mask ? cell->first_mask : cell->mask;
	struct vec candidates = VEC_INIT(struct candidate);
	struct error *err = find_candidates(input, &candidates);

	ret->pid = input->recording->file.header.pid;
	ret->address =
		cell->address + (unsigned int)__builtin_ctz(bytes | 0x80u);
	ret->size = input->size;
	ret->order_unknown =
		!(input->recording->file.header.promises & TRACE_TOTAL_ORDER);
	sort(&candidates, compare_worth);
	if (candidates.count > HISTORY_MAX) {
		ret->left_out = candidates.count - HISTORY_MAX;
		candidates.count = HISTORY_MAX;
	}
	sort(&candidates, compare_first);
	for (size_t i = 0; !err && i < candidates.count; i++) {
		const struct candidate *candidate = vec_at(&candidates, i);

		err = add_access(input, candidate->cell, &ret->accesses);
	}
	vec_deinit(&candidates);
	return err ? err : add_block(input, cell->block, &ret->block);
}

static bool has_access(const struct recorded *recorded,
		       const struct recorded_access *wanted)
{
	for (size_t i = 0; i < recorded->accesses.count; i++) {
		const struct recorded_access *access =
			vec_at(&recorded->accesses, i);

		if (access->first == wanted->first)
			return true;
	}
	return false;
}

static int compare_accesses(const void *one, const void *two)
{
	const struct recorded_access *a = one, *b = two;

	return compare_numbers(a->first, b->first);
}

struct error *history_merge(struct recorded *into, struct recorded *from)
{
	if (into->pid != from->pid || into->address != from->address)
		return NULL;
	for (size_t i = from->accesses.count; i-- > 0;) {
		struct recorded_access *access = vec_at(&from->accesses, i);

		if (has_access(into, access))
			continue;
		if (into->accesses.count >= HISTORY_MAX) {
			into->left_out++;
			continue;
		}
		access->held = false;
		if (!vec_push(&into->accesses, access))
			return error_nomem;
		vec_remove(&from->accesses, i);
	}
	sort(&into->accesses, compare_accesses);
	return NULL;
}
