/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Freeing, comparing and merging records by their tables; see field.h.
 */
#include "report/field.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"

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

static void fields_free(const struct fields *fields, void *record);

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
	void *pointer = NULL;

	if (at)
		memcpy(&pointer, at, sizeof(pointer));
	return pointer;
}

static bool field_is_list(const struct field *field)
{
	return field->type == FIELD_LIST || field->type == FIELD_COUNTS ||
	       field->type == FIELD_STRINGS || field->type == FIELD_NUMBERS;
}

static bool field_has_texts(const struct field *field)
{
	return field->type == FIELD_TEXT || field->type == FIELD_STRINGS;
}

static bool field_has_parts(const struct field *field)
{
	return field->of || field_has_texts(field) || field_is_list(field);
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
		struct parts parts;

		if (!field_has_parts(field))
			continue;
		parts = field_parts(field, record);
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
			fields_free(field->of, part_at(&parts, i));
		else if (field_has_texts(field))
			free(field_pointer(part_at(&parts, i)));
	}
	if (field_is_list(field))
		free(parts.items);
}

static void fields_free(const struct fields *fields, void *record)
{
	for (size_t i = 0; i < fields->count; i++) {
		if (field_has_parts(&fields->members[i]))
			free_field(&fields->members[i], record);
	}
}

void fields_deinit(const struct fields *fields, void *record)
{
	fields_free(fields, record);
	fields_init(fields, record);
}

/* A struct, text or number of a field that has parts. */
static bool copy_part(const struct field *field, void *to, const void *from)
{
	const char *text;
	char *copy;

	if (field->of)
		return fields_copy(field->of, to, from);
	if (!field_has_texts(field)) {
		memcpy(to, from, sizeof(uint32_t));
		return true;
	}
	text = field_pointer(from);
	copy = text ? strdup(text) : NULL;
	memcpy(to, &copy, sizeof(copy));
	return copy || !text;
}

static bool copy_parts(const struct field *field, void *to, const void *from)
{
	struct parts parts = field_parts(field, from), copy = parts;
	bool good = true;

	copy.items = field_at(field, to);
	if (field_is_list(field)) {
		/* strings are ended by NULL */
		copy.items = parts.items ? calloc(parts.count + 1, parts.size)
					 : NULL;
		if (parts.items && !copy.items)
			return false;
		field_set_list(field, to, copy.items, parts.count);
	}
	for (size_t i = 0; good && i < parts.count; i++)
		good = copy_part(field, part_at(&copy, i), part_at(&parts, i));
	return good;
}

bool fields_copy(const struct fields *fields, void *to, const void *from)
{
	bool good = true;

	fields_init(fields, to);
	for (size_t i = 0; good && i < fields->count; i++) {
		const struct field *field = &fields->members[i];

		if (field_has_parts(field))
			good = copy_parts(field, to, from);
		else if (field->size > 0)
			memcpy(field_at(field, to), field_at(field, from),
			       field->size);
	}
	return good;
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

	for (size_t i = 0; i < fields->count; i++) {
		if (field_has_parts(&fields->members[i]))
			memory += field_memory(&fields->members[i], record);
	}
	return memory;
}

static int order_texts(const char *a, const char *b)
{
	if (!a || !b)
		return (a != NULL) - (b != NULL);
	return strcmp(a, b);
}

static int order_strings(const struct field *field, const void *a,
			 const void *b)
{
	struct parts one = field_parts(field, a), two = field_parts(field, b);
	int order = (one.items != NULL) - (two.items != NULL);

	for (size_t i = 0; !order && i < one.count && i < two.count; i++)
		order = strcmp(field_pointer(part_at(&one, i)),
			       field_pointer(part_at(&two, i)));
	return order ? order
		     : (one.count > two.count) - (one.count < two.count);
}

static int order_field(const struct field *field, const void *a, const void *b)
{
	uint64_t one, two;

	switch (field->type) {
	case FIELD_TEXT:
		return order_texts(field_pointer(field_at(field, a)),
				   field_pointer(field_at(field, b)));
	case FIELD_STRINGS:
		return order_strings(field, a, b);
	case FIELD_BYTES:
	case FIELD_DIGITS:
		return memcmp(field_at(field, a), field_at(field, b),
			      field->size);
	default:
		one = field_number(field, a);
		two = field_number(field, b);
		return (one > two) - (one < two);
	}
}

int fields_order(const struct fields *fields, enum field_merge merge,
		 const void *a, const void *b)
{
	int order = 0;

	for (size_t i = 0; !order && i < fields->count; i++) {
		if (fields->members[i].merge == merge)
			order = order_field(&fields->members[i], a, b);
	}
	return order;
}

static bool copy_text(const struct field *field, void *to, const void *from)
{
	const char *text = field_pointer(field_at(field, from));
	char *copy = text ? strdup(text) : NULL;

	free(field_pointer(field_at(field, to)));
	memcpy(field_at(field, to), &copy, sizeof(copy));
	return copy || !text;
}

static bool copy_strings(const struct field *field, void *to, const void *from)
{
	struct parts parts = field_parts(field, from);
	char **copy = parts.items ? calloc(parts.count + 1, sizeof(*copy))
				  : NULL;
	bool good = copy || !parts.items;

	field_set_list(field, to, copy, copy ? parts.count : 0);
	for (size_t i = 0; good && i < parts.count; i++) {
		copy[i] = strdup(field_pointer(part_at(&parts, i)));
		good = copy[i] != NULL;
	}
	return good;
}

static bool copy_field(const struct field *field, void *to, const void *from)
{
	if (field->type == FIELD_TEXT)
		return copy_text(field, to, from);
	if (field->type == FIELD_STRINGS)
		return copy_strings(field, to, from);
	memcpy(field_at(field, to), field_at(field, from), field->size);
	return true;
}

