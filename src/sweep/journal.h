/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The records of a state file, a line of JSON each (racewatch-sweep(1), FILES):
 *
 *   sweep   the first: which command this is about
 *   claim   a run was begun, by whom
 *   done    a run has ended, with what it came to
 */
#ifndef SWEEP_JOURNAL_H
#define SWEEP_JOURNAL_H

#include <stddef.h>
#include <stdint.h>

#include "base/vec.h"
#include "sweep/findings.h"
#include "sweep/outcome.h"
#include "sweep/plan.h"

struct error;
struct strbuf;

enum journal_type {
	JOURNAL_OTHER, /* of a later version: passed over */
	JOURNAL_SWEEP,
	JOURNAL_CLAIM,
	JOURNAL_DONE,
};

enum { JOURNAL_SCHEMA = 1 };

struct journal_record {
	enum journal_type type;
	uint64_t time; /* wall clock, ns */
	/* sweep */
	char **command; /* ended by NULL, in one piece of memory */
	/* sweep: run n has seed + n; else that of the run */
	uint64_t seed;
	/* claim and done */
	uint64_t run;
	char plan[PLAN_NAME];
	char *worker; /* "host:pid", for people */
	/* done */
	struct outcome outcome;
	uint64_t elapsed_ns;
	struct findings findings; /* samples, sites and races of it */
	char *directory; /* where its files are */
	char *note; /* what racewatch said, if it failed; or NULL */
};

void journal_record_init(struct journal_record *record);
void journal_record_deinit(struct journal_record *record);

/* Append the record as a line with its newline. */
struct error *journal_write(const struct journal_record *record,
			    struct strbuf *out);

/* Fill an empty record from a line. ERROR_FORMAT says what is wrong. */
struct error *journal_parse(const char *line, size_t length,
			    struct journal_record *record);

#endif
