/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Address spaces of an instance; see space-parts.h.
 */
#include "replay/space-parts.h"

#include <string.h>

#include "base/error.h"
#include "replay/processor-parts.h"
#include "sys/mapping.h"
#include "sys/memory.h"

void space_init(struct space *space)
{
	pagecache_init(&space->cache);
	space->hazards = (struct vec)VEC_INIT(struct hazard);
}

void space_deinit(struct space *space)
{
	scratch_destroy(space->scratch);
	vec_deinit(&space->hazards);
	pagecache_deinit(&space->cache);
}

int processor_space_of(const struct processor *processor, int thread)
{
	return processor->instance.two ? thread : 0;
}

struct space *processor_space(struct processor *processor, int thread)
{
	return &processor->spaces[processor_space_of(processor, thread)];
}

struct error *space_link(struct processor *processor, int space,
			 struct cached_page *page)
{
	struct pagecache *other = &processor->spaces[!space].cache;
	struct cached_page *twin;
	struct error *err;
	uint64_t address;

	if (!processor->instance.two || page->twin ||
	    !twins_find(&processor->twins, space, page->address, &address))
		return NULL;
	err = pagecache_add(other, &processor->spaces[!space].source, address,
			    page->bytes);
	if (err)
		return err;
	twin = pagecache_find(other, address);
	/* mapped twice in one of the two: another page's already */
	if (twin->twin)
		return NULL;
	memcpy(twin->bytes, page->bytes, REPLAY_PAGE);
	page->twin = twin;
	twin->twin = page;
	return NULL;
}

struct error *space_link_all(struct processor *processor)
{
	struct error *err = NULL;

	for (int i = 0; i < REPLAY_SPACES; i++) {
		struct pagecache *cache = &processor->spaces[i].cache;

		for (size_t j = 0; j < cache->used && !err; j++)
			err = space_link(processor, i,
					 *(struct cached_page **)vec_at(
						 &cache->pages, j));
	}
	return err;
}

static bool space_is_installed(const struct space *space,
			       const struct cached_page *page)
{
	return scratch_is_installed(space->scratch, page->address);
}

static struct error *space_read(const struct space *space,
				const struct cached_page *page, uint8_t *bytes)
{
	size_t read = 0;
	struct error *err = memory_read(scratch_memory(space->scratch),
					page->address, bytes, REPLAY_PAGE,
					&read);

	if (!err && read < REPLAY_PAGE)
		err = error_create(ERROR_OTHER,
				   "a page of the scratch process is lost");
	return err;
}

/* What the code there may have written to a page, if the other space has it. */
static struct error *space_copy(const struct space *from, struct space *to,
				const struct cached_page *page)
{
	uint8_t now[REPLAY_PAGE], there[REPLAY_PAGE];
	struct error *err;

	if (!page->twin || !(page->access & MAPPING_WRITE) ||
	    !space_is_installed(from, page) ||
	    !space_is_installed(to, page->twin))
		return NULL;
	err = space_read(from, page, now);
	if (!err)
		err = space_read(to, page->twin, there);
	if (err || memcmp(now, there, REPLAY_PAGE) == 0)
		return err;
	return scratch_poke(to->scratch, page->twin->address, now, REPLAY_PAGE);
}

struct error *processor_enter(struct processor *processor, int thread)
{
	int number = processor_space_of(processor, thread);
	const struct space *from = &processor->spaces[processor->current];
	struct error *err = NULL;

	if (number == processor->current)
		return NULL;
	for (size_t i = 0; i < from->cache.used && !err; i++)
		err = space_copy(
			from, &processor->spaces[number],
			*(struct cached_page **)vec_at(&from->cache.pages, i));
	processor->current = number;
	return err;
}

struct error *space_read_twin(const struct processor *processor, int space,
			      const struct cached_page *page, uint8_t *bytes)
{
	const struct space *other = &processor->spaces[!space];

	return page->twin && space_is_installed(other, page->twin)
		       ? space_read(other, page->twin, bytes)
		       : NULL;
}

void space_canonical(const struct processor *processor, int *space,
		     uint64_t *address)
{
	uint64_t page = replay_page_of(*address);
	const struct cached_page *cached =
		pagecache_find(&processor->spaces[*space].cache, page);

	if (*space == 0 || !cached || !cached->twin)
		return;
	*space = 0;
	*address = cached->twin->address + (*address - page);
}
