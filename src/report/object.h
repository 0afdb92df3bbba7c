/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * JSON objects under construction. jansson answers a lack of memory, and a
 * NULL member it is given, with an error each time: they are gathered and
 * looked at once, in the end.
 */
#ifndef REPORT_OBJECT_H
#define REPORT_OBJECT_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct error;
struct strbuf;

struct object {
	json_t *object;
	bool failed;
};

/* With the member "type"; NULL: without. */
struct object object_begin(const char *type);

/* The object, which the caller owns; NULL when out of memory. */
json_t *object_end(struct object *record);

/*
 * Write a line at once, so that a crash leaves whole ones; ends the record. Of a line
 * that did not fit, nothing is left in a file.
 */
struct error *object_write(struct object *record, FILE *out);

/* Takes the value; NULL: out of memory. So do all that follow. */
void object_put(struct object *record, const char *key, json_t *value);
/* Ends `value'. */
void object_put_record(struct object *record, const char *key,
		       struct object *value);
/* To an array; a failure is the owner's. */
void object_append(struct object *owner, json_t *array, json_t *value);

/* A string that need not be UTF-8; NULL: null. */
json_t *object_text(const char *text);
/* Ends the buffer. */
json_t *object_string(struct strbuf *text);

/* Hexadecimal digits. */
json_t *object_bytes(const uint8_t *bytes, size_t count);
/*
 * JSON integers end at 2^63 - 1 here; what is beyond comes as a string of
 * digits instead of a wrong number.
 */
json_t *object_uint(uint64_t n);
/* null where it is not finite */
json_t *object_real(double number);
/* RFC 3339 */
json_t *object_time(uint64_t wall_ns);
/* "0x40c8" */
json_t *object_address(uint64_t address);

void object_put_text(struct object *record, const char *key, const char *text);
void object_put_uint(struct object *record, const char *key, uint64_t n);
/* null instead of zero, where zero stands for unknown */
void object_put_known(struct object *record, const char *key, uint64_t n);
void object_put_real(struct object *record, const char *key, double number);
void object_put_seconds(struct object *record, const char *key, uint64_t ns);

/* "Jansson 2.14", which racewatch was built with */
void object_add_version(struct strbuf *out);

#endif
