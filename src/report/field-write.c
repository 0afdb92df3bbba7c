/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Records as JSON objects, by their tables; see field.h. Every field is always
 * written; what is unknown is null.
 */
#include "base/clock.h"
#include "report/field.h"
#include "report/object.h"

/* What holds for the parts of a record too. */
struct writing {
	bool shown; /* FIELD_SHOWN alone */
	size_t bytes; /* the last FIELD_MEASURE */
};

static json_t *object_of(struct writing *writing, const struct fields *fields,
			 const void *record);

static json_t *number_of(const struct field *field, uint64_t n)
{
	if (n == field->absent && (field->flags & FIELD_NULL))
		return json_null();
	switch (field->type) {
	case FIELD_SIGNED:
		return json_integer((json_int_t)n);
	case FIELD_SECONDS:
		return object_real((double)n / 1e9);
	case FIELD_US:
		return object_uint(clock_round_us(n));
	case FIELD_TIME:
		return object_time(n);
	case FIELD_ADDRESS:
		return object_address(n);
	case FIELD_BOOL:
		return json_boolean(n);
	case FIELD_WORD:
		return object_text(n < field->word_count ? field->words[n]
							 : NULL);
	default:
		return object_uint(n);
	}
}

static json_t *real_of(const struct field *field, const void *record)
{
	double number = field_real(field, record);

	if (number <= 0 && (field->flags & FIELD_NULL))
		return json_null();
	return object_real(number);
}

static json_t *digits_of(const struct field *field, const char *digits)
{
	return object_text(!digits[0] && (field->flags & FIELD_NULL) ? NULL
								     : digits);
}

static json_t *part_of(struct writing *writing, const struct field *field,
		       const void *part)
{
	if (field->of)
		return object_of(writing, field->of, part);
	if (field->type == FIELD_NUMBERS)
		return json_integer(*(const uint32_t *)part);
	return object_text(field_pointer(part));
}

/* Strings and numbers are unknown without a list, structs with an empty one. */
static json_t *parts_of(struct writing *writing, const struct field *field,
			const void *record)
{
	struct parts parts = field_parts(field, record);
	struct object array = { NULL, false };

	if ((field->flags & FIELD_NULL) &&
	    (field->of ? parts.count == 0 : !parts.items))
		return json_null();
	array.object = json_array();
	for (size_t i = 0; i < parts.count; i++)
		object_append(&array, array.object,
			      part_of(writing, field, part_at(&parts, i)));
	return object_end(&array);
}

/* Each struct of a text and a number is a member. */
static json_t *counts_of(const struct field *field, const void *record)
{
	struct parts parts = field_parts(field, record);
	const struct field *name = &field->of->members[0];
	const struct field *count = &field->of->members[1];
	struct object object = object_begin(NULL);

	for (size_t i = 0; i < parts.count; i++) {
		const void *part = part_at(&parts, i);

		object_put(&object, field_pointer(field_at(name, part)),
			   object_uint(field_number(count, part)));
	}
	return object_end(&object);
}

static json_t *value_of(struct writing *writing, const struct field *field,
			const void *record)
{
	void *at = field_at(field, record);

	switch (field->type) {
	case FIELD_TEXT:
		return object_text(field_pointer(at));
	case FIELD_REAL:
		return real_of(field, record);
	case FIELD_BYTES:
		return object_bytes(at, writing->bytes < field->size
						? writing->bytes
						: field->size);
	case FIELD_DIGITS:
		return digits_of(field, at);
	case FIELD_OBJECT:
		return object_of(writing, field->of, at);
	case FIELD_ARRAY:
	case FIELD_LIST:
	case FIELD_STRINGS:
	case FIELD_NUMBERS:
		return parts_of(writing, field, record);
	case FIELD_COUNTS:
		return counts_of(field, record);
	case FIELD_VERSION:
		return json_integer(FIELD_SCHEMA);
	case FIELD_MADE:
		return object_text(field->made ? field->made(record) : NULL);
	default:
		return number_of(field, field_number(field, record));
	}
}

static json_t *object_of(struct writing *writing, const struct fields *fields,
			 const void *record)
{
	struct object object = object_begin(fields->type);

	for (size_t i = 0; i < fields->count; i++) {
		const struct field *field = &fields->members[i];

		if (field->flags & FIELD_MEASURE)
			writing->bytes = field_number(field, record);
		if (!field->name ||
		    (writing->shown && field->merge != FIELD_SHOWN))
			continue;
		object_put(&object, field->name,
			   !field->known || field->known(record)
				   ? value_of(writing, field, record)
				   : json_null());
	}
	return object_end(&object);
}

static struct error *write_line(struct writing *writing,
				const struct fields *fields, const void *record,
				FILE *out)
{
	struct object line = { object_of(writing, fields, record), false };

	line.failed = !line.object;
	return object_write(&line, out);
}

struct error *fields_write(const struct fields *fields, const void *record,
			   FILE *out)
{
	struct writing writing = { .shown = false };

	return write_line(&writing, fields, record, out);
}

struct error *fields_write_shown(const struct fields *fields,
				 const void *record, FILE *out)
{
	struct writing writing = { .shown = true };

	return write_line(&writing, fields, record, out);
}
