/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Tables that describe the records of a report. A line of a table says which
 * member of a struct a member of the JSON object is, and how that member of two
 * records is merged. All code that writes (field-write.c), reads (field-read.c),
 * frees and merges (field.c) goes by these tables: a new field is a member of the
 * struct, a line of the table, and a line of the JSON Schema. Tables are in the
 * order of the members in JSON.
 */
#ifndef REPORT_FIELD_H
#define REPORT_FIELD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/vec.h"

struct error;
struct json_t;
struct members;

/* In JSON null is unknown: a text that is NULL, and see FIELD_NULL. */
enum field_type {
	FIELD_TEXT, /* char *, which the record owns */
	FIELD_COUNT, /* uint64_t or uint32_t */
	FIELD_ID, /* int, 0..INT_MAX: a process, a line, a signal */
	FIELD_SIGNED, /* int64_t */
	FIELD_REAL, /* double; null if it is not finite */
	FIELD_SECONDS, /* uint64_t, ns; in JSON seconds */
	FIELD_US, /* uint64_t, ns; in JSON whole microseconds */
	FIELD_TIME, /* uint64_t, ns of the wall clock; in JSON RFC 3339 */
	FIELD_ADDRESS, /* uint64_t; in JSON "0x40c8" */
	FIELD_BOOL,
	FIELD_BYTES, /* uint8_t []; FIELD_MEASURE says how many are used */
	FIELD_DIGITS, /* char [], hexadecimal */
	FIELD_WORD, /* a number; in JSON words[number], where NULL is null */
	FIELD_OBJECT, /* a struct */
	FIELD_ARRAY, /* an array of structs */
	FIELD_LIST, /* structs: a pointer and a count, or a struct vec */
	FIELD_COUNTS, /* the same, of a text and a number: members of an object */
	FIELD_STRINGS, /* char *: a list, or one that NULL ends */
	FIELD_NUMBERS, /* uint32_t: a pointer and a count */
	FIELD_VERSION, /* no member: the version of the format */
	FIELD_MADE, /* no member: a text made of other members; not read */
};

/* The merged record's member, of the members of two records. */
enum field_merge {
	FIELD_SHOWN, /* the one of the race that combine.h prefers */
	FIELD_APART, /* code outside of the tables sets it, or it is empty */
	FIELD_SUM, /* the sum, UINT64_MAX at most; FIELD_SECONDS in whole us */
	FIELD_MOST, /* the larger number, or last text; NULL is the first */
	FIELD_LEAST, /* the smaller number, or first text; NULL is the first */
	FIELD_ANY, /* the bits of both */
	FIELD_BOTH, /* true if both are true */
	FIELD_SAME, /* the value that both have; else zero or NULL */
	FIELD_SHARE, /* a percentage of elapsed_ns; totals.c */
	FIELD_KEY, /* two items of lists are the same if these are */
	FIELD_UNION, /* all items of two sorted lists, sorted, the same once */
};

enum field_flag {
	FIELD_NEEDED = 1, /* a record without it is malformed */
	/* null: a number that is `absent', an empty FIELD_LIST, no list at all */
	FIELD_NULL = 2,
	FIELD_ONE = 4, /* 0 counts as 1 */
	/* this number is the number of bytes in each FIELD_BYTES after it */
	FIELD_MEASURE = 8,
};

struct field {
	const char *name; /* in JSON; NULL: it is not in JSON */
	unsigned int type; /* enum field_type */
	unsigned int merge; /* enum field_merge */
	unsigned int flags;
	size_t offset, size; /* of the member */
	size_t count; /* offset of a list's length; 0: NULL ends the list */
	const struct fields *of; /* of a struct, or of each struct in a list */
	const char *const *words;
	unsigned int word_count;
	uint64_t absent; /* the number if JSON has none, or null */
	/* false: it is unknown, and null in JSON; NULL: it is always known */
	bool (*known)(const void *record);
	const char *(*made)(const void *record); /* NULL: null */
};

