/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Finding conflicting accesses; see pairs.h. The cells are sorted by address, so
 * that those of a granule are neighbours.
 */
#include "hunt/pairs.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "hunt/code.h"
#include "hunt/order.h"
#include "hunt/recording.h"

/* How far a cell's last number may be too low (hunt/trace-format.h). */
enum { LAST_SLACK = 255 };

/* What is asked of a descriptor again and again. */
struct kind {
	uint32_t place, user; /* as in struct pair_edge */
	uint32_t flags; /* enum trace_access */
	bool runtime;
};

/* A cell, and that of its descriptor. */
struct seen {
	const struct trace_cell *cell;
	struct kind kind;
};

/* One granule. */
struct granule {
	struct pairs *pairs;
	const struct recording *recording;
	const struct order *order;
	uint32_t number; /* of the recording */
	size_t first; /* place of its first cell */
	struct vec kinds; /* of struct kind, by place of the descriptor */
	struct vec seen; /* of struct seen */
	uint32_t compared;
};

void pairs_init(struct pairs *pairs)
{
	*pairs = (struct pairs){
		.edges = VEC_INIT(struct pair_edge),
		.conflicts = VEC_INIT(struct pair_conflict),
	};
}

void pairs_deinit(struct pairs *pairs)
{
	vec_deinit(&pairs->edges);
	vec_deinit(&pairs->conflicts);
	map_deinit(&pairs->all);
	map_deinit(&pairs->own);
	map_deinit(&pairs->unordered);
	map_deinit(&pairs->left_out);
}

/* Definition 10: but for the order, which the paper leaves to the provocation. */
static bool conflict(const struct seen *a, const struct seen *b)
{
	uint32_t both = a->kind.flags & b->kind.flags;
	uint32_t any = a->kind.flags | b->kind.flags;

	return a->cell->thread != b->cell->thread &&
	       (a->cell->mask & b->cell->mask) && (any & TRACE_WRITES) &&
	       !(both & TRACE_ATOMIC) &&
	       /* another block is other memory, at the same address later */
	       (!a->cell->block || !b->cell->block ||
		a->cell->block == b->cell->block);
}

static uint64_t last_of(const struct trace_cell *cell)
{
	return cell->count > 1 ? cell->last + LAST_SLACK : cell->first;
}

/* Does all of one come before all of the other? */
static bool ordered(const struct order *order, const struct trace_cell *a,
		    const struct trace_cell *b)
{
	return order_before(order, a->thread, last_of(a), b->thread,
			    b->first) ||
	       order_before(order, b->thread, last_of(b), a->thread, a->first);
}

/* Is the first access of the one ordered with all of the other? */
static bool first_ordered(const struct order *order, const struct trace_cell *a,
			  const struct trace_cell *b)
{
	return order_before(order, a->thread, a->first, b->thread, b->first) ||
	       order_before(order, b->thread, last_of(b), a->thread, a->first);
}

static bool has_lock(const struct recording_lockset *set,
		     const struct trace_lock *lock)
{
	for (uint32_t i = 0; set && i < set->raw->count; i++) {
		const struct trace_lock *own = &set->locks[i];

		if (own->address == lock->address && own->kind == lock->kind &&
		    !(own->shared && lock->shared))
			return true;
	}
	return false;
}

/* Did both always hold it? */
static enum pair_locks locks_of(const struct recording *recording,
				const struct trace_cell *a,
				const struct trace_cell *b)
{
	const struct recording_lockset *one =
		recording_lockset(recording, a->common);
	const struct recording_lockset *two =
		recording_lockset(recording, b->common);

	for (uint32_t i = 0; one && i < one->raw->count; i++) {
		if (has_lock(two, &one->locks[i]))
			return PAIR_LOCKED;
	}
	return recording_knows_locks(recording, a->common) &&
			       recording_knows_locks(recording, b->common)
		       ? PAIR_UNLOCKED
		       : PAIR_LOCKS_UNKNOWN;
}

static void measure(const struct recording *recording, uint64_t from,
		    uint64_t to, uint64_t parts, struct pair_edge *edge)
{
	struct recording_time begin = recording_time(recording, from);
	struct recording_time end = recording_time(recording, to);
	uint64_t ns = end.ns > begin.ns ? end.ns - begin.ns : 0;
	uint64_t busy =
		end.busy_ns > begin.busy_ns ? end.busy_ns - begin.busy_ns : 0;

	edge->distance_ns = ns / parts;
	edge->slept_ns = (ns > busy ? ns - busy : 0) / parts;
}

