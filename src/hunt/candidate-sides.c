/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * From candidates to sides; see candidates.h. An access of a recording is one of
 * its descriptors; what it is called is looked up once for each instruction.
 */
#include "hunt/candidates.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/map.h"
#include "conflict/symbolize.h"
#include "foreign/intercept.h"
#include "hunt/claim.h"
#include "hunt/code.h"
#include "hunt/pairs.h"
#include "hunt/recording.h"
#include "hunt/reported.h"
#include "hunt/sides.h"
#include "hunt/transfer.h"
#include "report/field.h"
#include "report/race.h"
#include "report/target-record.h"

/* Instructions of one candidate that are held without a partner, at most. */
enum { ALONE_MAX = 16 };

/* Nobody knows when the other access comes. */
static const uint64_t ALONE_HOLD_NS = 100 * CLOCK_NS_PER_MS;

/* Of an instruction, with what is inlined there. */
struct named {
	struct vec frames; /* of struct race_frame */
};

/* Descriptors and instructions that a side of a candidate may be. */
struct fits {
	struct map descriptors; /* by access_key() */
	struct map places; /* by code_number() */
	bool any; /* the report does not say where it is */
	unsigned int found, taken; /* as claim_choose() has them */
};

struct matching {
	struct candidates *candidates;
	const struct sides_input *input;
	const struct pairs *pairs;
	const struct transfers *transfers;
	bool complete; /* no access was left out */
	bool vague; /* some candidates are: claim_is_vague() */
	struct code *code;
	struct symbolizer *symbolizer;
	/* accesses, by access_key(), that are crowded somewhere */
	struct map crowded;
	struct vec named; /* of struct named */
	struct map by_number; /* code_number() to a place in `named' */
	struct fits *fits; /* two for each candidate */
	bool chosen; /* which of them are taken */
};

static struct candidate *candidate_at(const struct matching *matching, size_t i)
{
	return vec_at(&matching->candidates->items, i);
}

static uint64_t access_key(size_t recording, uint32_t descriptor)
{
	return (uint64_t)recording << 32 | descriptor;
}

static struct error *name_place(struct matching *matching, uint32_t number,
				struct vec *frames)
{
	struct hunt_place place = { .module = NULL };
	struct race_frame *frame = vec_append(frames);
	struct error *err;
	bool changed;

	if (!frame)
		return error_nomem;
	fields_init(&race_frame_fields, frame);
	err = code_place(matching->code, number, &place);
	frame->module = place.module;
	frame->build_id = place.build_id;
	frame->offset = place.offset;
	/* a file without a build id may be another one now */
	if (err || !frame->module || !frame->build_id)
		return err;
	return symbolize_frames(matching->symbolizer, frames, &changed);
}

/* *ret is valid until the next call. */
static struct error *names_of(struct matching *matching, uint32_t number,
			      const struct vec **ret)
{
	const uint64_t *known = map_get(&matching->by_number, number);
	struct named *named;

	if (known) {
		named = vec_at(&matching->named, *known);
		*ret = &named->frames;
		return NULL;
	}
	if (!map_set(&matching->by_number, number, matching->named.count) ||
	    !(named = vec_append(&matching->named)))
		return error_nomem;
	named->frames = (struct vec)VEC_INIT(struct race_frame);
	*ret = &named->frames;
	return name_place(matching, number, &named->frames);
}

/* Borrowed frames, one after the other. */
static struct error *add_names(struct matching *matching, uint32_t number,
			       struct vec *frames)
{
	const struct vec *names;
	struct error *err = names_of(matching, number, &names);

	for (size_t i = 0; !err && i < names->count; i++) {
		if (!vec_push(frames, vec_at(names, i)))
			err = error_nomem;
	}
	return err;
}

/* To a line of the program's own, and of a caller where one may be asked for. */
static bool has_own(const struct matching *matching, const struct vec *frames)
{
	size_t wanted = matching->vague ? 2 : 1;

	for (size_t i = 0; wanted > 0 && i < frames->count; i++) {
		const struct race_frame *frame = vec_at(frames, i);

		wanted -= !intercept_is(frame) && frame->file &&
			  !claim_is_wrapper(frame);
	}
	return wanted == 0;
}

/* Callers only as far as they are asked for. */
static struct error *stack_of(struct matching *matching,
			      const struct recording *recording,
			      const struct recording_descriptor *descriptor,
			      struct vec *frames)
{
	uint32_t number;
	struct error *err = code_number(matching->code, recording,
					&descriptor->raw->place, &number);

