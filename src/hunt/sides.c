/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Making sides; see sides.h. Edges are sorted by the held instruction, then by
 * cell, so that those of a possible side are neighbours.
 */
#include "hunt/sides.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/hash.h"
#include "base/map.h"
#include "base/strbuf.h"
#include "base/vec.h"
#include "hunt/code.h"
#include "hunt/descriptor.h"
#include "hunt/history.h"
#include "hunt/hold.h"
#include "hunt/pairs.h"
#include "hunt/recording.h"
#include "hunt/transfer-tell.h"
#include "hunt/transfer.h"
#include "report/target-record.h"

static const double RANK_UNLOCKED = 0.4, RANK_FOLLOWS = 0.3, RANK_NEAR = 0.2,
		    RANK_OWN = 0.1;

/* Holds that differ by less are of one length. */
static const uint64_t HOLDS_ALIKE = 10 * CLOCK_NS_PER_MS;

/* An access of a recording. */
struct cell_place {
	uint32_t recording, cell;
};

struct making {
	const struct sides_input *input;
	struct code *code;
	struct vec *sides;
	/* of the instruction at work: its edges, [from, to) */
	const struct pair_edge *edges;
	size_t from, to;
	size_t first_side; /* of this instruction */
	struct map best; /* partner's instruction to class of its best edge */
	struct map covered; /* partners' instructions that have a side */
	/* of struct cell_place: those that have a side, ... */
	struct vec held;
	/* ... and their partners by the same instruction */
	struct vec mirrors;
};

static int compare_numbers(uint64_t a, uint64_t b)
{
	return (a > b) - (a < b);
}

static int compare_edges(const void *one, const void *two)
{
	const struct pair_edge *a = one, *b = two;
	const uint64_t numbers[][2] = {
		{ a->user, b->user },
		{ a->recording, b->recording },
		{ a->cell, b->cell },
		{ a->partner_user, b->partner_user },
		{ b->follows, a->follows },
		{ a->locks, b->locks },
		{ a->distance_ns, b->distance_ns },
		{ a->partner, b->partner },
	};
	int order = 0;

	for (size_t i = 0; !order && i < sizeof(numbers) / sizeof(*numbers);
	     i++)
		order = compare_numbers(numbers[i][0], numbers[i][1]);
	return order;
}

/* The lower, the better. */
static uint64_t class_of(const struct pair_edge *edge)
{
	return (edge->follows ? 0u : PAIR_LOCKED + 1u) + edge->locks;
}

static const struct recording *recording_of(const struct making *making,
					    const struct pair_edge *edge)
{
	return making->input->recordings[edge->recording];
}

static const struct trace_cell *cell_of(const struct making *making,
					const struct pair_edge *edge,
					uint32_t cell)
{
	return vec_at(&recording_of(making, edge)->cells, cell);
}

/* Breakpoints slow down each instruction in another way, and none for long. */
static double slow_down_of(const struct making *making,
			   const struct pair_edge *edge)
{
	const struct trace_file *file = &recording_of(making, edge)->file;

	return file->header.recorder == TRACE_BY_BREAKPOINTS
		       ? 1
		       : making->input->slow_down;
}

static uint64_t hold_of(const struct making *making,
			const struct pair_edge *edge)
{
	return hunt_hold_ns(edge->distance_ns, edge->slept_ns,
			    slow_down_of(making, edge));
}

/* Of those without a common lock; what is not known is neither. */
static double rank_of_locks(enum pair_locks locks)
{
	switch (locks) {
	case PAIR_UNLOCKED:
		return RANK_UNLOCKED;
	case PAIR_LOCKS_UNKNOWN:
		return RANK_UNLOCKED / 2;
	case PAIR_LOCKED:
		break;
	}
	return 0;
}

static double rank_of(const struct making *making, const struct pair_edge *edge)
{
	double hold = (double)hold_of(making, edge);

	return rank_of_locks(edge->locks) + RANK_FOLLOWS * edge->follows +
	       RANK_NEAR * (double)hunt_hold_ns(0, 0, 1) / hold +
	       RANK_OWN * code_is_own(making->code, edge->user);
}

static bool same_candidate(const struct pair_edge *a, const struct pair_edge *b)
{
	return a->recording == b->recording && a->cell == b->cell;
}

/* The end of the edges of the candidate that begins there. */
static size_t candidate_end(const struct making *making, size_t begin)
{
	size_t end = begin;

	while (end < making->to &&
	       same_candidate(&making->edges[begin], &making->edges[end]))
		end++;
	return end;
}

