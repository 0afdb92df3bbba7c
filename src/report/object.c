/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * JSON objects under construction; see object.h.
 */
#include "report/object.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdio_ext.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/strbuf.h"
#include "base/utf8.h"

/* As people would write numbers: 2.1, not 2.1000000000000001. */
enum { OBJECT_DIGITS = 15 };

void object_put(struct object *record, const char *key, json_t *value)
{
	if (json_object_set_new_nocheck(record->object, key, value) < 0)
		record->failed = true;
}

json_t *object_string(struct strbuf *text)
{
	json_t *string = NULL;

	if (!text->failed)
		string = json_string_nocheck(strbuf_text(text));
	strbuf_deinit(text);
	return string;
}

json_t *object_text(const char *text)
{
	json_t *string = text ? json_string(text) : json_null();
	struct strbuf clean = { 0 };

	if (string)
		return string;
	/* it is not UTF-8 */
	utf8_add(&clean, text);
	return object_string(&clean);
}

void object_put_text(struct object *record, const char *key, const char *text)
{
	object_put(record, key, object_text(text));
}

json_t *object_uint(uint64_t n)
{
	char digits[24];

	if (n <= INT64_MAX)
		return json_integer((json_int_t)n);
	snprintf(digits, sizeof(digits), "%" PRIu64, n);
	return json_string(digits);
}

json_t *object_real(double number)
{
	return isfinite(number) ? json_real(number) : json_null();
}

json_t *object_time(uint64_t wall_ns)
{
	char text[CLOCK_RFC3339_SIZE];

	clock_format_rfc3339(wall_ns, text);
	return object_text(text);
}

json_t *object_address(uint64_t address)
{
	char text[24];

	snprintf(text, sizeof(text), "0x%" PRIx64, address);
	return object_text(text);
}

json_t *object_bytes(const uint8_t *bytes, size_t count)
{
	struct strbuf text = { 0 };

	strbuf_add_hex(&text, bytes, count);
	return object_string(&text);
}

void object_put_uint(struct object *record, const char *key, uint64_t n)
{
	object_put(record, key, object_uint(n));
}

void object_put_known(struct object *record, const char *key, uint64_t n)
{
	object_put(record, key, n ? object_uint(n) : json_null());
}

void object_put_real(struct object *record, const char *key, double number)
{
	object_put(record, key, object_real(number));
}

void object_put_seconds(struct object *record, const char *key, uint64_t ns)
{
	object_put_real(record, key, (double)ns / 1e9);
}

struct object object_begin(const char *type)
{
	struct object record = { json_object(), false };

	if (type)
		object_put_text(&record, "type", type);
	return record;
}

json_t *object_end(struct object *record)
{
	if (!record->failed)
		return record->object;
	json_decref(record->object);
	return NULL;
}

void object_put_record(struct object *record, const char *key,
		       struct object *value)
{
	object_put(record, key, object_end(value));
}

void object_append(struct object *owner, json_t *array, json_t *value)
{
	if (json_array_append_new(array, value) < 0)
		owner->failed = true;
}

/* The size of a file other than standard output; -1: it is none. */
static off_t object_file_size(FILE *out)
{
	struct stat status;

	return out != stdout && fstat(fileno(out), &status) == 0 &&
			       S_ISREG(status.st_mode)
		       ? status.st_size
		       : -1;
}

/*
 * Part of a line, as where the disk is full, is no record, and what is written
 * behind it would be lost with it. Where others have written, all stays.
 */
static void object_take_back(FILE *out, off_t size, size_t length)
{
	off_t end = lseek(fileno(out), 0, SEEK_CUR);

	__fpurge(out);
	if (size >= 0 && end == object_file_size(out) &&
	    end - size <= (off_t)length && ftruncate(fileno(out), size) == 0)
		fseeko(out, size, SEEK_SET);
}

struct error *object_write(struct object *record, FILE *out)
{
	json_t *object = object_end(record);
	off_t size = object_file_size(out);
	struct error *err = NULL;
	char *text;

	text = object ? json_dumps(object,
				   JSON_COMPACT |
					   JSON_REAL_PRECISION(OBJECT_DIGITS))
		      : NULL;
	json_decref(object);
	if (!text)
		return error_nomem;
	errno = 0;
	if (fputs(text, out) < 0 || putc('\n', out) < 0 || fflush(out) != 0)
		err = error_os(errno ? errno : EIO, "write the report");
	if (err)
		object_take_back(out, size, strlen(text) + 1);
	free(text);
	return err;
}

void object_add_version(struct strbuf *out)
{
	strbuf_addf(out, "Jansson %s", JANSSON_VERSION);
}
