/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A growable array of items of equal size. All zero except `size` is an empty
 * vector: struct vec v = VEC_INIT(struct item). Pointers into it are valid
 * until the next call that may grow it.
 */
#ifndef BASE_VEC_H
#define BASE_VEC_H

#include <stdbool.h>
#include <stddef.h>

struct vec {
	void *items;
	size_t count;
	size_t capacity;
	/* bytes of one item */
	size_t size;
};

#define VEC_INIT(type)                   \
	{                                \
		NULL, 0, 0, sizeof(type) \
	}

/* Free the storage; the vector is empty and usable afterwards. */
void vec_deinit(struct vec *vec);

/* Room for at least n items in all; false when out of memory. */
bool vec_reserve(struct vec *vec, size_t n);

/* Append a zeroed item and return it; NULL when out of memory. */
void *vec_append(struct vec *vec);

/* Append a copy of *item; false when out of memory. */
bool vec_push(struct vec *vec, const void *item);

/* Remove item i by moving the last one into its place. */
void vec_remove_swap(struct vec *vec, size_t i);

/* Remove item i keeping the order. */
void vec_remove(struct vec *vec, size_t i);

/* Remove the first n elements, keeping the order of the others. */
void vec_remove_first(struct vec *vec, size_t n);

static inline void *vec_at(const struct vec *vec, size_t i)
{
	return (char *)vec->items + i * vec->size;
}

static inline void vec_clear(struct vec *vec)
{
	vec->count = 0;
}

#endif