/* What it would cover that has no side yet, and how long it is held. */
struct gain {
	size_t begin, end;
	size_t partners;
	uint64_t hold_ns;
	uint32_t ordinal;
};

static struct gain gain_of(const struct making *making, size_t begin)
{
	const struct pair_edge *edge = &making->edges[begin];
	struct gain gain = {
		.begin = begin,
		.end = candidate_end(making, begin),
		.ordinal = cell_of(making, edge, edge->cell)->ordinal,
	};

	for (size_t i = begin; i < gain.end; i++) {
		edge = &making->edges[i];
		if ((i > begin &&
		     edge->partner_user == edge[-1].partner_user) ||
		    map_get(&making->covered, edge->partner_user) ||
		    *map_get(&making->best, edge->partner_user) !=
			    class_of(edge))
			continue;
		gain.partners++;
		if (hold_of(making, edge) > gain.hold_ns)
			gain.hold_ns = hold_of(making, edge);
	}
	return gain;
}

/*
 * Is it better than one of lower bytes? A function that compares or searches uses
 * what comes first, and may load more than it uses: such a conflict is none. So
 * what is recorded a moment later is no better for that.
 */
static bool is_better(const struct gain *a, const struct gain *b)
{
	if (a->partners != b->partners)
		return a->partners > b->partners;
	if (a->hold_ns / HOLDS_ALIKE != b->hold_ns / HOLDS_ALIKE)
		return a->hold_ns < b->hold_ns;
	return a->ordinal < b->ordinal;
}

static struct gain best_gain(const struct making *making)
{
	struct gain best = { .partners = 0 };

	for (size_t i = making->from; i < making->to;) {
		struct gain gain = gain_of(making, i);

		if (is_better(&gain, &best))
			best = gain;
		i = gain.end;
	}
	return best;
}

static struct error *copy_text(char **to, const char *from)
{
	*to = from && *from ? strdup(from) : NULL;
	return from && *from && !*to ? error_nomem : NULL;
}

static const char *string_of(const struct trace_descriptor *raw)
{
	return raw->flags & TRACE_STRING ? raw->name : NULL;
}

static uint32_t size_of(const struct trace_descriptor *raw,
			const struct trace_cell *cell)
{
	return raw->size ? raw->size
			 : (uint32_t)__builtin_popcount(cell->first_mask);
}

/* A stripped library does not name its variants of string functions. */
static struct error *name_function(const struct making *making, uint32_t place,
				   const char *string_function, char **ret)
{
	return string_function ? copy_text(ret, string_function)
			       : code_function(making->code, place, ret);
}

static struct error *add_partner(const struct making *making,
				 const struct pair_edge *edge,
				 struct hunt_side *side)
{
	const struct recording *recording = recording_of(making, edge);
	const struct trace_cell *cell = cell_of(making, edge, edge->partner);
	const struct trace_descriptor *raw =
		recording_descriptor(recording, cell->descriptor)->raw;
	struct hunt_partner *partner = vec_append(&side->partners);
	struct error *err;

	if (!partner)
		return error_nomem;
	hunt_partner_init(partner);
	partner->size = size_of(raw, cell);
	partner->writes = raw->flags & TRACE_WRITES;
	partner->atomic = raw->flags & TRACE_ATOMIC;
	partner->syscall = raw->flags & TRACE_SYSCALL;
	partner->distance_ns = edge->distance_ns;
	err = code_place(making->code, edge->partner_place, &partner->place);
	if (!err)
		err = copy_text(&partner->string_function, string_of(raw));
	if (!err)
		err = name_function(making, edge->partner_place,
				    partner->string_function,
				    &partner->function);
	if (!err)
		err = copy_text(
			&partner->thread_path,
			recording_thread(recording, cell->thread)->path);
	return err;
}

static int compare_partners(const void *one, const void *two)
{
	const struct hunt_partner *a = one, *b = two;

	return compare_numbers(a->distance_ns, b->distance_ns);
}

/* Of each instruction the best edge, which comes first. */
static struct error *add_partners(const struct making *making,
				  const struct gain *gain,
				  struct hunt_side *side)
{
	struct error *err = NULL;
	enum pair_locks locks = PAIR_LOCKED;
	uint64_t following = 0, others = 0;

