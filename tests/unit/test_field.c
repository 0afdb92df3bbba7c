/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * src/report/field.c, and the tables themselves: they must fit the structs and
 * the JSON Schema, and every way of merging must do what field.h says.
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

#include "report/totals.h"

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
	case FIELD_COUNTS:
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
	size_t shares = 0;

	(void)state;
	for (size_t i = 0; i < RECORDS; i++)
		table_is_sound(records[i]);
	for (size_t i = 0; i < summary_fields.count; i++)
		shares += summary_fields.members[i].merge == FIELD_SHARE;
	assert_int_equal(shares, TOTALS_SHARES);
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
		if (field->of && field->type != FIELD_COUNTS)
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

struct item {
	char *name;
	uint64_t most;
};

struct sum {
	uint64_t sum, most, least, us, one;
	char *first, *same;
	char **words, **strings;
	uint8_t bits[2];
	bool both;
	int shown;
	double real;
	struct vec items; /* of struct item */
};

#define AT(member) FIELD_AT(struct item, member)

static const struct field item_members[] = {
	{ "name", FIELD_TEXT, FIELD_KEY, AT(name) },
	{ "most", FIELD_COUNT, FIELD_MOST, AT(most) },
};

static const struct fields item_fields = { FIELDS(struct item, item_members) };

#undef AT
#define AT(member) FIELD_AT(struct sum, member)

static const struct field sum_members[] = {
	{ "sum", FIELD_COUNT, FIELD_SUM, AT(sum) },
	{ "most", FIELD_COUNT, FIELD_MOST, AT(most) },
	{ "least", FIELD_COUNT, FIELD_LEAST, AT(least) },
	{ "us", FIELD_SECONDS, FIELD_SUM, AT(us) },
	{ "one", FIELD_COUNT, FIELD_SUM, FIELD_ONE, AT(one) },
	{ "first", FIELD_TEXT, FIELD_LEAST, AT(first) },
	{ "same", FIELD_TEXT, FIELD_SAME, AT(same) },
	{ "words", FIELD_STRINGS, FIELD_SAME, AT(words) },
	{ "strings", FIELD_STRINGS, FIELD_UNION, AT(strings) },
	{ "bits", FIELD_BYTES, FIELD_ANY, AT(bits) },
	{ "both", FIELD_BOOL, FIELD_BOTH, AT(both) },
	{ "shown", FIELD_ID, FIELD_SHOWN, AT(shown) },
	{ "real", FIELD_REAL, FIELD_SAME, AT(real) },
	{ "items", FIELD_LIST, FIELD_UNION, FIELD_VEC(struct sum, items),
	  .of = &item_fields },
};

static const struct fields sum_fields = { FIELDS(struct sum, sum_members) };

static char a[] = "a", b[] = "b", c[] = "c";
static char *ab[] = { a, b, NULL }, *bc[] = { b, c, NULL };
static struct item items[] = { { a, 1 }, { b, 2 }, { c, 3 } };

static const struct sum samples[] = {
	{ .sum = 1,
	  .most = 5,
	  .least = 7,
	  .us = 1499,
	  .first = b,
	  .same = a,
	  .words = ab,
	  .strings = ab,
	  .bits = { 1, 2 },
	  .both = true,
	  .shown = 4,
	  .real = 2.5,
	  .items = { items, 2, 2, sizeof(*items) } },
	{ .sum = UINT64_MAX,
	  .most = 3,
	  .least = 6,
	  .us = 2501,
	  .one = 3,
	  .first = a,
	  .same = a,
	  .words = ab,
	  .strings = bc,
	  .bits = { 4, 2 },
	  .both = true,
	  .real = 2.5,
	  .items = { items + 1, 2, 2, sizeof(*items) } },
	{ .sum = 2,
	  .most = 4,
	  .least = 8,
	  .both = false,
	  .same = b,
	  .words = bc,
	  .real = 3 },
};

static void is_sum(const struct sum *sum, size_t count)
{
	assert_int_equal(sum->sum, UINT64_MAX);
	assert_int_equal(sum->most, 5);
	assert_int_equal(sum->least, 6);
	assert_int_equal(sum->us, 4000);
	assert_int_equal(sum->one, count + 2);
	assert_int_equal(sum->bits[0], 5);
	assert_int_equal(sum->bits[1], 2);
	assert_int_equal(sum->shown, 0);
	assert_string_equal(sum->strings[0], "a");
	assert_string_equal(sum->strings[1], "b");
	assert_string_equal(sum->strings[2], "c");
	assert_null(sum->strings[3]);
	assert_int_equal(sum->items.count, 3);
	for (uint64_t i = 0; i < 3; i++) {
		const struct item *item = vec_at(&sum->items, i);

		assert_string_equal(item->name, items[i].name);
		assert_int_equal(item->most, items[i].most);
	}
}

static void every_merge_is_right_in_any_order(void **state)
{
	static const size_t orders[][3] = {
		{ 0, 1, 2 }, { 1, 0, 2 }, { 2, 1, 0 }, { 0, 2, 1 }
	};
	struct sum sum;

	(void)state;
	for (size_t i = 0; i < sizeof(orders) / sizeof(orders[0]); i++) {
		fields_init(&sum_fields, &sum);
		for (size_t j = 0; j < 3; j++)
			assert_true(fields_merge(&sum_fields, &sum,
						 &samples[orders[i][j]],
						 j == 0));
		is_sum(&sum, 3);
		assert_null(sum.first);
		assert_null(sum.same);
		assert_null(sum.words);
		assert_false(sum.both);
		assert_true(sum.real == 0);
		fields_deinit(&sum_fields, &sum);
	}
	for (size_t i = 0; i < 2; i++)
		assert_true(
			fields_merge(&sum_fields, &sum, &samples[i], i == 0));
	is_sum(&sum, 2);
	assert_string_equal(sum.first, "a");
	assert_string_equal(sum.same, "a");
	assert_string_equal(sum.words[1], "b");
	assert_true(sum.both);
	assert_true(sum.real == 2.5);
	assert_true(fields_memory(&sum_fields, &sum) >=
		    3 * sizeof(struct item) + 9 * sizeof("a"));
	fields_deinit(&sum_fields, &sum);
	assert_int_equal(sum.items.count, 0);
	assert_int_equal(sum.items.size, sizeof(struct item));
	assert_null(sum.strings);
}

static void strings_are_kept_in_order_once(void **state)
{
	static const char *const names[] = { "b", NULL, "a", "b", "c", "a" };
	struct sum sum;

	(void)state;
	fields_init(&sum_fields, &sum);
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		assert_true(fields_add_string(&sum_fields, "strings", &sum,
					      names[i]));
	assert_string_equal(sum.strings[0], "a");
	assert_string_equal(sum.strings[2], "c");
	assert_null(sum.strings[3]);
	fields_deinit(&sum_fields, &sum);
}

static void keys_order_records(void **state)
{
	(void)state;
	assert_true(fields_order(&item_fields, FIELD_KEY, &items[0],
				 &items[1]) < 0);
	assert_true(fields_order(&item_fields, FIELD_KEY, &items[0],
				 &(struct item){ NULL, 0 }) > 0);
	assert_int_equal(fields_order(&item_fields, FIELD_KEY, &items[0],
				      &(struct item){ a, 9 }),
			 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(tables_fit_their_structs),
		cmocka_unit_test(tables_are_the_schema),
		cmocka_unit_test(every_merge_is_right_in_any_order),
		cmocka_unit_test(strings_are_kept_in_order_once),
		cmocka_unit_test(keys_order_records),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