	if (!err)
		err = add_names(matching, number, frames);
	for (uint32_t i = 0;
	     !err && i < descriptor->raw->depth && !has_own(matching, frames);
	     i++) {
		struct trace_place call = descriptor->stack[i];

		/* what comes after a call may be of another line */
		call.offset -= call.offset > 0;
		err = code_number(matching->code, recording, &call, &number);
		if (!err)
			err = add_names(matching, number, frames);
	}
	return err;
}

/* First it is noted how accesses fit, and then those are taken that fit best. */
static bool is_best_fit(struct matching *matching, size_t i,
			const struct vec *frames, unsigned int access,
			uint32_t size)
{
	const struct race *race = candidate_at(matching, i / 2)->race;
	struct fits *fits = &matching->fits[i];
	enum claim_fit fit =
		claim_fit(race, &race->sides[i % 2], frames, access, size);

	if (!matching->chosen)
		fits->found |= 1U << fit;
	return matching->chosen && (fits->taken >> fit & 1);
}

static void choose_fits(struct matching *matching)
{
	for (size_t i = 0; i < 2 * matching->candidates->items.count; i++) {
		struct candidate *candidate = candidate_at(matching, i / 2);
		struct fits *fits = &matching->fits[i];

		candidate->fits[i % 2] =
			claim_choose(fits->found, &fits->taken);
		candidate->found |= fits->taken != 0;
	}
	matching->chosen = true;
}

static struct error *fit(struct matching *matching, size_t number,
			 const struct recording *recording,
			 const struct recording_descriptor *descriptor,
			 const struct vec *frames)
{
	const struct trace_descriptor *raw = descriptor->raw;
	unsigned int access = raw->flags & (TRACE_READS | TRACE_WRITES);
	uint32_t size = raw->flags & TRACE_STRING ? 0 : raw->size;
	uint32_t place;
	struct error *err = code_number(matching->code, recording,
					&descriptor->raw->place, &place);

	for (size_t i = 0; !err && i < 2 * matching->candidates->items.count;
	     i++) {
		if (is_best_fit(matching, i, frames, access, size) &&
		    (!map_set(&matching->fits[i].descriptors,
			      access_key(number, descriptor->raw->id), 1) ||
		     !map_set(&matching->fits[i].places, place, 1)))
			err = error_nomem;
	}
	return err;
}

static struct error *fit_recording(struct matching *matching, size_t number)
{
	const struct recording *recording = matching->input->recordings[number];
	struct vec frames = VEC_INIT(struct race_frame);
	struct error *err = NULL;

	for (size_t i = 0; !err && i < recording->descriptors.count; i++) {
		const struct recording_descriptor *descriptor =
			vec_at(&recording->descriptors, i);

		/* that of a thread's creation accesses nothing */
		if (descriptor->raw->flags == 0)
			continue;
		vec_clear(&frames);
		err = stack_of(matching, recording, descriptor, &frames);
		if (!err)
			err = fit(matching, number, recording, descriptor,
				  &frames);
	}
	/* the frames are those of the names */
	vec_deinit(&frames);
	return err;
}

static struct error *add_fit(struct matching *matching, size_t i, size_t number,
			     const struct recording_descriptor *descriptor)
{
	uint32_t place;
	struct error *err = code_number(matching->code,
					matching->input->recordings[number],
					&descriptor->raw->place, &place);

	if (err)
		return err;
	candidate_at(matching, i / 2)->found = true;
	candidate_at(matching, i / 2)->fits[i % 2] = CLAIM_BY_BYTES;
	return map_set(&matching->fits[i].descriptors,
		       access_key(number, descriptor->raw->id), 1) &&
			       map_set(&matching->fits[i].places, place, 1)
		       ? NULL
		       : error_nomem;
}

/* Where the executable has these bytes; false: it is in no module. */
static bool find_bytes(const struct recording *recording, uint64_t offset,
		       uint64_t *ret)
{
	for (size_t i = 0; i < recording->modules.count; i++) {
		const struct recording_module *module =
			vec_at(&recording->modules, i);

		if (strcmp(module->path, recording->program) != 0)
			continue;
		*ret = module->bias + offset;
		return true;
	}
	return false;
}

