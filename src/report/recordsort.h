/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Records of a report in a sorter (sorter.h), as the lines that the JSON format
 * has for them.
 */
#ifndef REPORT_RECORDSORT_H
#define REPORT_RECORDSORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct error;
struct race;
struct report_record;
struct sorter;
struct sorter_item;
struct strbuf;

/* Where races go; they may be emptied. */
struct race_output {
	struct error *(*put)(void *context, struct race *race);
	void *context;
};

/* Append a number to a key, so that keys are ordered by it. */
void recordsort_number(struct strbuf *key, uint64_t n);

/* The record as a line, which the caller frees. */
struct error *recordsort_line(const struct report_record *record, char **ret,
			      size_t *ret_size);

/* Add the record under the key, which is emptied. */
struct error *recordsort_add(struct sorter *sorter, struct strbuf *key,
			     const struct report_record *record);

/* The same of a race, which stays the caller's. */
struct error *recordsort_add_race(struct sorter *sorter, struct strbuf *key,
				  const struct race *race);

/*
 * The next record into *record, an initialized one; *ret_more is false at the
 * end, and *ret_item nothing then.
 */
struct error *recordsort_next(struct sorter *sorter,
			      struct report_record *record,
			      struct sorter_item *ret_item, bool *ret_more);

#endif