/*
 * From the held access to the partner's next one: where it is among others of the
 * partner's that were folded, the mean time between those.
 */
static void measure_edge(const struct recording *recording,
			 const struct trace_cell *held,
			 const struct trace_cell *partner,
			 struct pair_edge *edge)
{
	edge->follows = true;
	if (partner->first > held->first) {
		measure(recording, held->first, partner->first, 1, edge);
	} else if (partner->last > held->first) {
		measure(recording, partner->first, partner->last,
			partner->count > 1 ? partner->count - 1 : 1, edge);
	} else {
		edge->follows = false;
		measure(recording, partner->last, held->first, 1, edge);
	}
}

static bool add_edge(const struct granule *granule, const struct seen *held,
		     const struct seen *partner, enum pair_locks locks)
{
	const struct trace_cell *cells = granule->recording->cells.items;
	struct pair_edge edge = {
		.recording = granule->number,
		.cell = (uint32_t)(held->cell - cells),
		.partner = (uint32_t)(partner->cell - cells),
		.place = held->kind.place,
		.partner_place = partner->kind.place,
		.user = held->kind.user,
		.partner_user = partner->kind.user,
		.locks = locks,
	};

	/* the kernel's access has no instruction at which it could be held */
	if ((held->kind.flags & TRACE_SYSCALL) ||
	    first_ordered(granule->order, held->cell, partner->cell)) {
		granule->pairs->unplaced += !(held->kind.flags & TRACE_SYSCALL);
		return true;
	}
	measure_edge(granule->recording, held->cell, partner->cell, &edge);
	return vec_push(&granule->pairs->edges, &edge);
}

static bool count_pair(struct map *pairs, const struct seen *a,
		       const struct seen *b)
{
	uint32_t low = a->kind.place < b->kind.place ? a->kind.place
						     : b->kind.place;
	uint32_t high = a->kind.place < b->kind.place ? b->kind.place
						      : a->kind.place;

	return map_set(pairs, (uint64_t)low << 32 | high, 0);
}

static bool keep_conflict(const struct granule *granule, const struct seen *a,
			  const struct seen *b)
{
	const struct trace_cell *cells = granule->recording->cells.items;
	const struct pair_conflict conflict = {
		.cell = (uint32_t)(a->cell - cells),
		.other = (uint32_t)(b->cell - cells),
		.place = a->kind.place,
		.other_place = b->kind.place,
	};

	return !granule->pairs->kept ||
	       vec_push(&granule->pairs->conflicts, &conflict);
}

static bool compare(const struct granule *granule, const struct seen *a,
		    const struct seen *b)
{
	struct pairs *pairs = granule->pairs;
	enum pair_locks locks;

	if (!conflict(a, b))
		return true;
	if (!count_pair(&pairs->all, a, b))
		return false;
	if (a->kind.runtime || b->kind.runtime)
		return true;
	if (!count_pair(&pairs->own, a, b))
		return false;
	if (ordered(granule->order, a->cell, b->cell))
		return true;
	if (!count_pair(&pairs->unordered, a, b) ||
	    !keep_conflict(granule, a, b))
		return false;
	if (pairs->counted_only)
		return true;
	locks = locks_of(granule->recording, a->cell, b->cell);
	return add_edge(granule, a, b, locks) && add_edge(granule, b, a, locks);
}

static struct error *add_kind(struct granule *granule, struct code *code,
			      const struct recording_descriptor *descriptor)
{
	const struct trace_descriptor *raw = descriptor->raw;
	const struct trace_place *user = &raw->place;
	struct kind kind = { .flags = raw->flags };
	struct error *err =
		code_number(code, granule->recording, &raw->place, &kind.place);

	if ((raw->flags & TRACE_STRING) && raw->depth > 0)
		user = &descriptor->stack[0];
	if (!err)
		err = code_number(code, granule->recording, user, &kind.user);
	if (err)
		return err;
	kind.runtime = code_is_runtime(code, kind.place, kind.flags);
	return vec_push(&granule->kinds, &kind) ? NULL : error_nomem;
}

static struct error *add_kinds(struct granule *granule, struct code *code)
{
	const struct vec *descriptors = &granule->recording->descriptors;
	struct error *err = NULL;

	for (size_t i = 0; !err && i < descriptors->count; i++) {
		err = add_kind(granule, code, vec_at(descriptors, i));
	}
	return err;
}