/* What accesses the bytes that the report names, in the way that it says. */
static struct error *fit_bytes(struct matching *matching, size_t i,
			       size_t number)
{
	const struct race *race = candidate_at(matching, i / 2)->race;
	const struct recording *recording = matching->input->recordings[number];
	uint64_t offset = reported_offset(race), bytes;
	struct error *err = NULL;

	if (offset == 0 || !find_bytes(recording, offset, &bytes))
		return NULL;
	for (size_t j = 0; !err && j < recording->cells.count; j++) {
		const struct trace_cell *cell = vec_at(&recording->cells, j);
		const struct recording_descriptor *descriptor =
			recording_descriptor(recording, cell->descriptor);

		if (bytes - cell->address < TRACE_GRANULE &&
		    cell->mask >> (bytes - cell->address) & 1 &&
		    descriptor->raw->flags & race->sides[i % 2].access)
			err = add_fit(matching, i, number, descriptor);
	}
	return err;
}

/* Of candidates that nothing fits, those that may name another function. */
static struct error *fit_vague(struct matching *matching)
{
	struct error *err = NULL;

	for (size_t i = 0; !err && i < 2 * matching->candidates->items.count;
	     i++) {
		struct candidate *candidate = candidate_at(matching, i / 2);

		if (matching->fits[i].any || !claim_is_vague(candidate->race) ||
		    candidate->fits[i % 2] != CLAIM_NOT)
			continue;
		for (size_t n = 0; !err && n < matching->input->count; n++)
			err = fit_bytes(matching, i, n);
	}
	return err;
}

static bool has_access(const struct fits *fits, uint64_t access)
{
	return fits->any || map_get(&fits->descriptors, access);
}

/* Is one of them the one side's, and the other one the other's? */
static bool has_pair(const struct fits fits[2], uint64_t a, uint64_t b)
{
	for (int i = 0; i < 2; i++) {
		if (!fits[i].any && map_get(&fits[i].descriptors, a) &&
		    has_access(&fits[!i], b))
			return true;
		if (!fits[i].any && map_get(&fits[i].descriptors, b) &&
		    has_access(&fits[!i], a))
			return true;
	}
	return false;
}

static uint64_t cell_access(const struct matching *matching,
			    const struct pair_edge *edge, uint32_t place)
{
	const struct vec *cells =
		&matching->input->recordings[edge->recording]->cells;
	const struct trace_cell *cell = vec_at(cells, place);

	return access_key(edge->recording, cell->descriptor);
}

static struct error *add_edges(const struct matching *matching,
			       const struct fits fits[2], struct vec *edges)
{
	const struct vec *all = &matching->pairs->edges;

	for (size_t i = 0; i < all->count; i++) {
		const struct pair_edge *edge = vec_at(all, i);

		if (has_pair(fits, cell_access(matching, edge, edge->cell),
			     cell_access(matching, edge, edge->partner)) &&
		    !vec_push(edges, edge))
			return error_nomem;
	}
	return NULL;
}

static bool has_place(const struct fits *fits, uint32_t place)
{
	return fits->any || map_get(&fits->places, place);
}

/* Do its instructions conflict, and does the order of threads exclude each pair? */
static bool is_ordered(const struct matching *matching,
		       const struct fits fits[2])
{
	bool ordered = false;
	size_t cursor = 0;
	uint64_t key, value;

	while (map_next(&matching->pairs->own, &cursor, &key, &value)) {
		uint32_t low = (uint32_t)(key >> 32), high = (uint32_t)key;

		if (!(has_place(&fits[0], low) && has_place(&fits[1], high)) &&
		    !(has_place(&fits[0], high) && has_place(&fits[1], low)))
			continue;
		if (map_get(&matching->pairs->unordered, key))
			return false;
		ordered = true;
	}
	return ordered;
}

static struct error *alone_edge(const struct matching *matching,
				uint32_t number, uint32_t at,
				struct pair_edge *ret)
{
	const struct recording *recording = matching->input->recordings[number];
	const struct trace_cell *cell = vec_at(&recording->cells, at);
	const struct recording_descriptor *descriptor =
		recording_descriptor(recording, cell->descriptor);
	const struct trace_place *user = &descriptor->raw->place;
	struct error *err;

	*ret = (struct pair_edge){ .recording = number,
				   .cell = at,
				   .partner = at,
				   .follows = true,
				   .locks = PAIR_LOCKS_UNKNOWN,
				   .alone = true,
				   .distance_ns = ALONE_HOLD_NS,
				   .slept_ns = ALONE_HOLD_NS };
	err = code_number(matching->code, recording, user, &ret->place);
	if ((descriptor->raw->flags & TRACE_STRING) &&
	    descriptor->raw->depth > 0)
		user = &descriptor->stack[0];
	if (!err)
		err = code_number(matching->code, recording, user, &ret->user);
	ret->partner_place = ret->place;
	ret->partner_user = ret->user;
	return err;
}