	for (size_t i = gain->begin; !err && i < gain->end; i++) {
		const struct pair_edge *edge = &making->edges[i];
		uint64_t hold = hold_of(making, edge);
		uint64_t *most = edge->follows ? &following : &others;

		if (i > gain->begin &&
		    edge->partner_user == edge[-1].partner_user)
			continue;
		if (!edge->alone)
			err = add_partner(making, edge, side);
		if (edge->locks < locks)
			locks = edge->locks;
		if (hold > *most)
			*most = hold;
		if (rank_of(making, edge) > side->rank)
			side->rank = rank_of(making, edge);
	}
	side->locked = locks == PAIR_LOCKED;
	side->locks_unknown = locks == PAIR_LOCKS_UNKNOWN;
	side->hold_ns = following ? following : others;
	if (!err && side->partners.count)
		qsort(side->partners.items, side->partners.count,
		      side->partners.size, compare_partners);
	return err;
}

static struct error *add_stack(const struct making *making,
			       const struct recording *recording,
			       const struct recording_descriptor *descriptor,
			       uint32_t depth, struct hunt_side *side)
{
	struct error *err = NULL;

	for (uint32_t i = 0; !err && i < depth; i++) {
		struct hunt_place *place = vec_append(&side->stack);
		uint32_t number;

		if (!place)
			return error_nomem;
		err = code_number(making->code, recording,
				  &descriptor->stack[i], &number);
		if (!err)
			err = code_place(making->code, number, place);
	}
	return err;
}

/* 32 digits of what a text says. */
static void digest(const char *text, char ret[33])
{
	snprintf(ret, 33, "%016llx%016llx",
		 (unsigned long long)hash_salted(text, 1),
		 (unsigned long long)hash_salted(text, 2));
}

static void say_place(struct strbuf *text, const struct hunt_place *place)
{
	strbuf_addf(text, "%s+0x%llx ",
		    place->build_id ? place->build_id
		    : place->module ? place->module
				    : "",
		    (unsigned long long)place->offset);
}

static struct error *fingerprint(struct hunt_side *side)
{
	struct strbuf text = { 0 };

	strbuf_addf(&text, "%s %llu %u %d ",
		    side->thread_path ? side->thread_path : "any",
		    (unsigned long long)side->ordinal, side->size,
		    side->writes);
	say_place(&text, &side->place);
	for (size_t i = 0; i < side->stack.count; i++)
		say_place(&text, vec_at(&side->stack, i));
	/* the same access may be one to try, for other partners */
	if (side->hand_overs.count > 0)
		strbuf_add(&text, "handed over");
	if (!text.failed)
		digest(strbuf_text(&text), side->fingerprint);
	strbuf_deinit(&text);
	return side->fingerprint[0] ? NULL : error_nomem;
}

/* *ret: of an access's function, place and callers; 0: one is not known. */
static struct error *hash_access(const struct making *making,
				 const struct pair_edge *edge, uint32_t user,
				 uint32_t cell, uint64_t *ret)
{
	const struct recording *recording = recording_of(making, edge);
	uint64_t parts[3];
	struct error *err = code_stack_hash(
		making->code, recording,
		recording_descriptor(recording,
				     cell_of(making, edge, cell)->descriptor),
		&parts[2]);

	if (err)
		return err;
	code_function_hash(making->code, user, &parts[0], &parts[1]);
	*ret = parts[0] && parts[2] ? hash_blocks(parts, sizeof(parts)) : 0;
	return NULL;
}

static int compare_hashes(const void *one, const void *two)
{
	return compare_numbers(*(const uint64_t *)one, *(const uint64_t *)two);
}

/*
 * Of the side's function and those of its partners, with their callers; nothing where
 * one is not known. Thread and ordinal are part of it: a side is one access.
 */
