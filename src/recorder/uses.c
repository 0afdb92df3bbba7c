/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Each site remembers its last use: a loop, and a function that is called from
 * one place, need no more than a comparison.
 */
#include "recorder/uses.h"

#include <stddef.h>

#include "hunt/trace-format.h"

enum { USES_RESERVED = 1 << 14 }; /* for context 0 */

_Static_assert(USES_MAX < 1 << 24, "use.next has 24 bits");
_Static_assert(sizeof(struct use) == 64, "one line of the processor's cache");
_Static_assert(sizeof(struct site) == 64, "likewise");

void uses_init(struct uses *uses)
{
	records_init(&uses->sites, sizeof(struct site));
	records_init(&uses->all, sizeof(struct use));
	table_init(&uses->by_site);
	table_init(&uses->by_use);
	uses->dropped = 0;
}

void uses_deinit(struct uses *uses)
{
	records_deinit(&uses->sites);
	records_deinit(&uses->all);
	table_deinit(&uses->by_site);
	table_deinit(&uses->by_use);
}

uint32_t uses_site(struct uses *uses, uint64_t address, uint32_t size,
		   uint32_t flags)
{
	uint32_t hash = table_hash(address, size ^ flags << 16), at = 0, id;
	struct site *site;

	while ((id = table_next(&uses->by_site, hash, &at)) != 0) {
		site = site_at(uses, id);
		if (site->address == address && site->size == size &&
		    site->flags == flags)
			return id;
	}
	id = records_add(&uses->sites);
	if (id == 0)
		return 0;
	site = site_at(uses, id);
	site->id = id;
	site->address = address;
	site->size = size;
	site->flags = flags;
	site->bytes = size <= 8 ? (uint8_t)((1u << size) - 1) : 0;
	table_add(&uses->by_site, hash, id);
	return id;
}

struct site *uses_site_in(struct uses *uses, uint64_t address,
			  uint32_t function, uint32_t size, uint32_t flags)
{
	uint32_t id = uses_site(uses, address, size,
				function ? flags | TRACE_STRING : flags);
	struct site *site = id ? site_at(uses, id) : NULL;

	if (site)
		site->function = function;
	return site;
}

static struct use *find(const struct uses *uses, uint32_t site, uint64_t key,
			uint32_t hash)
{
	uint32_t at = 0, id;

	while ((id = table_next(&uses->by_use, hash, &at)) != 0) {
		struct use *use = use_at(uses, id);

		if (use->site == site &&
		    uses_key(use->thread, use->context) == key)
			return use;
	}
	return NULL;
}

static struct use *add(struct uses *uses, struct site *site, uint64_t key,
		       uint32_t hash)
{
	uint32_t context = (uint32_t)key;
	uint32_t most = context == 0 ? USES_MAX : USES_MAX - USES_RESERVED;
	struct use *use;

	if (uses->all.count >= most)
		return NULL;
	use = use_at(uses, records_add(&uses->all));
	use->id = uses->all.count;
	use->site = site->id;
	use->thread = (uint32_t)(key >> 32);
	use->context = context;
	use->tag = table_hash(site->id, use->thread) >> 24;
	use->tag += use->tag == 0;
	use->next = site->uses;
	site->uses = use->id;
	table_add(&uses->by_use, hash, use->id);
	return use;
}

static struct use *find_or_add(struct uses *uses, struct site *site,
			       uint64_t key)
{
	uint32_t hash = table_hash(key, site->id);
	struct use *use = find(uses, site->id, key, hash);

	return use ? use : add(uses, site, key, hash);
}

struct use *uses_switch(struct uses *uses, struct site *site, uint64_t key)
{
	struct use *use = find_or_add(uses, site, key);

	if (!use) {
		uses->dropped++;
		use = find_or_add(uses, site, key >> 32 << 32);
	} else {
		site->key = key;
		site->last = use;
	}
	return use;
}