static uint64_t first_of(const struct matching *matching,
			 const struct pair_edge *edge)
{
	const struct vec *cells =
		&matching->input->recordings[edge->recording]->cells;

	return ((const struct trace_cell *)vec_at(cells, edge->cell))->first;
}

/* Of each instruction the first execution; one of another process is as good. */
static struct error *keep_first(const struct matching *matching,
				const struct pair_edge *edge, struct vec *edges,
				bool *left_out)
{
	for (size_t i = 0; i < edges->count; i++) {
		struct pair_edge *other = vec_at(edges, i);

		if (other->user != edge->user)
			continue;
		if (other->recording == edge->recording &&
		    first_of(matching, edge) < first_of(matching, other))
			*other = *edge;
		return NULL;
	}
	if (edges->count == ALONE_MAX) {
		*left_out = true;
		return NULL;
	}
	return vec_push(edges, edge) ? NULL : error_nomem;
}

/* The kernel's access has no instruction to be held at. */
static bool can_be_held(const struct recording *recording,
			const struct trace_cell *cell)
{
	return !(recording_descriptor(recording, cell->descriptor)->raw->flags &
		 TRACE_SYSCALL);
}

/* Has it an access where others are in no recording? */
static bool has_crowded(const struct matching *matching,
			const struct fits *fits)
{
	size_t cursor = 0;
	uint64_t key, value;

	while (map_next(&fits->descriptors, &cursor, &key, &value)) {
		if (map_get(&matching->crowded, key))
			return true;
	}
	return false;
}

/*
 * May an access at the bytes of these be in no recording? Elsewhere some always are,
 * at bytes that many instructions access.
 */
static bool may_lack_access(const struct matching *matching,
			    const struct fits fits[2])
{
	if (matching->pairs->cells_left_out > 0)
		return true;
	for (size_t i = 0; i < matching->input->count; i++) {
		const struct recording *recording =
			matching->input->recordings[i];

		if (recording->cut || recording->end.starved_cells > 0)
			return true;
	}
	return has_crowded(matching, &fits[0]) ||
	       has_crowded(matching, &fits[1]);
}

static struct error *find_crowded(struct matching *matching)
{
	for (size_t n = 0; n < matching->input->count; n++) {
		const struct vec *cells =
			&matching->input->recordings[n]->cells;

		for (size_t i = 0; i < cells->count; i++) {
			const struct trace_cell *cell = vec_at(cells, i);

			if ((cell->flags & TRACE_CROWDED) &&
			    !map_set(&matching->crowded,
				     access_key(n, cell->descriptor), 1))
				return error_nomem;
		}
	}
	return NULL;
}

static struct error *add_alone(const struct matching *matching,
			       const struct fits fits[2], struct vec *edges,
			       bool *left_out)
{
	struct error *err = NULL;

	for (uint32_t n = 0; n < matching->input->count; n++) {
		const struct recording *recording =
			matching->input->recordings[n];

		for (uint32_t i = 0; !err && i < recording->cells.count; i++) {
			const struct trace_cell *cell =
				vec_at(&recording->cells, i);
			uint64_t key = access_key(n, cell->descriptor);
			struct pair_edge edge;

			if ((!map_get(&fits[0].descriptors, key) &&
			     !map_get(&fits[1].descriptors, key)) ||
			    !can_be_held(recording, cell))
				continue;
			err = alone_edge(matching, n, i, &edge);
			if (!err)
				err = keep_first(matching, &edge, edges,
						 left_out);
		}
	}
	return err;
}

static struct error *note_sides(struct candidate *candidate,
				const struct vec *sides)
{
	for (size_t i = 0; i < sides->count; i++) {
		const struct hunt_side *side = vec_at(sides, i);
		struct candidate_side *own = vec_append(&candidate->sides);

		if (!own)
			return error_nomem;
		memcpy(own->fingerprint, side->fingerprint,
		       sizeof(own->fingerprint));
	}
	return NULL;
}

/* The sides of these edges join those of the other candidates. */
static struct error *join_sides(const struct matching *matching,
				struct candidate *candidate,
				const struct sides_input *input,
				struct vec *edges, struct vec *sides)
{
	struct vec own = VEC_INIT(struct hunt_side);
	struct error *err = sides_make(input, edges, matching->code, &own);