static void clear_field(const struct field *field, void *record)
{
	if (field_has_parts(field))
		free_field(field, record);
	memset(field_at(field, record), 0, field->size);
	if (field_is_list(field))
		field_set_list(field, record, NULL, 0);
}

/*
 * Where the item or string is, or belongs, among those in order. *ret_found:
 * there is one with the same key.
 */
static size_t find_place(const struct field *field, const struct parts *parts,
			 const void *key, bool *ret_found)
{
	size_t low = 0, high = parts->count;

	*ret_found = false;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		const void *part = part_at(parts, middle);
		int order = field->of ? fields_order(field->of, FIELD_KEY, key,
						     part)
				      : strcmp(key, field_pointer(part));

		if (order == 0) {
			*ret_found = true;
			return middle;
		}
		if (order < 0)
			high = middle;
		else
			low = middle + 1;
	}
	return low;
}

/* Room for one more at place i, all zero; NULL: no memory. */
static void *insert_at(const struct field *field, void *record, size_t i)
{
	struct parts parts = field_parts(field, record);
	/* strings are ended by NULL */
	char *items = reallocarray(parts.items, parts.count + 2, parts.size);

	if (!items)
		return NULL;
	parts.items = items;
	memmove(part_at(&parts, i + 1), part_at(&parts, i),
		(parts.count - i) * parts.size);
	memset(part_at(&parts, i), 0, parts.size);
	memset(part_at(&parts, parts.count + 1), 0, parts.size);
	field_set_list(field, record, items, parts.count + 1);
	return part_at(&parts, i);
}

static bool add_string(const struct field *field, void *record,
		       const char *text)
{
	struct parts parts = field_parts(field, record);
	char *copy, **place;
	bool found;
	size_t i = find_place(field, &parts, text, &found);

	if (found)
		return true;
	copy = strdup(text);
	place = copy ? insert_at(field, record, i) : NULL;
	if (place)
		*place = copy;
	else
		free(copy);
	return place != NULL;
}

bool fields_add_string(const struct fields *fields, const char *name,
		       void *record, const char *text)
{
	const struct field *field = fields->members;

	while (!field->name || strcmp(field->name, name) != 0)
		field++;
	return !text || add_string(field, record, text);
}

static bool add_item(const struct field *field, void *record, const void *item)
{
	struct parts parts = field_parts(field, record);
	bool found;
	size_t i = find_place(field, &parts, item, &found);
	void *place = found ? part_at(&parts, i) : insert_at(field, record, i);

	return place && fields_merge(field->of, place, item, !found);
}

static bool merge_lists(const struct field *field, void *sum, const void *more)
{
	struct parts parts = field_parts(field, more);
	bool good = true;

	for (size_t i = 0; good && i < parts.count; i++) {
		const void *part = part_at(&parts, i);

		good = field->of ? add_item(field, sum, part)
				 : add_string(field, sum, field_pointer(part));
	}
	return good;
}

static uint64_t add(uint64_t a, uint64_t b)
{
	return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

/*
 * Times are added in the microseconds in which they are written, so that adding
 * up sums gives the same.
 */
static uint64_t add_times(uint64_t a, uint64_t b)
{
	uint64_t most = UINT64_MAX / CLOCK_NS_PER_US;
	uint64_t us = clock_round_us(a) + clock_round_us(b);

	return CLOCK_NS_PER_US * (us < most ? us : most);
}

static void merge_bits(const struct field *field, void *sum, const void *more)
{
	uint8_t *to = field_at(field, sum);
	const uint8_t *from = field_at(field, more);

	for (size_t i = 0; i < field->size; i++)
		to[i] |= from[i];
}

static void sum_field(const struct field *field, void *sum, const void *more,
		      bool first)
{
	uint64_t a = first ? 0 : field_number(field, sum);
	uint64_t b = field_number(field, more);

	field_set_number(field, sum,
			 field->type == FIELD_SECONDS ? add_times(a, b)
						      : add(a, b));
}

static bool merge_field(const struct field *field, void *sum, const void *more)
{
	switch (field->merge) {
	case FIELD_SUM:
		sum_field(field, sum, more, false);
		return true;
	case FIELD_ANY:
		merge_bits(field, sum, more);
		return true;
	case FIELD_UNION:
		return merge_lists(field, sum, more);
	case FIELD_MOST:
		return order_field(field, more, sum) <= 0 ||
		       copy_field(field, sum, more);
	case FIELD_LEAST:
	case FIELD_BOTH:
		return order_field(field, more, sum) >= 0 ||
		       copy_field(field, sum, more);
	case FIELD_SAME:
		if (order_field(field, more, sum) != 0)
			clear_field(field, sum);
		return true;
	default:
		return true;
	}
}

/* Before anything is merged in it, a sum is nothing, which adds nothing. */
static bool begin_field(const struct field *field, void *sum, const void *more)
{
	switch (field->merge) {
	case FIELD_SUM:
		sum_field(field, sum, more, true);
		return true;
	case FIELD_MOST:
	case FIELD_ANY:
	case FIELD_UNION:
		return merge_field(field, sum, more);
	case FIELD_LEAST:
	case FIELD_BOTH:
	case FIELD_SAME:
	case FIELD_KEY:
		return copy_field(field, sum, more);
	default:
		return true;
	}
}

bool fields_merge(const struct fields *fields, void *sum, const void *more,
		  bool first)
{
	bool good = true;

	for (size_t i = 0; good && i < fields->count; i++)
		good = (first ? begin_field : merge_field)(&fields->members[i],
							   sum, more);
	return good;
}
