/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A hash map; see map.h. Removal shifts later entries back instead of leaving
 * tombstones, so that long-lived maps do not slow down.
 */
#include "base/map.h"

#include <stdlib.h>

enum { MAP_FIRST_CAPACITY = 16 };

static size_t map_home(const struct map *map, uint64_t key)
{
	key ^= key >> 32;
	key *= 0x9fb21c651e98df25u;
	key ^= key >> 35;
	return (size_t)key & (map->capacity - 1);
}

void map_deinit(struct map *map)
{
	free(map->slots);
	map->slots = NULL;
	map->count = 0;
	map->capacity = 0;
}

/* The slot of key, or the free slot where it would go. */
static struct map_slot *map_find(const struct map *map, uint64_t key)
{
	size_t i = map_home(map, key);

	while (map->slots[i].used && map->slots[i].key != key)
		i = (i + 1) & (map->capacity - 1);
	return &map->slots[i];
}

static bool map_grow(struct map *map)
{
	struct map bigger = { .count = map->count };

	bigger.capacity = map->capacity ? map->capacity * 2
					: MAP_FIRST_CAPACITY;
	bigger.slots = calloc(bigger.capacity, sizeof(*bigger.slots));
	if (!bigger.slots)
		return false;
	for (size_t i = 0; i < map->capacity; i++) {
		if (map->slots[i].used)
			*map_find(&bigger, map->slots[i].key) = map->slots[i];
	}
	free(map->slots);
	*map = bigger;
	return true;
}

bool map_set(struct map *map, uint64_t key, uint64_t value)
{
	struct map_slot *slot;

	if (map->count >= map->capacity / 4 * 3 && !map_grow(map))
		return false;
	slot = map_find(map, key);
	if (!slot->used)
		map->count++;
	slot->key = key;
	slot->value = value;
	slot->used = true;
	return true;
}

uint64_t *map_get(const struct map *map, uint64_t key)
{
	struct map_slot *slot;

	if (map->count == 0)
		return NULL;
	slot = map_find(map, key);
	return slot->used ? &slot->value : NULL;
}

bool map_remove(struct map *map, uint64_t key)
{
	size_t mask = map->capacity - 1;
	struct map_slot *slot;
	size_t hole;

	if (map->count == 0)
		return false;
	slot = map_find(map, key);
	if (!slot->used)
		return false;
	hole = (size_t)(slot - map->slots);
	for (size_t i = (hole + 1) & mask; map->slots[i].used;
	     i = (i + 1) & mask) {
		size_t home = map_home(map, map->slots[i].key);

		/* may move back only if its home is not after the hole */
		if (((i - home) & mask) >= ((i - hole) & mask)) {
			map->slots[hole] = map->slots[i];
			hole = i;
		}
	}
	map->slots[hole].used = false;
	map->count--;
	return true;
}

bool map_next(const struct map *map, size_t *cursor, uint64_t *key,
	      uint64_t *value)
{
	while (*cursor < map->capacity) {
		const struct map_slot *slot = &map->slots[(*cursor)++];

		if (slot->used) {
			*key = slot->key;
			*value = slot->value;
			return true;
		}
	}
	return false;
}
