/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Freeing records by their tables; see field.h.
 */
#include "report/field.h"

#include <stdlib.h>
#include <string.h>

/* About what malloc() adds to a text. */
enum { FIELD_OVERHEAD = 24 };

/* Little endian: a smaller number is the beginning of a larger one. */
uint64_t field_number(const struct field *field, const void *record)
{
	uint64_t n = 0;

	memcpy(&n, field_at(field, record), field->size);
	return n == 0 && (field->flags & FIELD_ONE) ? 1 : n;
}

void field_set_number(const struct field *field, void *record, uint64_t n)
{
	memcpy(field_at(field, record), &n, field->size);
}

double field_real(const struct field *field, const void *record)
{
	double number;

	memcpy(&number, field_at(field, record), sizeof(number));
	return number;
}

void field_set_real(const struct field *field, void *record, double number)
{
	memcpy(field_at(field, record), &number, sizeof(number));
}

void *field_pointer(const void *at)
{
	void *pointer;

	memcpy(&pointer, at, sizeof(pointer));
	return pointer;
}

static bool field_is_list(const struct field *field)
{
	return field->type == FIELD_LIST || field->type == FIELD_STRINGS ||
	       field->type == FIELD_NUMBERS;
}

static bool field_has_texts(const struct field *field)
{
	return field->type == FIELD_TEXT || field->type == FIELD_STRINGS;
}

static bool field_is_vec(const struct field *field)
{
	return field_is_list(field) && field->size == sizeof(struct vec);
}

static size_t list_count(const struct field *field, const void *record)
{
	char *const *strings = field_pointer(field_at(field, record));
	size_t count = 0;

	if (field->count)
		memcpy(&count, (const char *)record + field->count,
		       sizeof(count));
	else
		while (strings && strings[count])
			count++;
	return count;
}

struct parts field_parts(const struct field *field, const void *record)
{
	struct parts parts = { field_at(field, record), 1, sizeof(char *) };

	if (field->of)
		parts.size = field->of->size;
	else if (field->type == FIELD_NUMBERS)
		parts.size = sizeof(uint32_t);
	if (field_is_list(field)) {
		parts.count = list_count(field, record);
		parts.items = field_pointer(parts.items);
	} else if (field->of) {
		parts.count = field->size / field->of->size;
	} else if (field->type != FIELD_TEXT) {
		parts.count = 0;
	}
	return parts;
}

void field_set_list(const struct field *field, void *record, void *items,
		    size_t count)
{
	memcpy(field_at(field, record), &items, sizeof(items));
	if (field->count)
		memcpy((char *)record + field->count, &count, sizeof(count));
	if (field_is_vec(field))
		((struct vec *)field_at(field, record))->capacity = count;
}

void fields_init(const struct fields *fields, void *record)
{
	memset(record, 0, fields->size);
	for (size_t i = 0; i < fields->count; i++) {
		const struct field *field = &fields->members[i];
		struct parts parts = field_parts(field, record);

		if (field_is_vec(field))
			((struct vec *)field_at(field, record))->size =
				parts.size;
		for (size_t j = 0; field->of && j < parts.count; j++)
			fields_init(field->of, part_at(&parts, j));
	}
}

static void free_field(const struct field *field, void *record)
{
	struct parts parts = field_parts(field, record);

	for (size_t i = 0; i < parts.count; i++) {
		if (field->of)
			fields_deinit(field->of, part_at(&parts, i));
		else if (field_has_texts(field))
			free(field_pointer(part_at(&parts, i)));
	}
	if (field_is_list(field))
		free(parts.items);
}

void fields_deinit(const struct fields *fields, void *record)
{
	for (size_t i = 0; i < fields->count; i++)
		free_field(&fields->members[i], record);
	fields_init(fields, record);
}

static size_t field_memory(const struct field *field, const void *record)
{
	struct parts parts = field_parts(field, record);
	size_t memory = field_is_list(field) ? parts.count * parts.size : 0;

	for (size_t i = 0; i < parts.count; i++) {
		const void *part = part_at(&parts, i);

		if (field->of)
			memory += fields_memory(field->of, part);
		else if (field_has_texts(field) && field_pointer(part))
			memory += strlen(field_pointer(part)) + FIELD_OVERHEAD;
	}
	return memory;
}

size_t fields_memory(const struct fields *fields, const void *record)
{
	size_t memory = 0;

	for (size_t i = 0; i < fields->count; i++)
		memory += field_memory(&fields->members[i], record);
	return memory;
}