static struct error *hash_code(const struct making *making,
			       const struct gain *gain, struct hunt_side *side)
{
	const struct pair_edge *first = &making->edges[gain->begin];
	struct vec hashes = VEC_INIT(uint64_t);
	struct strbuf text = { 0 };
	uint64_t hash = 1;
	struct error *err = NULL;

	for (size_t i = gain->begin; !err && hash && i < gain->end; i++) {
		const struct pair_edge *edge = &making->edges[i];

		if (edge->alone)
			continue;
		err = hash_access(making, edge, edge->partner_user,
				  edge->partner, &hash);
		if (!err && !vec_push(&hashes, &hash))
			err = error_nomem;
	}
	if (hashes.count)
		qsort(hashes.items, hashes.count, hashes.size, compare_hashes);
	for (size_t i = 0; i < hashes.count; i++) {
		uint64_t one = *(uint64_t *)vec_at(&hashes, i);

		if (i == 0 || one != *(uint64_t *)vec_at(&hashes, i - 1))
			strbuf_addf(&text, "%llx ", (unsigned long long)one);
	}
	if (!err && hash)
		err = hash_access(making, first, first->user, first->cell,
				  &hash);
	strbuf_addf(&text, "%llx %s %llu %s", (unsigned long long)hash,
		    side->thread_path ? side->thread_path : "any",
		    (unsigned long long)side->ordinal,
		    side->variable ? side->variable : "");
	if (!err && text.failed)
		err = error_nomem;
	if (!err && hash)
		digest(strbuf_text(&text), side->code_hash);
	strbuf_deinit(&text);
	vec_deinit(&hashes);
	return err;
}

static struct error *name_side(const struct making *making,
			       const struct pair_edge *edge,
			       const struct trace_cell *cell,
			       struct hunt_side *side)
{
	unsigned int byte = (unsigned int)__builtin_ctz(
		cell->first_mask ? cell->first_mask : cell->mask | 0x100u);
	struct error *err = name_function(
		making, edge->place, side->string_function, &side->function);

	if (!err)
		err = code_variable(making->code, recording_of(making, edge),
				    cell->address + (byte & 7), side->size,
				    cell->block, &side->variable);
	return err;
}

/* What is recorded of its bytes; of each partner's instruction the best edge. */
static struct error *add_history(const struct making *making,
				 const struct gain *gain,
				 struct hunt_side *side)
{
	const struct pair_edge *edge = &making->edges[gain->begin];
	struct vec partners = VEC_INIT(uint32_t);
	struct history_input input = {
		.recording = recording_of(making, edge),
		.code = making->code,
		.cell = edge->cell,
		.size = side->size,
	};
	struct error *err = NULL;

	for (size_t i = gain->begin; !err && i < gain->end; i++) {
		edge = &making->edges[i];
		if (!edge->alone &&
		    (i == gain->begin ||
		     edge->partner_user != edge[-1].partner_user) &&
		    !vec_push(&partners, &edge->partner))
			err = error_nomem;
	}
	input.partners = partners.items;
	input.partner_count = partners.count;
	if (!err)
		err = history_make(&input, &side->recorded);
	vec_deinit(&partners);
	return err;
}

/* By what it was ordered with one of its partners. */
static struct error *add_hand_overs(const struct making *making,
				    const struct gain *gain,
				    struct hunt_side *side)
{
	const struct transfers *transfers = making->input->transfers;
	struct error *err = NULL;

	for (size_t i = gain->begin;
	     transfers && !err && i < gain->end && !side->hand_overs.count;
	     i++) {
		const struct pair_edge *edge = &making->edges[i];
		const struct transfer_pair *pair = transfers_find(
			transfers, edge->place, edge->partner_place);

		err = transfer_tell(pair,
				    making->input->recordings[pair->recording],
				    making->code, side);
	}
	return err;
}

static struct error *fill_side(const struct making *making,
			       const struct gain *gain, struct hunt_side *side)
{
	const struct pair_edge *edge = &making->edges[gain->begin];
	const struct recording *recording = recording_of(making, edge);
	const struct trace_cell *cell = cell_of(making, edge, edge->cell);
	const struct recording_descriptor *descriptor =
		recording_descriptor(recording, cell->descriptor);
	struct descriptor_found found;
	struct error *err =
		descriptors_find(making->input->descriptors[edge->recording],
				 cell, making->code, &found);

	side->ordinal = cell->ordinal;
	side->size = size_of(descriptor->raw, cell);
	side->writes = descriptor->raw->flags & TRACE_WRITES;
	side->atomic = descriptor->raw->flags & TRACE_ATOMIC;
	if (!err)
		err = copy_text(&side->program, recording->program);
	if (!err && !found.any_thread)
		err = copy_text(
			&side->thread_path,
			recording_thread(recording, cell->thread)->path);
	if (!err)
		err = copy_text(&side->string_function,
				string_of(descriptor->raw));
	if (!err)
		err = code_place(making->code, edge->place, &side->place);
	if (!err)
		err = add_stack(making, recording, descriptor, found.depth,
				side);
	if (!err)
		err = add_partners(making, gain, side);
	if (!err)
		err = name_side(making, edge, cell, side);
	if (!err)
		err = add_history(making, gain, side);
	if (!err)
		err = add_hand_overs(making, gain, side);
	if (!err)
		err = hash_code(making, gain, side);
	return err ? err : fingerprint(side);
}

