/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A hash map from uint64_t to uint64_t (a value, an index or a pointer in a
 * uintptr_t), open addressing with linear probing. Zero-initialized is empty.
 * Every key is allowed.
 */
#ifndef BASE_MAP_H
#define BASE_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct map_slot {
	uint64_t key;
	uint64_t value;
	bool used;
};

struct map {
	struct map_slot *slots;
	size_t count;
	/* a power of two, or 0 */
	size_t capacity;
};

/* Free the storage; the map is empty and usable afterwards. */
void map_deinit(struct map *map);

/* Set the value of key, new or not; false when out of memory. */
bool map_set(struct map *map, uint64_t key, uint64_t value);

/* The value's place, valid until the next change; NULL if absent. */
uint64_t *map_get(const struct map *map, uint64_t key);

/* Remove key; false if it was absent. */
bool map_remove(struct map *map, uint64_t key);

/*
 * Iterate: start with *cursor 0; false at the end. The map must not change
 * meanwhile. Order is unspecified but the same for the same history.
 */
bool map_next(const struct map *map, size_t *cursor, uint64_t *key,
	      uint64_t *value);

#endif
