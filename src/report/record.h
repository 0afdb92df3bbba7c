/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A line of a report (racewatch-json(5)) as the record that was written: the
 * inverse of render-json. Unknown members are ignored. The value of an absent
 * member is unknown, except for the required members that racewatch-json(5)
 * names.
 */
#ifndef REPORT_RECORD_H
#define REPORT_RECORD_H

#include <stddef.h>
#include <stdint.h>

#include "report/candidate-record.h"
#include "report/crash.h"
#include "report/race.h"
#include "report/run.h"
#include "report/target-record.h"

struct error;

enum report_type {
	REPORT_OTHER, /* a type that is not known here: nothing is filled */
	REPORT_RUN,
	REPORT_RACE,
	REPORT_CRASH,
	REPORT_PROGRESS,
	REPORT_SUMMARY,
	REPORT_TARGET,
	REPORT_CANDIDATE,
};

/*
 * Only what `type' says is filled; the rest is empty. The record owns all
 * memory. To keep `race' or `crash', copy the structure and call race_init() or
 * crash_init() on it here.
 */
struct report_record {
	enum report_type type;
	struct run_record run;
	struct race race;
	struct crash crash;
	struct run_summary summary; /* REPORT_PROGRESS: the fields it has */
	struct target_record target;
	struct candidate_record candidate;
};

/* Empty; end with report_record_deinit(). */
void report_record_init(struct report_record *record);
void report_record_deinit(struct report_record *record);

/*
 * Fill the record, whatever it held, from a line of `length' bytes. Errors are
 * ERROR_FORMAT (members of wrong types or missing, a schema that is not known;
 * with code EBADMSG, no JSON; with code EINVAL, a race, crash, progress,
 * summary or target that is malformed, so that the other lines may still be read) or
 * error_nomem, and leave it empty.
 */
struct error *report_record_parse(const char *line, size_t length,
				  struct report_record *record);

#endif
