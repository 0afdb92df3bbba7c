/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The pages of one instance of a race, as the program had them: the live-in
 * memory of PLDI'07, section 4.2. All schedules of the instance start from them.
 */
#ifndef REPLAY_PAGECACHE_H
#define REPLAY_PAGECACHE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/map.h"
#include "base/vec.h"

struct error;
struct mapping;
struct mappings;
struct memory;

enum { REPLAY_PAGE = 4096 };

/* Where pages come from: a program. All belongs to the caller. */
struct replay_source {
	const struct memory *memory;
	struct mappings *mappings;
	/* In place of mappings_find(), which it may call; NULL: that is asked. */
	struct error *(*look)(void *data, uint64_t address, struct mapping *ret,
			      bool *ret_found);
	/*
	 * A page that cannot be read, of a program that has ended: what it was,
	 * where that is known for certain. NULL: it never is.
	 */
	bool (*read)(void *data, uint64_t page, uint8_t *bytes);
	/*
	 * Called for every page: takes breakpoints of ours out of its bytes.
	 * NULL: there are none.
	 */
	void (*hide)(void *data, uint64_t page, uint8_t *bytes);
	void *data; /* of these functions */
};

/* What is mapped there; as mappings_find(). */
struct error *replay_source_look(const struct replay_source *source,
				 uint64_t address, struct mapping *ret,
				 bool *ret_found);

struct cached_page {
	uint64_t address; /* of its first byte */
	unsigned int access; /* enum mapping_access; 0: not asked for yet */
	/*
	 * The same memory in the other address space of the instance, in whose
	 * cache it is; NULL: it is not shared, or there is no other.
	 */
	struct cached_page *twin;
	uint8_t bytes[REPLAY_PAGE];
};

struct pagecache {
	struct map index; /* address to number in `pages' */
	struct vec pages; /* struct cached_page *, used ones first */
	size_t used;
};

void pagecache_init(struct pagecache *cache);
void pagecache_deinit(struct pagecache *cache);
/* Forget the pages; pointers to them are invalid. Their memory is kept. */
void pagecache_clear(struct pagecache *cache);

/*
 * Read those of the pages that can be read and are not there yet, at once.
 * ERROR_NOMEM only.
 */
struct error *pagecache_fetch(struct pagecache *cache,
			      const struct replay_source *source,
			      const uint64_t *pages, size_t count);

/*
 * A page with these bytes, as they were in the program; not if it is there
 * already. ERROR_NOMEM only.
 */
struct error *pagecache_add(struct pagecache *cache,
			    const struct replay_source *source, uint64_t page,
			    const uint8_t *bytes);

/* A page of zeros, in place of what was there. ERROR_NOMEM only. */
struct error *pagecache_add_zeros(struct pagecache *cache, uint64_t page,
				  struct cached_page **ret);

/* NULL: it is not there. Valid until pagecache_clear(). */
struct cached_page *pagecache_find(const struct pagecache *cache,
				   uint64_t page);

/* Copy bytes out; false, and they mean nothing, where some are not there. */
bool pagecache_read(const struct pagecache *cache, uint64_t address,
		    void *bytes, size_t size);

/* The page that holds the address. */
static inline uint64_t replay_page_of(uint64_t address)
{
	return address & ~(uint64_t)(REPLAY_PAGE - 1);
}

#endif