static bool same_place(const struct hunt_place *a, const struct hunt_place *b)
{
	return a->offset == b->offset &&
	       strcmp(a->module ? a->module : "", b->module ? b->module : "") ==
		       0;
}

static bool has_partner(const struct hunt_side *side,
			const struct hunt_place *place)
{
	for (size_t i = 0; i < side->partners.count; i++) {
		const struct hunt_partner *own = vec_at(&side->partners, i);

		if (same_place(&own->place, place))
			return true;
	}
	return false;
}

/* What is known of the one, that it had no common lock, is known of both. */
static void merge_locks(struct hunt_side *into, const struct hunt_side *from)
{
	bool both = (into->locked || into->locks_unknown) &&
		    (from->locked || from->locks_unknown);

	into->locked &= from->locked;
	into->locks_unknown = both && !into->locked;
}

/* The partners of a side go to another one, which is the same access. */
static struct error *merge_side(struct hunt_side *into, struct hunt_side *from)
{
	char both[2 * sizeof(into->code_hash)];

	for (size_t i = from->partners.count; i-- > 0;) {
		struct hunt_partner *partner = vec_at(&from->partners, i);

		if (has_partner(into, &partner->place))
			continue;
		if (!vec_push(&into->partners, partner))
			return error_nomem;
		vec_remove(&from->partners, i);
	}
	if (into->partners.count)
		qsort(into->partners.items, into->partners.count,
		      into->partners.size, compare_partners);
	merge_locks(into, from);
	if (from->hold_ns > into->hold_ns)
		into->hold_ns = from->hold_ns;
	if (from->rank > into->rank)
		into->rank = from->rank;
	snprintf(both, sizeof(both), "%s %s", into->code_hash, from->code_hash);
	if (into->code_hash[0] && from->code_hash[0])
		digest(both, into->code_hash);
	else
		into->code_hash[0] = '\0';
	return history_merge(&into->recorded, &from->recorded);
}

/*
 * Two threads of one origin executed the instruction for the first time: without
 * the thread, that is the same access.
 */
static struct error *merge_last(struct making *making)
{
	struct vec *sides = making->sides;
	struct hunt_side *last = vec_at(sides, sides->count - 1);
	struct error *err = NULL;

	for (size_t i = making->first_side; i + 1 < sides->count; i++) {
		struct hunt_side *side = vec_at(sides, i);

		if (strcmp(side->fingerprint, last->fingerprint) != 0)
			continue;
		err = merge_side(side, last);
		hunt_side_deinit(last);
		sides->count--;
		break;
	}
	return err;
}

static bool is_held(const struct making *making, const struct cell_place *place)
{
	for (size_t i = 0; i < making->held.count; i++) {
		const struct cell_place *held = vec_at(&making->held, i);

		if (held->recording == place->recording &&
		    held->cell == place->cell)
			return true;
	}
	return false;
}

/* Of several partners by the same instruction, the best edge comes first. */
static struct error *note_mirror(struct making *making, const struct gain *gain)
{
	const struct pair_edge *edge = &making->edges[gain->begin];
	struct cell_place place = { edge->recording, edge->cell };

	if (!vec_push(&making->held, &place))
		return error_nomem;
	for (size_t i = gain->begin; i < gain->end; i++) {
		edge = &making->edges[i];
		place.cell = edge->partner;
		if (edge->partner_user != edge->user)
			continue;
		return vec_push(&making->mirrors, &place) ? NULL : error_nomem;
	}
	return NULL;
}

static struct error *add_side(struct making *making, const struct gain *gain)
{
	struct hunt_side *side = vec_append(making->sides);
	struct error *err = NULL;

	if (!side)
		return error_nomem;
	hunt_side_init(side);
	for (size_t i = gain->begin; i < gain->end; i++) {
		const struct pair_edge *edge = &making->edges[i];

		if (*map_get(&making->best, edge->partner_user) ==
			    class_of(edge) &&
		    !map_set(&making->covered, edge->partner_user, 1))
			err = error_nomem;
	}
	if (!err)
		err = note_mirror(making, gain);
	if (!err)
		err = fill_side(making, gain, side);
	return err ? err : merge_last(making);
}

