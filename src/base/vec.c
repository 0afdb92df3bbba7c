/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A growable array; see vec.h.
 */
#include "base/vec.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { VEC_FIRST_CAPACITY = 8 };

void vec_deinit(struct vec *vec)
{
	free(vec->items);
	vec->items = NULL;
	vec->count = 0;
	vec->capacity = 0;
}

bool vec_reserve(struct vec *vec, size_t n)
{
	size_t capacity = vec->capacity ? vec->capacity : VEC_FIRST_CAPACITY;
	void *items;

	if (n <= vec->capacity)
		return true;
	if (n > SIZE_MAX / 2 / vec->size)
		return false;
	while (capacity < n)
		capacity += capacity / 2 + 1;
	items = reallocarray(vec->items, capacity, vec->size);
	if (!items)
		return false;
	vec->items = items;
	vec->capacity = capacity;
	return true;
}

void *vec_append(struct vec *vec)
{
	void *item;

	if (!vec_reserve(vec, vec->count + 1))
		return NULL;
	item = vec_at(vec, vec->count++);
	memset(item, 0, vec->size);
	return item;
}

bool vec_push(struct vec *vec, const void *item)
{
	if (!vec_reserve(vec, vec->count + 1))
		return false;
	memcpy(vec_at(vec, vec->count++), item, vec->size);
	return true;
}

void vec_remove_swap(struct vec *vec, size_t i)
{
	vec->count--;
	if (i != vec->count)
		memcpy(vec_at(vec, i), vec_at(vec, vec->count), vec->size);
}

void vec_remove_first(struct vec *vec, size_t n)
{
	vec->count -= n;
	if (n > 0 && vec->count > 0)
		memmove(vec_at(vec, 0), vec_at(vec, n), vec->count * vec->size);
}

void vec_remove(struct vec *vec, size_t i)
{
	vec->count--;
	memmove(vec_at(vec, i), vec_at(vec, i + 1),
		(vec->count - i) * vec->size);
}
