/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * src/report/field.c, and the tables themselves: they must fit the structs and
 * the JSON Schema.
 */
#include "report/field.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <jansson.h>

static const struct fields *const records[] = {
	&run_fields,	  &race_fields,	   &crash_fields,
	&progress_fields, &summary_fields,
};

enum { RECORDS = sizeof(records) / sizeof(records[0]) };

/* What a member of the type takes; 0: it depends. */
static size_t size_of(const struct field *field)
{
	switch (field->type) {
	case FIELD_TEXT:
		return sizeof(char *);
	case FIELD_ID:
		return sizeof(int);
	case FIELD_BOOL:
		return sizeof(bool);
	case FIELD_REAL:
		return sizeof(double);
	case FIELD_SIGNED:
	case FIELD_SECONDS:
	case FIELD_US:
	case FIELD_TIME:
	case FIELD_ADDRESS:
		return sizeof(uint64_t);
	case FIELD_OBJECT:
		return field->of->size;
	case FIELD_COUNT:
		return field->size == sizeof(uint32_t) ? field->size
						       : sizeof(uint64_t);
	case FIELD_LIST:
	case FIELD_STRINGS:
	case FIELD_NUMBERS:
		return field->size == sizeof(struct vec) ? field->size
							 : sizeof(void *);
	default:
		return 0;
	}
}

static void table_is_sound(const struct fields *fields)
{
	for (size_t i = 0; i < fields->count; i++) {
		const struct field *field = &fields->members[i];
		const char *name = field->name ? field->name : "(hidden)";
		size_t size = size_of(field);

		if (size && field->size != size)
			fail_msg("%s has %zu bytes", name, field->size);
		if (field->offset + size > fields->size)
			fail_msg("%s is outside", name);
		if ((field->type == FIELD_LIST && !field->count) ||
		    (field->type == FIELD_WORD && !field->words))
			fail_msg("%s lacks a part", name);
		for (size_t j = 0; j < i; j++) {
			const char *other = fields->members[j].name;

			if (other && strcmp(other, name) == 0)
				fail_msg("%s is there twice", name);
		}
		if (field->of)
			table_is_sound(field->of);
	}
}

static void tables_fit_their_structs(void **state)
{
	(void)state;
	for (size_t i = 0; i < RECORDS; i++)
		table_is_sound(records[i]);
}

static json_t *load_schema(void)
{
	const char *top = getenv("abs_top_srcdir");
	char path[4096];
	json_error_t error;
	json_t *schema;

	snprintf(path, sizeof(path), "%s/man/racewatch-json.schema.json",
		 top ? top : ".");
	schema = json_load_file(path, 0, &error);
	if (!schema)
		fail_msg("%s:%d: %s", path, error.line, error.text);
	return schema;
}

/* The definition that a property of the schema is of, in an array too. */
static const json_t *definition(const json_t *definitions, const json_t *part)
{
	const json_t *items = json_object_get(part, "items");
	const json_t *any = json_object_get(part, "anyOf");
	const char *path;

	part = items ? items : any ? json_array_get(any, 0) : part;
	path = json_string_value(json_object_get(part, "$ref"));
	if (!path)
		fail_msg("no definition: %s",
			 json_dumps(part, JSON_ENCODE_ANY));
	return json_object_get(definitions, strrchr(path, '/') + 1);
}

static void words_are_allowed(const struct field *field, const json_t *property)
{
	const json_t *words = json_object_get(property, "enum");
	size_t found = 0;

	for (unsigned int i = 0; i < field->word_count; i++) {
		if (i == field->absent && (field->flags & FIELD_NULL))
			continue;
		for (size_t j = 0;
		     field->words[i] && j < json_array_size(words); j++) {
			const char *word =
				json_string_value(json_array_get(words, j));

			found += word && strcmp(word, field->words[i]) == 0;
		}
		found += !field->words[i];
	}
	if (found != field->word_count - !!(field->flags & FIELD_NULL))
		fail_msg("the words of '%s' are not those of the schema",
			 field->name);
}

static bool is_required(const json_t *schema, const char *name)
{
	const json_t *required = json_object_get(schema, "required");
	bool found = false;

	for (size_t i = 0; i < json_array_size(required); i++)
		found |= strcmp(json_string_value(json_array_get(required, i)),
				name) == 0;
	return found;
}

/* The fields are the properties, in the same order. */
static void schema_has(const json_t *definitions, const json_t *schema,
		       const struct fields *fields)
{
	json_t *properties = json_object_get(schema, "properties");
	void *at = json_object_iter(properties);

	if (fields->type)
		at = json_object_iter_next(properties, at);
	for (size_t i = 0; i < fields->count; i++) {
		const struct field *field = &fields->members[i];
		const json_t *property;

		if (!field->name)
			continue;
		if (!at)
			fail_msg("the schema lacks '%s'", field->name);
		assert_string_equal(field->name, json_object_iter_key(at));
		property = json_object_iter_value(at);
		if (is_required(schema, field->name) !=
		    (field->type == FIELD_VERSION ||
		     (field->flags & FIELD_NEEDED) != 0))
			fail_msg("'%s' is required in one only", field->name);
		if (field->type == FIELD_WORD)
			words_are_allowed(field, property);
		if (field->of)
			schema_has(definitions,
				   definition(definitions, property),
				   field->of);
		at = json_object_iter_next(properties, at);
	}
	if (at)
		fail_msg("no table has '%s'", json_object_iter_key(at));
}

static void tables_are_the_schema(void **state)
{
	json_t *schema = load_schema();
	const json_t *definitions = json_object_get(schema, "$defs");

	(void)state;
	for (size_t i = 0; i < RECORDS; i++)
		schema_has(definitions,
			   json_object_get(definitions, records[i]->type),
			   records[i]);
	json_decref(schema);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(tables_fit_their_structs),
		cmocka_unit_test(tables_are_the_schema),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
