/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Records from JSON objects, by their tables; see field.h.
 */
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "report/field.h"
#include "report/members.h"

/* A number, unless it is absent. */
static uint64_t read_number(struct members *in, const struct field *field,
			    const json_t *object)
{
	const char *key = field->name;

	switch (field->type) {
	case FIELD_ID:
		return members_uint(in, object, key, INT_MAX);
	case FIELD_SIGNED:
		return (uint64_t)members_signed(in, object, key);
	case FIELD_SECONDS:
		return members_seconds(in, object, key);
	case FIELD_US:
		return members_us(in, object, key);
	case FIELD_TIME:
		return members_time(in, object, key);
	case FIELD_ADDRESS:
		return members_address(in, object, key);
	case FIELD_BOOL:
		return members_bool(in, object, key);
	case FIELD_WORD:
		return members_word(in, object, key, field->words,
				    field->word_count);
	default:
		return members_uint(in, object, key,
				    field->size == sizeof(uint32_t)
					    ? UINT32_MAX
					    : UINT64_MAX);
	}
}

static void read_version(struct members *in, const struct field *field,
			 const json_t *object)
{
	uint64_t version = members_uint(in, object, field->name, UINT64_MAX);

	members_require(in, object, field->name);
	if (!in->err && version != FIELD_SCHEMA)
		in->err = error_create(ERROR_FORMAT,
				       "schema version %" PRIu64 " is not "
				       "known here, only %d",
				       version, FIELD_SCHEMA);
}

static void read_array(struct members *in, const struct field *field,
		       const json_t *object, void *record)
{
	const json_t *array = members_array(in, object, field->name);
	struct parts parts = field_parts(field, record);

	if (array && json_array_size(array) != parts.count)
		members_fail(in,
			     error_create(ERROR_FORMAT, "'%s' are %zu, not %zu",
					  field->name, json_array_size(array),
					  parts.count));
	for (size_t i = 0; array && i < parts.count && !in->err; i++)
		fields_read(in, field->of,
			    members_item(in, array, i, field->name),
			    part_at(&parts, i));
}

static void read_item(struct members *in, const struct field *field,
		      const json_t *array, size_t i, void *item)
{
	const json_t *value = json_array_get(array, i);
	json_int_t number = json_integer_value(value);

	if (field->of) {
		fields_init(field->of, item);
		fields_read(in, field->of,
			    members_item(in, array, i, field->name), item);
	} else if (field->type == FIELD_STRINGS && json_is_string(value)) {
		*(char **)item = members_copy(in, json_string_value(value));
	} else if (field->type == FIELD_NUMBERS && json_is_integer(value) &&
		   number >= 0 && number <= UINT32_MAX) {
		*(uint32_t *)item = (uint32_t)number;
	} else {
		members_fail(in, error_create(ERROR_FORMAT,
					      "'%s' has something in it that "
					      "is no %s",
					      field->name,
					      field->type == FIELD_STRINGS
						      ? "string"
						      : "number below 2^32"));
	}
}

/* Room for as many items; NULL: none are needed, or there is no memory. */
static char *make_items(struct members *in, const struct field *field,
			void *record, size_t count)
{
	struct parts parts = field_parts(field, record);
	/* strings are ended by NULL */
	char *items = calloc(count + 1, parts.size);

	if (items)
		field_set_list(field, record, items, count);
	else
		members_fail(in, error_nomem);
	return items;
}

static void read_list(struct members *in, const struct field *field,
		      const json_t *object, void *record)
{
	const json_t *array = members_array(in, object, field->name);
	size_t count = json_array_size(array);
	struct parts parts = field_parts(field, record);

	if (!array || (count == 0 && field->of))
		return;
	parts.items = make_items(in, field, record, count);
	if (!parts.items)
		return;
	for (size_t i = 0; i < count && !in->err; i++)
		read_item(in, field, array, i, part_at(&parts, i));
}

static void read_counts(struct members *in, const struct field *field,
			const json_t *object, void *record)
{
	const struct field *name = &field->of->members[0];
	const struct field *count = &field->of->members[1];
	const json_t *counts = members_object(in, object, field->name);
	json_t *each = (json_t *)(uintptr_t)counts;
	size_t items = json_object_size(counts);
	char *item = items ? make_items(in, field, record, items) : NULL;
	const char *key;
	json_t *value;

	if (!item)
		return;
	json_object_foreach(each, key, value)
	{
		char *text = members_copy(in, key);

		memcpy(field_at(name, item), &text, sizeof(text));
		field_set_number(count, item,
				 members_uint(in, counts, key, UINT64_MAX));
		item += field->of->size;
	}
}

static void read_text(struct members *in, const struct field *field,
		      const json_t *object, void *record)
{
	char *text = members_text(in, object, field->name);

	memcpy(field_at(field, record), &text, sizeof(text));
}

static void read_field(struct members *in, const struct field *field,
		       const json_t *object, void *record)
{
	void *at = field_at(field, record);

	switch (field->type) {
	case FIELD_TEXT:
		read_text(in, field, object, record);
		return;
	case FIELD_REAL:
		field_set_real(field, record,
			       members_real(in, object, field->name));
		return;
	case FIELD_BYTES:
		members_bytes(in, object, field->name, at, field->size);
		return;
	case FIELD_DIGITS:
		members_digits(in, object, field->name, at, field->size);
		return;
	case FIELD_OBJECT:
		fields_read(in, field->of,
			    members_object(in, object, field->name), at);
		return;
	case FIELD_ARRAY:
		read_array(in, field, object, record);
		return;
	case FIELD_LIST:
	case FIELD_STRINGS:
	case FIELD_NUMBERS:
		read_list(in, field, object, record);
		return;
	case FIELD_COUNTS:
		read_counts(in, field, object, record);
		return;
	case FIELD_VERSION:
		read_version(in, field, object);
		return;
	case FIELD_MADE:
		return;
	default:
		field_set_number(field, record,
				 field->absent && !members_has(object,
							       field->name)
					 ? field->absent
					 : read_number(in, field, object));
		return;
	}
}

void fields_read(struct members *in, const struct fields *fields,
		 const json_t *object, void *record)
{
	for (size_t i = 0; i < fields->count; i++) {
		const struct field *field = &fields->members[i];

		if (!field->name)
			continue;
		read_field(in, field, object, record);
		if (field->flags & FIELD_MEASURE)
			in->bytes = field_number(field, record);
	}
	if (fields->fill)
		fields->fill(in, object, record);
	/* last, so that a member that is wrong is named first */
	for (size_t i = 0; object && i < fields->count; i++) {
		if (fields->members[i].flags & FIELD_NEEDED)
			members_require(in, object, fields->members[i].name);
	}
}