static bool see(struct granule *granule, size_t i)
{
	const struct recording *recording = granule->recording;
	const struct trace_cell *cell = vec_at(&recording->cells, i);
	const uint64_t *place =
		map_get(&recording->descriptor_ids, cell->descriptor);
	const struct kind *kind = vec_at(&granule->kinds, *place);

	return vec_push(&granule->seen,
			&(struct seen){ .cell = cell, .kind = *kind });
}

/* By heap block; what is in none comes first. */
static int compare_blocks(const void *one, const void *two)
{
	const struct trace_cell *a = ((const struct seen *)one)->cell;
	const struct trace_cell *b = ((const struct seen *)two)->cell;

	if (a->block != b->block)
		return a->block < b->block ? -1 : 1;
	return (a > b) - (a < b);
}

static bool leave_out(struct pairs *pairs, const struct seen *one)
{
	pairs->cells_left_out++;
	return map_set(&pairs->left_out, one->kind.place, 1);
}

/* Keep PAIRS_CELLS_MAX cells of each block; false: out of memory. */
static bool limit_blocks(struct granule *granule)
{
	struct pairs *pairs = granule->pairs;
	struct vec *all = &granule->seen;
	size_t kept = 0, first = 0;

	for (size_t i = 0; i < all->count; i++) {
		const struct seen *one = vec_at(all, i);

		if (kept > first &&
		    one->cell->block !=
			    ((struct seen *)vec_at(all, first))->cell->block)
			first = kept;
		if (kept - first < PAIRS_CELLS_MAX) {
			memmove(vec_at(all, kept++), one, all->size);
			continue;
		}
		if (!leave_out(pairs, one))
			return false;
	}
	all->count = kept;
	return true;
}

/* Does a runtime not have it to itself, and are instructions without a cell? */
static bool is_crowded(const struct vec *seen)
{
	bool crowded = false, own = false;

	for (size_t i = 0; i < seen->count; i++) {
		const struct seen *one = vec_at(seen, i);

		crowded |= (one->cell->flags & TRACE_CROWDED) != 0;
		own |= !one->kind.runtime;
	}
	return crowded && own;
}

/*
 * What is in no block, or in one that is not known, with everything; else those of
 * a block with each other: addresses are used again and again.
 */
static bool compare_with_later(struct granule *granule, size_t i)
{
	const struct vec *seen = &granule->seen;
	const struct seen *one = vec_at(seen, i);

	for (size_t n = i + 1; n < seen->count; n++) {
		const struct seen *other = vec_at(seen, n);

		if (one->cell->block && one->cell->block != other->cell->block)
			return true;
		if (granule->compared == PAIRS_COMPARED_MAX)
			return leave_out(granule->pairs, one);
		granule->compared++;
		if (!compare(granule, one, other))
			return false;
	}
	return true;
}

static struct error *compare_all(struct granule *granule)
{
	struct vec *seen = &granule->seen;

	granule->pairs->granules += seen->count > 1;
	granule->pairs->crowded += is_crowded(seen);
	if (seen->count > 1)
		qsort(seen->items, seen->count, seen->size, compare_blocks);
	if (!limit_blocks(granule))
		return error_nomem;
	for (size_t i = 0; i < seen->count; i++) {
		if (!compare_with_later(granule, i))
			return error_nomem;
	}
	return NULL;
}

static uint64_t address_at(const struct vec *cells, size_t i)
{
	return ((const struct trace_cell *)vec_at(cells, i))->address;
}

struct error *pairs_find(struct pairs *pairs, const struct recording *recording,
			 uint32_t number, const struct order *order,
			 struct code *code)
{
	struct granule granule = { .pairs = pairs,
				   .recording = recording,
				   .order = order,
				   .number = number,
				   .kinds = VEC_INIT(struct kind),
				   .seen = VEC_INIT(struct seen) };
	const struct vec *cells = &recording->cells;
	struct error *err = add_kinds(&granule, code);
	size_t i = 0;

	vec_clear(&pairs->conflicts);
	while (!err && i < cells->count) {
		granule.first = i;
		granule.compared = 0;
		vec_clear(&granule.seen);
		for (; !err && i < cells->count &&
		       address_at(cells, i) == address_at(cells, granule.first);
		     i++) {
			if (!see(&granule, i))
				err = error_nomem;
		}
		if (!err)
			err = compare_all(&granule);
	}
	vec_deinit(&granule.kinds);
	vec_deinit(&granule.seen);
	return err;
}
