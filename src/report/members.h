/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The members of a JSON object as values of C, for the reader. A member that is
 * absent or null gives the value that stands for unknown: NULL, 0, false.
 *
 * The first thing that is wrong is kept in `err', and later calls go on with
 * unknowns, so that a record is checked once, at its end.
 */
#ifndef REPORT_MEMBERS_H
#define REPORT_MEMBERS_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct error;

struct members {
	struct error *err; /* the caller's to free */
	size_t bytes; /* that members_bytes() expects */
};

/* "an array", "a number", "null" */
const char *members_type_name(const json_t *value);

/* Keep an error unless there is one; NULL is none. */
void members_fail(struct members *in, struct error *err);

/* Whether the member is there and not null. */
bool members_has(const json_t *object, const char *key);

/*
 * The member must be there and not be null. Call it after the members were
 * read, so that a wrong one is named first.
 */
void members_require(struct members *in, const json_t *object, const char *key);

/* A copy, which the caller frees. */
char *members_copy(struct members *in, const char *text);

/* A string in memory of its own, which the caller frees. */
char *members_text(struct members *in, const json_t *object, const char *key);

/* The same, in the object's memory; for words. */
const char *members_string(struct members *in, const json_t *object,
			   const char *key);

/* 0..max; also as a string of digits, which has room for all of 64 bits. */
uint64_t members_uint(struct members *in, const json_t *object, const char *key,
		      uint64_t max);

int64_t members_signed(struct members *in, const json_t *object,
		       const char *key);

double members_real(struct members *in, const json_t *object, const char *key);

/* Seconds or microseconds, as nanoseconds. */
uint64_t members_seconds(struct members *in, const json_t *object,
			 const char *key);
uint64_t members_us(struct members *in, const json_t *object, const char *key);

bool members_bool(struct members *in, const json_t *object, const char *key);

/* "0x5555", and an RFC 3339 time as nanoseconds of the wall clock. */
uint64_t members_address(struct members *in, const json_t *object,
			 const char *key);
uint64_t members_time(struct members *in, const json_t *object,
		      const char *key);

/*
 * Two hexadecimal digits for each of in->bytes, of which out has room for some
 * or all; absent: zeros.
 */
void members_bytes(struct members *in, const json_t *object, const char *key,
		   uint8_t *out, size_t room);

/* At most size - 1 hexadecimal digits, as text. */
void members_digits(struct members *in, const json_t *object, const char *key,
		    char *out, size_t size);

/* The place among the words, of which some may be NULL; absent: 0. */
unsigned int members_word(struct members *in, const json_t *object,
			  const char *key, const char *const *words,
			  unsigned int count);

/* An object or array in the object; NULL when absent. */
const json_t *members_object(struct members *in, const json_t *object,
			     const char *key);
const json_t *members_array(struct members *in, const json_t *object,
			    const char *key);

/* Item i, which must be an object; NULL when it is not. */
const json_t *members_item(struct members *in, const json_t *array, size_t i,
			   const char *key);

#endif