	if (!err)
		err = note_sides(candidate, &own);
	if (!err)
		err = sides_join(sides, &own);
	for (size_t i = 0; i < own.count; i++)
		hunt_side_deinit(vec_at(&own, i));
	vec_deinit(&own);
	return err;
}

static struct error *make_sides(const struct matching *matching, size_t i,
				struct vec *sides, struct vec *ordered)
{
	const struct fits *fits = &matching->fits[2 * i];
	struct candidate *candidate = candidate_at(matching, i);
	struct sides_input input = *matching->input;
	struct vec edges = VEC_INIT(struct pair_edge);
	struct vec pruned = VEC_INIT(struct pair_edge);
	struct error *err = add_edges(matching, fits, &edges);
	bool alone = edges.count == 0;
	/* no order of what was recorded is one of the reported accesses */
	bool unknown = fits[0].any || fits[1].any ||
		       claim_is_unsure(candidate->fits[0]) ||
		       claim_is_unsure(candidate->fits[1]);

	candidate->ordered = !err && alone && is_ordered(matching, fits);
	if (!err)
		err = transfers_take_ordered(matching->transfers, &edges,
					     &pruned);
	/* what was left out, or is not named, may be the pair that is not ordered */
	if (!err && (alone || (unknown && edges.count == 0)) &&
	    (unknown || !(candidate->ordered && matching->complete)))
		err = add_alone(matching, fits, &edges, &candidate->left_out);
	candidate->incomplete = may_lack_access(matching, fits);
	if (!err)
		err = join_sides(matching, candidate, &input, &edges, sides);
	input.transfers = matching->transfers;
	if (!err)
		err = join_sides(matching, candidate, &input, &pruned, ordered);
	vec_deinit(&edges);
	vec_deinit(&pruned);
	return err;
}

static void matching_deinit(struct matching *matching)
{
	for (size_t i = 0; i < matching->named.count; i++) {
		struct named *named = vec_at(&matching->named, i);

		race_frames_clear(&named->frames);
		vec_deinit(&named->frames);
	}
	vec_deinit(&matching->named);
	map_deinit(&matching->by_number);
	map_deinit(&matching->crowded);
	for (size_t i = 0;
	     matching->fits && i < 2 * matching->candidates->items.count; i++) {
		map_deinit(&matching->fits[i].descriptors);
		map_deinit(&matching->fits[i].places);
	}
	free(matching->fits);
	symbolizer_destroy(matching->symbolizer);
}

/* Does it have all accesses? */
static bool is_complete(const struct sides_input *input,
			const struct pairs *pairs)
{
	bool complete = pairs->cells_left_out == 0;

	for (size_t i = 0; i < input->count; i++)
		complete &= !input->recordings[i]->cut &&
			    input->recordings[i]->end.dropped_cells == 0;
	return complete;
}

struct error *
candidates_sides(struct candidates *candidates, const struct sides_input *input,
		 const struct pairs *pairs, const struct transfers *transfers,
		 struct code *code, struct vec *sides, struct vec *ordered)
{
	struct matching matching = {
		.candidates = candidates,
		.input = input,
		.pairs = pairs,
		.transfers = transfers,
		.complete = is_complete(input, pairs),
		.code = code,
		.named = VEC_INIT(struct named),
		.fits = calloc(2 * candidates->items.count,
			       sizeof(*matching.fits)),
	};
	struct error *err =
		matching.fits ? symbolizer_create(NULL, &matching.symbolizer)
			      : error_nomem;

	for (size_t i = 0; !err && i < 2 * candidates->items.count; i++) {
		const struct race *race = candidate_at(&matching, i / 2)->race;

		matching.fits[i].any = !claim_has_place(&race->sides[i % 2]);
		matching.vague |= claim_is_vague(race);
	}
	for (size_t i = 0; !err && i < input->count; i++)
		err = fit_recording(&matching, i);
	if (!err)
		choose_fits(&matching);
	for (size_t i = 0; !err && i < input->count; i++)
		err = fit_recording(&matching, i);
	if (!err)
		err = fit_vague(&matching);
	if (!err)
		err = find_crowded(&matching);
	for (size_t i = 0; !err && i < candidates->items.count; i++) {
		if (candidate_at(&matching, i)->found)
			err = make_sides(&matching, i, sides, ordered);
	}
	if (!err) {
		sides_rank(sides);
		sides_rank(ordered);
	}
	matching_deinit(&matching);
	return err;
}
