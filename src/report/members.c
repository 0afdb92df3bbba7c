/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Reading JSON members; see members.h. Messages name the member and what is
 * wrong with it, and never repeat its value, which may be long or meant to
 * upset a terminal.
 */
#include "report/members.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/error.h"

void members_fail(struct members *in, struct error *err)
{
	if (in->err)
		error_free(err);
	else
		in->err = err;
}

const char *members_type_name(const json_t *value)
{
	switch (json_typeof(value)) {
	case JSON_OBJECT:
		return "an object";
	case JSON_ARRAY:
		return "an array";
	case JSON_STRING:
		return "a string";
	case JSON_INTEGER:
	case JSON_REAL:
		return "a number";
	case JSON_TRUE:
	case JSON_FALSE:
		return "a boolean";
	case JSON_NULL:
		break;
	}
	return "null";
}

static void wrong(struct members *in, const char *key, const char *what)
{
	if (!in->err)
		in->err = error_create(ERROR_FORMAT, "'%s' %s", key, what);
}

static void wrong_type(struct members *in, const char *key, const json_t *value,
		       const char *wanted)
{
	if (!in->err)
		in->err = error_create(ERROR_FORMAT, "'%s' is %s, not %s", key,
				       members_type_name(value), wanted);
}

/* NULL: absent or null. */
static const json_t *member(const json_t *object, const char *key)
{
	const json_t *value = json_object_get(object, key);

	return json_is_null(value) ? NULL : value;
}

bool members_has(const json_t *object, const char *key)
{
	return member(object, key) != NULL;
}

void members_require(struct members *in, const json_t *object, const char *key)
{
	if (!members_has(object, key))
		wrong(in, key, "is missing");
}

const char *members_string(struct members *in, const json_t *object,
			   const char *key)
{
	const json_t *value = member(object, key);

	if (value && !json_is_string(value))
		wrong_type(in, key, value, "a string");
	return json_string_value(value);
}

char *members_copy(struct members *in, const char *text)
{
	char *copy = text ? strdup(text) : NULL;

	if (text && !copy)
		members_fail(in, error_nomem);
	return copy;
}

char *members_text(struct members *in, const json_t *object, const char *key)
{
	return members_copy(in, members_string(in, object, key));
}

/* All of text is digits of the base, and fits. */
static bool parse_digits(const char *text, int base, uint64_t *ret)
{
	const char *digits = base == 16 ? "0123456789abcdefABCDEF"
					: "0123456789";

	if (!*text || text[strspn(text, digits)])
		return false;
	errno = 0;
	*ret = strtoull(text, NULL, base);
	return errno == 0;
}

uint64_t members_uint(struct members *in, const json_t *object, const char *key,
		      uint64_t max)
{
	const json_t *value = member(object, key);
	json_int_t number = json_integer_value(value);
	uint64_t n = (uint64_t)number;

	if (!value)
		return 0;
	if (json_is_string(value) &&
	    parse_digits(json_string_value(value), 10, &n))
		number = 0;
	else if (!json_is_integer(value)) {
		wrong_type(in, key, value, "a whole number");
		return 0;
	}
	if (number >= 0 && n <= max)
		return n;
	wrong(in, key, "is out of range");
	return 0;
}

int64_t members_signed(struct members *in, const json_t *object,
		       const char *key)
{
	const json_t *value = member(object, key);

	if (value && !json_is_integer(value))
		wrong_type(in, key, value, "a whole number");
	return json_integer_value(value);
}

double members_real(struct members *in, const json_t *object, const char *key)
{
	const json_t *value = member(object, key);

	if (value && !json_is_number(value))
		wrong_type(in, key, value, "a number");
	return json_number_value(value);
}

