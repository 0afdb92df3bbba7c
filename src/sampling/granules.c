/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Recent accesses; see granules.h. A set-associative table: a granule may be in
 * any of the ways of one set, and the least recently used one is replaced.
 */
#include "sampling/granules.h"

#include <stdlib.h>
#include <string.h>

void granules_init(struct granules *granules)
{
	memset(granules, 0, sizeof(*granules));
}

void granules_deinit(struct granules *granules)
{
	free(granules->table);
	granules->table = NULL;
}

static uint64_t granule_mix(uint64_t key)
{
	key ^= key >> 31;
	key *= 0x9e3779b97f4a7c15u;
	return key ^ key >> 29;
}

/* The granule's place, cleared if another lies there or none does. */
static struct granule *granule_place(struct granules *granules, uint64_t key)
{
	size_t set = granule_mix(key) % GRANULES_SETS;
	struct granule *ways = &granules->table[set * GRANULES_WAYS];
	struct granule *oldest = ways;

	for (int i = 0; i < GRANULES_WAYS; i++) {
		if (ways[i].when != 0 && ways[i].key == key)
			return &ways[i];
		/* in age, so that the count may wrap around */
		if (oldest->when != 0 &&
		    (ways[i].when == 0 || granules->now - ways[i].when >
						  granules->now - oldest->when))
			oldest = &ways[i];
	}
	memset(oldest, 0, sizeof(*oldest));
	oldest->key = key;
	return oldest;
}

static bool access_lives(const struct granules *granules,
			 const struct granule_access *access)
{
	return access->tid != 0 && granules->now - access->when < GRANULES_AGE;
}

static void met_add(uint32_t site, uint32_t sites[GRANULES_MET_MAX],
		    size_t *count)
{
	for (size_t i = 0; i < *count; i++) {
		if (sites[i] == site)
			return;
	}
	if (*count < GRANULES_MET_MAX)
		sites[(*count)++] = site;
}

static void granule_meet(const struct granules *granules,
			 const struct granule *granule,
			 const struct granule_access *access,
			 uint32_t sites[GRANULES_MET_MAX], size_t *count)
{
	for (int i = 0; i < GRANULE_ACCESSES; i++) {
		const struct granule_access *other = &granule->accesses[i];

		if (access_lives(granules, other) &&
		    other->tid != access->tid &&
		    (other->bytes & access->bytes) &&
		    ((other->kind | access->kind) & ACCESS_WRITE))
			met_add(other->site, sites, count);
	}
}

/* In the place of the same thread's at the same location, or of the oldest. */
static void granule_put(const struct granules *granules,
			struct granule *granule,
			const struct granule_access *access)
{
	struct granule_access *place = &granule->accesses[0];

	for (int i = 0; i < GRANULE_ACCESSES; i++) {
		struct granule_access *other = &granule->accesses[i];

		if (other->tid == access->tid && other->site == access->site) {
			place = other;
			break;
		}
		if (place->tid != 0 &&
		    (other->tid == 0 ||
		     granules->now - other->when > granules->now - place->when))
			place = other;
	}
	*place = *access;
	granule->when = access->when;
}

/* The bits of the access's bytes in the granule that begins there. */
static uint8_t granule_bytes(const struct mem_access *access, uint64_t start)
{
	uint8_t bytes = 0;

	for (unsigned int i = 0; i < GRANULE_BYTES; i++) {
		if (start + i - access->address < access->size)
			bytes |= (uint8_t)(1u << i);
	}
	return bytes;
}

size_t granules_add(struct granules *granules,
		    const struct granules_event *event,
		    uint32_t ret_sites[GRANULES_MET_MAX])
{
	struct granule_access access = {
		.site = event->site,
		.tid = event->tid,
		.kind = event->access.kind,
	};
	uint64_t first = event->access.address / GRANULE_BYTES;
	uint64_t last = (event->access.address + event->access.size - 1) /
			GRANULE_BYTES;
	size_t count = 0;

	if (!granules->table)
		granules->table = calloc((size_t)GRANULES_SETS * GRANULES_WAYS,
					 sizeof(*granules->table));
	if (!granules->table || event->access.size == 0 ||
	    event->access.size > X86_ACCESS_MAX || last < first)
		return 0;
	/* 0 stands for never */
	if (++granules->now == 0)
		granules->now = 1;
	access.when = granules->now;
	for (uint64_t n = first; n <= last; n++) {
		/* addresses have 47 bits */
		uint64_t key = n | (uint64_t)(uint32_t)event->pid << 44;
		struct granule *granule = granule_place(granules, key);

		access.bytes = granule_bytes(&event->access, n * GRANULE_BYTES);
		granule_meet(granules, granule, &access, ret_sites, &count);
		granule_put(granules, granule, &access);
	}
	return count;
}
