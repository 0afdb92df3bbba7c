/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Values of accesses; see value.h.
 */
#include "report/value.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum value_form {
	VALUE_UNKNOWN, /* as unsigned, and as signed where that is shorter */
	VALUE_UNSIGNED,
	VALUE_SIGNED,
	VALUE_FLOAT,
	VALUE_POINTER,
};

/*
 * The base types of C, C++ and Rust. A type that is not among them, such as a
 * typedef, may be any.
 */
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
	{ "unsigned int", 4, VALUE_UNSIGNED },
	{ "unsigned long", 8, VALUE_UNSIGNED },
	{ "long unsigned int", 8, VALUE_UNSIGNED },
	{ "unsigned long long", 8, VALUE_UNSIGNED },
	{ "long long unsigned int", 8, VALUE_UNSIGNED },
	{ "uint32_t", 4, VALUE_UNSIGNED },
	{ "uint64_t", 8, VALUE_UNSIGNED },
	{ "uintptr_t", 8, VALUE_UNSIGNED },
	{ "size_t", 8, VALUE_UNSIGNED },
	{ "u32", 4, VALUE_UNSIGNED },
	{ "u64", 8, VALUE_UNSIGNED },
	{ "usize", 8, VALUE_UNSIGNED },
};

bool value_is_number(uint32_t size)
{
	return size == 1 || size == 2 || size == 4 || size == 8;
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
		return VALUE_UNKNOWN;
	if (type[length - 1] == '*' && size == 8)
		return VALUE_POINTER;
	type = skip_qualifiers(type);
	for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
		if (strcmp(types[i].name, type) != 0)
			continue;
		/* a part of one has no sign */
		return types[i].size == size ? types[i].form : VALUE_UNSIGNED;
	}
	return VALUE_UNKNOWN;
}

/* The sign bit is moved to the top, and back with it. */
static int64_t value_signed(uint64_t bits, uint32_t size)
{
	return (int64_t)(bits << (64 - 8 * size)) >> (64 - 8 * size);
}

/*
 * A number just below 2^32 or 2^64 is more likely a small negative one: both
 * are told, "18446744073709533478 (-18138)".
 */
static void add_unknown(struct strbuf *buf, uint64_t bits, uint32_t size)
{
	int64_t number = value_signed(bits, size);
	int64_t least = size == 8 ? -((int64_t)1 << 47) : -((int64_t)1 << 16);

	strbuf_addf(buf, "%" PRIu64, bits);
	if (size >= 4 && number < 0 && number >= least)
		strbuf_addf(buf, " (%" PRId64 ")", number);
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
		strbuf_add_hex(buf, bytes, size);
		return;
	}
	for (uint32_t i = 0; i < size; i++)
		bits |= (uint64_t)bytes[i] << (8 * i);
	switch (value_form(type, size)) {
	case VALUE_UNKNOWN:
		add_unknown(buf, bits, size);
		break;
	case VALUE_UNSIGNED:
		strbuf_addf(buf, "%" PRIu64, bits);
		break;
	case VALUE_SIGNED:
		strbuf_addf(buf, "%" PRId64, value_signed(bits, size));
		break;
	case VALUE_FLOAT:
		add_float(buf, bits, size);
		break;
	case VALUE_POINTER:
		strbuf_addf(buf, "0x%" PRIx64, bits);
		break;
	}
}