struct fields {
	const char *type; /* "race"; NULL: part of another record */
	const struct field *members;
	size_t count;
	size_t size; /* of the struct */
	/* called when all fields were read from the object; or NULL */
	void (*fill)(struct members *in, const struct json_t *object,
		     void *record);
};

#define FIELD_SIZE(record, member) sizeof(((record *)0)->member)
#define FIELD_AT(record, member) \
	.offset = offsetof(record, member), .size = FIELD_SIZE(record, member)
#define FIELD_COUNTED(record, pointer, number)                       \
	.offset = offsetof(record, pointer), .size = sizeof(void *), \
	.count = offsetof(record, number)
#define FIELD_VEC(record, member)                                         \
	.offset = offsetof(record, member) + offsetof(struct vec, items), \
	.size = sizeof(struct vec),                                       \
	.count = offsetof(record, member) + offsetof(struct vec, count)
#define FIELD_WORDS(list) \
	.words = (list), .word_count = sizeof(list) / sizeof((list)[0])
#define FIELDS(record, list)                                          \
	.members = (list), .count = sizeof(list) / sizeof((list)[0]), \
	.size = sizeof(record)

enum { FIELD_SCHEMA = 1 }; /* version of the format */
extern const struct fields race_fields, race_frame_fields, crash_fields;
extern const struct fields race_suppression_fields, provocation_fields;
extern const struct fields run_fields, progress_fields;
extern const struct fields summary_fields, target_fields, candidate_fields;

/* All zero and empty. */
void fields_init(const struct fields *fields, void *record);

/* Free what the record owns, and make it empty. */
void fields_deinit(const struct fields *fields, void *record);
/* Make *to a copy of *from. False when out of memory; it can be ended then. */
bool fields_copy(const struct fields *fields, void *to, const void *from);

/* About what the record owns, in bytes. */
size_t fields_memory(const struct fields *fields, const void *record);

/*
 * Compare the texts, numbers and bytes that have this merge: negative, 0 or
 * positive, as strcmp(). NULL comes first.
 */
int fields_order(const struct fields *fields, enum field_merge merge,
		 const void *a, const void *b);

/*
 * Merge `more' into `sum'. With `first', `sum' is empty and becomes what a merged
 * record of one has. False when out of memory; both can be ended then.
 */
bool fields_merge(const struct fields *fields, void *sum, const void *more,
		  bool first);

/*
 * Add a copy of the text to the FIELD_UNION of that name; NULL is passed over.
 * False when out of memory.
 */
bool fields_add_string(const struct fields *fields, const char *name,
		       void *record, const char *text);

/* Write the record as a line at once, so that a crash leaves whole lines. */
struct error *fields_write(const struct fields *fields, const void *record,
			   FILE *out);

/* The same, of the fields that are FIELD_SHOWN alone. */
struct error *fields_write_shown(const struct fields *fields,
				 const void *record, FILE *out);

/*
 * Read the object into the record, which is empty. The first error is kept in
 * `in'; the record can be ended then.
 */
void fields_read(struct members *in, const struct fields *fields,
		 const struct json_t *object, void *record);

/* For the code that goes by the tables: the member. */
static inline void *field_at(const struct field *field, const void *record)
{
	return (char *)(uintptr_t)record + field->offset;
}

uint64_t field_number(const struct field *field, const void *record);
void field_set_number(const struct field *field, void *record, uint64_t n);
double field_real(const struct field *field, const void *record);
void field_set_real(const struct field *field, void *record, double number);
/* The pointer that is there, whatever its type. */
void *field_pointer(const void *at);

/* The structs, texts or numbers that a member has. */
struct parts {
	char *items;
	size_t count, size; /* bytes of one */
};

/* Of a field that has some. */
struct parts field_parts(const struct field *field, const void *record);

/* Takes the items; behind strings there is a NULL that does not count. */
void field_set_list(const struct field *field, void *record, void *items,
		    size_t count);

static inline void *part_at(const struct parts *parts, size_t i)
{
	return parts->items + i * parts->size;
}

#endif