uint64_t members_seconds(struct members *in, const json_t *object,
			 const char *key)
{
	double ns = members_real(in, object, key) * (double)CLOCK_NS_PER_S;

	/* what rounds to 2^64 or beyond does not fit */
	if (ns >= 0 && ns < 18446744073709549568.0)
		return (uint64_t)(ns + 0.5);
	wrong(in, key, "is out of range");
	return 0;
}

uint64_t members_us(struct members *in, const json_t *object, const char *key)
{
	return CLOCK_NS_PER_US *
	       members_uint(in, object, key, UINT64_MAX / CLOCK_NS_PER_US);
}

bool members_bool(struct members *in, const json_t *object, const char *key)
{
	const json_t *value = member(object, key);

	if (value && !json_is_boolean(value))
		wrong_type(in, key, value, "a boolean");
	return json_is_true(value);
}

uint64_t members_address(struct members *in, const json_t *object,
			 const char *key)
{
	const char *text = members_string(in, object, key);
	uint64_t address = 0;

	if (text && (strncmp(text, "0x", 2) != 0 ||
		     !parse_digits(text + 2, 16, &address)))
		wrong(in, key, "is no address such as 0x4010");
	return address;
}

uint64_t members_time(struct members *in, const json_t *object, const char *key)
{
	const char *text = members_string(in, object, key);
	uint64_t ns = 0;

	if (text && !clock_parse_rfc3339(text, &ns))
		wrong(in, key, "is no RFC 3339 time");
	return ns;
}

static bool only_hex(const char *text)
{
	return text[strspn(text, "0123456789abcdef")] == '\0';
}

static unsigned int hex_value(char digit)
{
	return digit <= '9' ? (unsigned int)(digit - '0')
			    : (unsigned int)(digit - 'a' + 10);
}

void members_bytes(struct members *in, const json_t *object, const char *key,
		   uint8_t *out, size_t room)
{
	const char *text = members_string(in, object, key);
	size_t n = in->bytes < room ? in->bytes : room;

	memset(out, 0, room);
	if (!text)
		return;
	if (!only_hex(text) || strlen(text) != 2 * n) {
		wrong(in, key,
		      "is not in as many hexadecimal digits as the "
		      "size asks for");
		return;
	}
	for (size_t i = 0; i < n; i++)
		out[i] = (uint8_t)(hex_value(text[2 * i]) << 4 |
				   hex_value(text[2 * i + 1]));
}

void members_digits(struct members *in, const json_t *object, const char *key,
		    char *out, size_t size)
{
	const char *text = members_string(in, object, key);

	out[0] = '\0';
	if (!text)
		return;
	if (!only_hex(text) || strlen(text) >= size)
		wrong(in, key, "is not in hexadecimal digits, or has too many");
	else
		memcpy(out, text, strlen(text) + 1);
}

unsigned int members_word(struct members *in, const json_t *object,
			  const char *key, const char *const *words,
			  unsigned int count)
{
	const char *text = members_string(in, object, key);

	for (unsigned int i = 0; text && i < count; i++) {
		if (words[i] && strcmp(words[i], text) == 0)
			return i;
	}
	if (text)
		wrong(in, key, "is a word that this version does not know");
	return 0;
}

const json_t *members_object(struct members *in, const json_t *object,
			     const char *key)
{
	const json_t *value = member(object, key);

	if (!value || json_is_object(value))
		return value;
	wrong_type(in, key, value, "an object");
	return NULL;
}

const json_t *members_array(struct members *in, const json_t *object,
			    const char *key)
{
	const json_t *value = member(object, key);

	if (!value || json_is_array(value))
		return value;
	wrong_type(in, key, value, "an array");
	return NULL;
}

const json_t *members_item(struct members *in, const json_t *array, size_t i,
			   const char *key)
{
	const json_t *value = json_array_get(array, i);

	if (json_is_object(value))
		return value;
	if (!in->err)
		in->err = error_create(ERROR_FORMAT,
				       "'%s' has %s in it, not an object", key,
				       members_type_name(value));
	return NULL;
}
