/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Pages of an instance; see pagecache.h.
 */
#include "replay/pagecache.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "sys/mapping.h"
#include "sys/memory.h"

void pagecache_init(struct pagecache *cache)
{
	*cache = (struct pagecache){ .pages = VEC_INIT(struct cached_page *) };
}

static struct cached_page *pagecache_at(const struct pagecache *cache, size_t i)
{
	return *(struct cached_page **)vec_at(&cache->pages, i);
}

void pagecache_deinit(struct pagecache *cache)
{
	for (size_t i = 0; i < cache->pages.count; i++)
		free(pagecache_at(cache, i));
	vec_deinit(&cache->pages);
	map_deinit(&cache->index);
	cache->used = 0;
}

void pagecache_clear(struct pagecache *cache)
{
	map_deinit(&cache->index);
	cache->used = 0;
}

struct cached_page *pagecache_find(const struct pagecache *cache, uint64_t page)
{
	const uint64_t *i = map_get(&cache->index, page);

	return i ? pagecache_at(cache, *i) : NULL;
}

/* Unused, number i of those: the memory of an earlier one, or new. */
static struct cached_page *pagecache_spare(struct pagecache *cache, size_t i)
{
	while (cache->used + i >= cache->pages.count) {
		struct cached_page *page = calloc(1, sizeof(*page));

		if (!page || !vec_push(&cache->pages, &page)) {
			free(page);
			return NULL;
		}
	}
	return pagecache_at(cache, cache->used + i);
}

/* Number i of the spare ones becomes the next that is used. */
static bool pagecache_use(struct pagecache *cache, size_t i, uint64_t address)
{
	struct cached_page **next = vec_at(&cache->pages, cache->used);
	struct cached_page **it = vec_at(&cache->pages, cache->used + i);
	struct cached_page *page = *it;

	if (!map_set(&cache->index, address, cache->used))
		return false;
	*it = *next;
	*next = page;
	page->address = address;
	page->access = 0;
	page->twin = NULL;
	cache->used++;
	return true;
}

struct error *replay_source_look(const struct replay_source *source,
				 uint64_t address, struct mapping *ret,
				 bool *ret_found)
{
	return source->look
		       ? source->look(source->data, address, ret, ret_found)
		       : mappings_find(source->mappings, address, ret,
				       ret_found);
}

static void pagecache_hide(const struct replay_source *source,
			   struct cached_page *page)
{
	if (source->hide)
		source->hide(source->data, page->address, page->bytes);
}

/* At most this many at once. */
enum { FETCH_MAX = 64 };

static struct error *pagecache_fetch_some(struct pagecache *cache,
					  const struct replay_source *source,
					  const uint64_t *pages, size_t count)
{
	struct memory_page wanted[FETCH_MAX];
	struct cached_page *spare[FETCH_MAX];
	size_t n = 0;

	for (size_t i = 0; i < count; i++) {
		if (pagecache_find(cache, pages[i]))
			continue;
		spare[n] = pagecache_spare(cache, n);
		if (!spare[n])
			return error_nomem;
		wanted[n] = (struct memory_page){ .address = pages[i],
						  .bytes = spare[n]->bytes };
		n++;
	}
	memory_read_pages(source->memory, wanted, n);
	for (size_t i = 0; i < n && source->read; i++) {
		if (!wanted[i].read)
			wanted[i].read = source->read(source->data,
						      wanted[i].address,
						      wanted[i].bytes);
	}
	/* spare[i] is at used + gone: those before it are used, or left over */
	for (size_t i = 0, gone = 0; i < n; i++) {
		if (!wanted[i].read ||
		    pagecache_find(cache, wanted[i].address)) {
			gone++;
			continue;
		}
		if (!pagecache_use(cache, gone, wanted[i].address))
			return error_nomem;
		pagecache_hide(source, spare[i]);
	}
	return NULL;
}

struct error *pagecache_fetch(struct pagecache *cache,
			      const struct replay_source *source,
			      const uint64_t *pages, size_t count)
{
	struct error *err = NULL;

	for (size_t i = 0; i < count && !err; i += FETCH_MAX) {
		size_t some = count - i < FETCH_MAX ? count - i : FETCH_MAX;

		err = pagecache_fetch_some(cache, source, pages + i, some);
	}
	return err;
}

struct error *pagecache_add(struct pagecache *cache,
			    const struct replay_source *source, uint64_t page,
			    const uint8_t *bytes)
{
	struct cached_page *spare;

	if (pagecache_find(cache, page))
		return NULL;
	spare = pagecache_spare(cache, 0);
	if (!spare || !pagecache_use(cache, 0, page))
		return error_nomem;
	memcpy(spare->bytes, bytes, sizeof(spare->bytes));
	pagecache_hide(source, spare);
	return NULL;
}

struct error *pagecache_add_zeros(struct pagecache *cache, uint64_t page,
				  struct cached_page **ret)
{
	struct cached_page *spare = pagecache_spare(cache, 0);

	if (!spare || !pagecache_use(cache, 0, page))
		return error_nomem;
	memset(spare->bytes, 0, sizeof(spare->bytes));
	*ret = spare;
	return NULL;
}

bool pagecache_read(const struct pagecache *cache, uint64_t address,
		    void *bytes, size_t size)
{
	for (size_t done = 0, chunk; done < size; done += chunk) {
		uint64_t page = replay_page_of(address + done);
		size_t offset = (size_t)(address + done - page);
		const struct cached_page *it = pagecache_find(cache, page);

		if (!it)
			return false;
		chunk = REPLAY_PAGE - offset;
		if (chunk > size - done)
			chunk = size - done;
		memcpy((char *)bytes + done, it->bytes + offset, chunk);
	}
	return true;
}
