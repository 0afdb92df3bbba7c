/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Memory that two programs share; see twins.h.
 */
#include "replay/twins.h"

#include "base/error.h"
#include "sys/mapping.h"

void twins_init(struct twins *twins)
{
	for (int i = 0; i < REPLAY_SPACES; i++)
		twins->shared[i] = (struct vec)VEC_INIT(struct mapping);
}

void twins_deinit(struct twins *twins)
{
	for (int i = 0; i < REPLAY_SPACES; i++)
		vec_deinit(&twins->shared[i]);
}

static bool twins_is_shared(const struct mapping *mapping)
{
	return mapping->access & MAPPING_SHARED && mapping->inode != 0 &&
	       !(mapping->access & MAPPING_EXECUTE);
}

static struct error *twins_read_one(const struct replay_source *source,
				    struct vec *ret)
{
	struct mapping mapping = { .end = 0 };
	bool found = true;

	vec_clear(ret);
	while (found) {
		struct error *err = replay_source_look(source, mapping.end,
						       &mapping, &found);

		/* it has ended: the rest is not known */
		if (err && err->kind != ERROR_NOMEM) {
			error_free(err);
			return NULL;
		}
		if (!err && found && twins_is_shared(&mapping) &&
		    !vec_push(ret, &mapping))
			err = error_nomem;
		if (err)
			return err;
	}
	return NULL;
}

struct error *twins_read(struct twins *twins,
			 const struct replay_source sources[REPLAY_SPACES],
			 uint64_t shift)
{
	struct error *err = NULL;

	twins->shift = shift;
	for (int i = 0; i < REPLAY_SPACES && !err; i++)
		err = twins_read_one(&sources[i], &twins->shared[i]);
	return err;
}

static const struct mapping *twins_at(const struct vec *shared, uint64_t page)
{
	for (size_t i = 0; i < shared->count; i++) {
		const struct mapping *it = vec_at(shared, i);

		if (page >= it->start && page < it->end)
			return it;
	}
	return NULL;
}

/* Where a mapping has the byte of a file that another one has there. */
static bool twins_place(const struct mapping *own, uint64_t page,
			const struct mapping *other, uint64_t *ret)
{
	uint64_t offset = own->offset + (page - own->start);

	if (other->inode != own->inode || other->device != own->device ||
	    offset < other->offset ||
	    offset - other->offset >= other->end - other->start)
		return false;
	*ret = other->start + (offset - other->offset);
	return true;
}

bool twins_find(const struct twins *twins, int space, uint64_t page,
		uint64_t *ret)
{
	const struct mapping *own = twins_at(&twins->shared[space], page);
	const struct vec *others = &twins->shared[!space];
	uint64_t shift = space == 0 ? twins->shift : -twins->shift;
	const struct mapping *first = twins_at(others, page + shift);
	uint64_t address;

	if (own && first && twins_place(own, page, first, &address) &&
	    address == page + shift) {
		*ret = address;
		return true;
	}
	for (size_t i = 0; own && i < others->count; i++) {
		if (twins_place(own, page, vec_at(others, i), ret))
			return true;
	}
	return false;
}
