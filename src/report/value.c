/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Values of accesses; see value.h.
 */
#include "report/value.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum value_form { VALUE_UNSIGNED, VALUE_SIGNED, VALUE_FLOAT, VALUE_POINTER };

/* The base types of C, C++ and Rust that are not plain unsigned numbers. */
static const struct {
	const char *name;
	uint32_t size;
	enum value_form form;
} types[] = {
	{ "char", 1, VALUE_SIGNED },
	{ "signed char", 1, VALUE_SIGNED },
	{ "short", 2, VALUE_SIGNED },
	{ "short int", 2, VALUE_SIGNED },
	{ "int", 4, VALUE_SIGNED },
	{ "long", 8, VALUE_SIGNED },
	{ "long int", 8, VALUE_SIGNED },
	{ "long long", 8, VALUE_SIGNED },
	{ "long long int", 8, VALUE_SIGNED },
	{ "int8_t", 1, VALUE_SIGNED },
	{ "int16_t", 2, VALUE_SIGNED },
	{ "int32_t", 4, VALUE_SIGNED },
	{ "int64_t", 8, VALUE_SIGNED },
	{ "intptr_t", 8, VALUE_SIGNED },
	{ "ptrdiff_t", 8, VALUE_SIGNED },
	{ "ssize_t", 8, VALUE_SIGNED },
	{ "off_t", 8, VALUE_SIGNED },
	{ "time_t", 8, VALUE_SIGNED },
	{ "i8", 1, VALUE_SIGNED },
	{ "i16", 2, VALUE_SIGNED },
	{ "i32", 4, VALUE_SIGNED },
	{ "i64", 8, VALUE_SIGNED },
	{ "isize", 8, VALUE_SIGNED },
	{ "float", 4, VALUE_FLOAT },
	{ "double", 8, VALUE_FLOAT },
	{ "f32", 4, VALUE_FLOAT },
	{ "f64", 8, VALUE_FLOAT },
};

bool value_is_number(uint32_t size)
{
	return size == 1 || size == 2 || size == 4 || size == 8;
}

void value_add_hex(struct strbuf *buf, const uint8_t *bytes, uint32_t size)
{
	strbuf_add_hex(buf, bytes, size);
}

static const char *skip_qualifiers(const char *type)
{
	static const char *const words[] = { "const ", "volatile " };

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]);) {
		size_t length = strlen(words[i]);

		if (strncmp(type, words[i], length) == 0) {
			type += length;
			i = 0;
		} else {
			i++;
		}
	}
	return type;
}

static enum value_form value_form(const char *type, uint32_t size)
{
	size_t length = type ? strlen(type) : 0;

	if (length == 0)
		return VALUE_UNSIGNED;
	if (type[length - 1] == '*' && size == 8)
		return VALUE_POINTER;
	type = skip_qualifiers(type);
	for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
		if (types[i].size == size && strcmp(types[i].name, type) == 0)
			return types[i].form;
	}
	return VALUE_UNSIGNED;
}

/* The fewest digits that give the number back. */
static void add_float(struct strbuf *buf, uint64_t bits, uint32_t size)
{
	uint32_t low = (uint32_t)bits;
	char text[40];
	double number;
	float single;

	memcpy(&number, &bits, sizeof(number));
	if (size == sizeof(single)) {
		memcpy(&single, &low, sizeof(single));
		number = (double)single;
	}
	for (int digits = 6; digits <= 17; digits++) {
		snprintf(text, sizeof(text), "%.*g", digits, number);
		if (size == sizeof(single) ? strtof(text, NULL) == single
					   : strtod(text, NULL) == number)
			break;
	}
	strbuf_add(buf, text);
}

void value_add(struct strbuf *buf, const uint8_t *bytes, uint32_t size,
	       const char *type)
{
	uint64_t bits = 0;

	if (!value_is_number(size)) {
		value_add_hex(buf, bytes, size);
		return;
	}
	for (uint32_t i = 0; i < size; i++)
		bits |= (uint64_t)bytes[i] << (8 * i);
	switch (value_form(type, size)) {
	case VALUE_UNSIGNED:
		strbuf_addf(buf, "%" PRIu64, bits);
		break;
	case VALUE_SIGNED:
		/* the sign bit at the top, and back with it */
		bits <<= 64 - 8 * size;
		strbuf_addf(buf, "%" PRId64, (int64_t)bits >> (64 - 8 * size));
		break;
	case VALUE_FLOAT:
		add_float(buf, bits, size);
		break;
	case VALUE_POINTER:
		strbuf_addf(buf, "0x%" PRIx64, bits);
		break;
	}
}