/* The best class of edges to each partner's instruction. */
static bool find_best(struct making *making)
{
	map_deinit(&making->best);
	map_deinit(&making->covered);
	vec_clear(&making->held);
	vec_clear(&making->mirrors);
	for (size_t i = making->from; i < making->to; i++) {
		const struct pair_edge *edge = &making->edges[i];
		const uint64_t *best =
			map_get(&making->best, edge->partner_user);

		if ((!best || class_of(edge) < *best) &&
		    !map_set(&making->best, edge->partner_user, class_of(edge)))
			return false;
	}
	return true;
}

static struct error *hold_cell(struct making *making,
			       const struct cell_place *place)
{
	for (size_t i = making->from; i < making->to;) {
		const struct pair_edge *edge = &making->edges[i];
		const struct gain gain = {
			.begin = i,
			.end = candidate_end(making, i),
		};

		if (edge->recording == place->recording &&
		    edge->cell == place->cell)
			return add_side(making, &gain);
		i = gain.end;
	}
	return NULL;
}

/*
 * Two instructions have a side each: whoever comes first is held at one of them.
 * Where one thread races with another by a single instruction, both are held there,
 * each in its turn.
 */
static struct error *cover_mirrors(struct making *making)
{
	size_t count = making->mirrors.count;
	struct error *err = NULL;

	for (size_t i = 0; !err && i < count; i++) {
		struct cell_place place =
			*(struct cell_place *)vec_at(&making->mirrors, i);

		if (!is_held(making, &place))
			err = hold_cell(making, &place);
	}
	return err;
}

static struct error *cover(struct making *making)
{
	struct error *err = NULL;
	struct gain gain;

	if (!find_best(making))
		return error_nomem;
	do {
		gain = best_gain(making);
		if (gain.partners)
			err = add_side(making, &gain);
	} while (!err && gain.partners);
	return err ? err : cover_mirrors(making);
}

static int compare_sides(const void *one, const void *two)
{
	const struct hunt_side *a = one, *b = two;

	if (a->rank < b->rank || a->rank > b->rank)
		return a->rank > b->rank ? -1 : 1;
	if (a->hold_ns != b->hold_ns)
		return compare_numbers(a->hold_ns, b->hold_ns);
	return strcmp(a->fingerprint, b->fingerprint);
}

void sides_rank(struct vec *sides)
{
	if (sides->count)
		qsort(sides->items, sides->count, sides->size, compare_sides);
	for (size_t i = 0; i < sides->count; i++)
		((struct hunt_side *)vec_at(sides, i))->id = i + 1;
}

static struct hunt_side *find_side(const struct vec *sides,
				   const char *fingerprint)
{
	for (size_t i = 0; i < sides->count; i++) {
		struct hunt_side *side = vec_at(sides, i);

		if (strcmp(side->fingerprint, fingerprint) == 0)
			return side;
	}
	return NULL;
}

struct error *sides_join(struct vec *into, struct vec *from)
{
	struct error *err = NULL;

	for (size_t i = 0; !err && i < from->count; i++) {
		struct hunt_side *side = vec_at(from, i);
		struct hunt_side *same = find_side(into, side->fingerprint);

		if (same) {
			err = merge_side(same, side);
		} else if (vec_push(into, side)) {
			hunt_side_init(side);
		} else {
			err = error_nomem;
		}
	}
	return err;
}

struct error *sides_make(const struct sides_input *input, struct vec *edges,
			 struct code *code, struct vec *sides)
{
	struct making making = { .input = input,
				 .code = code,
				 .sides = sides,
				 .edges = edges->items,
				 .held = VEC_INIT(struct cell_place),
				 .mirrors = VEC_INIT(struct cell_place) };
	struct error *err = NULL;

	if (edges->count)
		qsort(edges->items, edges->count, edges->size, compare_edges);
	while (!err && making.from < edges->count) {
		making.to = making.from;
		while (making.to < edges->count &&
		       making.edges[making.to].user ==
			       making.edges[making.from].user)
			making.to++;
		making.first_side = sides->count;
		err = cover(&making);
		making.from = making.to;
	}
	map_deinit(&making.best);
	map_deinit(&making.covered);
	vec_deinit(&making.held);
	vec_deinit(&making.mirrors);
	if (!err)
		sides_rank(sides);
	return err;
}
