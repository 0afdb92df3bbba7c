/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Reading a saved report, a record at a time: memory is that of one line. For
 * whoever has a use for old races: racewatch report, a baseline.
 *
 *	struct report_record record;
 *	struct reader *reader;
 *	bool more = true;
 *
 *	err = reader_open(path, &reader);
 *	report_record_init(&record);
 *	while (!err && (err = reader_next(reader, &record, &more)) == NULL &&
 *	       more)
 *		...
 *	report_record_deinit(&record);
 *	reader_close(reader);
 *
 * A race may come more than once: within one run a later record takes the place
 * of the earlier one with the same id.
 */
#ifndef REPORT_READ_H
#define REPORT_READ_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "report/record.h"

struct error;
struct reader;

/* Longer lines are refused: no report has them. */
enum { READER_LINE_MAX = 8 << 20 };

/* "-" is standard input. */
struct error *reader_open(const char *path, struct reader **ret);

/* Reads an open file, which the caller closes; `name' is for messages. */
struct error *reader_create(FILE *file, const char *name, struct reader **ret);
void reader_close(struct reader *reader);

/*
 * The next record, of any type but REPORT_OTHER, into an initialized record;
 * *ret_more is false at the end. Errors name the file and the line.
 *
 * A last line that was cut short, by a crash or because the run is still going
 * on, is the end: what came before it counts. It is warned of (base/log).
 */
struct error *reader_next(struct reader *reader, struct report_record *record,
			  bool *ret_more);

/*
 * From now on a malformed record (report_record_parse(), EINVAL) is no error:
 * it is told (base/log), counted and passed over.
 */
void reader_skip_malformed(struct reader *reader);
uint64_t reader_malformed(const struct reader *reader);

/* For messages. */
const char *reader_name(const struct reader *reader);

#endif
