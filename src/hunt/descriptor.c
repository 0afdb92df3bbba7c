/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Algorithm 2; see descriptor.h. A recording has no single executions: it counts
 * them by thread, instruction and stack top, and that suffices.
 */
#include "hunt/descriptor.h"

#include <stdlib.h>

#include "base/error.h"
#include "hunt/code.h"
#include "hunt/recording.h"

static int compare_users(const void *one, const void *two)
{
	const struct descriptor_user *a = one, *b = two;

	if (a->place != b->place)
		return a->place < b->place ? -1 : 1;
	if (a->thread != b->thread)
		return a->thread < b->thread ? -1 : 1;
	return (a->descriptor > b->descriptor) -
	       (a->descriptor < b->descriptor);
}

static struct error *add_user(struct descriptors *descriptors,
			      struct code *code, uint32_t thread, uint32_t id)
{
	const struct trace_descriptor *raw =
		recording_descriptor(descriptors->recording, id)->raw;
	struct descriptor_user user = { .thread = thread, .descriptor = id };
	struct error *err = code_number(code, descriptors->recording,
					&raw->place, &user.place);

	if (err)
		return err;
	return vec_push(&descriptors->users, &user) ? NULL : error_nomem;
}

/* Once each, and where those of an instruction begin. */
static bool sort_users(struct descriptors *descriptors)
{
	struct vec *users = &descriptors->users;
	struct descriptor_user *items = users->items;
	size_t kept = 0;

	if (users->count)
		qsort(items, users->count, sizeof(*items), compare_users);
	for (size_t i = 0; i < users->count; i++) {
		if (kept && compare_users(&items[kept - 1], &items[i]) == 0)
			continue;
		items[kept] = items[i];
		if ((!kept || items[kept - 1].place != items[kept].place) &&
		    !map_set(&descriptors->first, items[kept].place, kept))
			return false;
		kept++;
	}
	users->count = kept;
	return true;
}

/*
 * The recorder writes uses at the end; of a trace that was cut, the cells say as
 * much as is known.
 */
struct error *descriptors_create(struct descriptors *descriptors,
				 const struct recording *recording,
				 struct code *code)
{
	struct error *err = NULL;

	*descriptors = (struct descriptors){
		.recording = recording,
		.users = VEC_INIT(struct descriptor_user),
	};
	for (size_t i = 0; !err && i < recording->uses.count; i++) {
		const struct trace_uses *uses = vec_at(&recording->uses, i);

		err = add_user(descriptors, code, uses->thread,
			       uses->descriptor);
	}
	for (size_t i = 0; !err && i < recording->cells.count; i++) {
		const struct trace_cell *cell = vec_at(&recording->cells, i);

		err = add_user(descriptors, code, cell->thread,
			       cell->descriptor);
	}
	if (!err && !sort_users(descriptors))
		err = error_nomem;
	if (err)
		descriptors_deinit(descriptors);
	return err;
}

void descriptors_deinit(struct descriptors *descriptors)
{
	vec_deinit(&descriptors->users);
	map_deinit(&descriptors->first);
}

static bool same_place(const struct trace_place *a, const struct trace_place *b)
{
	return a->module == b->module && a->offset == b->offset;
}

/* How many return addresses two stacks have in common. */
static uint32_t common_depth(const struct recording_descriptor *a,
			     const struct recording_descriptor *b)
{
	uint32_t depth = 0;

	while (depth < a->raw->depth && depth < b->raw->depth &&
	       same_place(&a->stack[depth], &b->stack[depth]))
		depth++;
	return depth;
}

/* Were both created at the same place, with the same stack? */
static bool same_origin(const struct recording *recording, uint32_t one,
			uint32_t two)
{
	const struct trace_thread *a = &recording_thread(recording, one)->raw;
	const struct trace_thread *b = &recording_thread(recording, two)->raw;

	return one == two || (a->parent && b->parent && a->descriptor &&
			      a->descriptor == b->descriptor);
}

static bool is_of_any(const struct recording *recording,
		      const struct descriptor_user *users, size_t count,
		      uint32_t thread)
{
	for (size_t i = 0; i < count; i++) {
		if (!same_origin(recording, users[i].thread, thread))
			return false;
	}
	return true;
}

static struct descriptor_found find_among(const struct recording *recording,
					  const struct descriptor_user *users,
					  size_t count,
					  const struct trace_cell *cell)
{
	const struct recording_descriptor *own =
		recording_descriptor(recording, cell->descriptor);
	struct descriptor_found found = {
		.any_thread = is_of_any(recording, users, count, cell->thread),
	};

	for (size_t i = 0; i < count; i++) {
		const struct recording_descriptor *other =
			recording_descriptor(recording, users[i].descriptor);
		uint32_t depth = common_depth(own, other);

		/* the same stack whole: another kind of access */
		if ((!found.any_thread && users[i].thread != cell->thread) ||
		    (depth == own->raw->depth && depth == other->raw->depth))
			continue;
		if (depth < own->raw->depth && depth + 1 > found.depth)
			found.depth = depth + 1;
	}
	return found;
}

struct error *descriptors_find(const struct descriptors *descriptors,
			       const struct trace_cell *cell, struct code *code,
			       struct descriptor_found *ret)
{
	const struct recording *recording = descriptors->recording;
	const struct trace_descriptor *raw =
		recording_descriptor(recording, cell->descriptor)->raw;
	const struct descriptor_user *users;
	const uint64_t *first;
	uint32_t place;
	size_t count = 0;
	struct error *err = code_number(code, recording, &raw->place, &place);

	if (err)
		return err;
	first = map_get(&descriptors->first, place);
	users = vec_at(&descriptors->users, *first);
	while (*first + count < descriptors->users.count &&
	       users[count].place == place)
		count++;
	*ret = find_among(recording, users, count, cell);
	return NULL;
}
