/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The candidate record (racewatch-json(5)): a race that another tool, or an earlier
 * run, has reported, and what came of it in a hunt for it.
 */
#ifndef REPORT_CANDIDATE_RECORD_H
#define REPORT_CANDIDATE_RECORD_H

#include <stddef.h>
#include <stdint.h>

#include "report/race.h"

struct strbuf;

/* The first says most. */
enum candidate_result {
	CANDIDATE_PROVOKED, /* it has happened */
	/* at none of its sides another thread could run, or all are ordered */
	CANDIDATE_ORDERED,
	CANDIDATE_NOT_MET, /* in all its tries */
	CANDIDATE_NOT_FOUND, /* the recording does not show its accesses */
	CANDIDATE_PENDING, /* the hunt ended before all its sides were tried */
	CANDIDATE_RESULTS
};

struct candidate_record {
	uint64_t id; /* its number in the file of candidates, from 1 */
	unsigned int result; /* enum candidate_result */
	uint64_t tries; /* runs of its sides; one run may have several */
	char *ordered_by; /* NULL: not known */
	uint64_t race_id; /* in this report, of what it is; 0: of none */
	/* those at which it was tried */
	uint32_t *targets;
	size_t target_count;
	struct race race; /* as it was reported */
};

/* All zero and empty; end with the _deinit(). */
void candidate_record_init(struct candidate_record *record);
void candidate_record_deinit(struct candidate_record *record);

/* For people: "provoked", "ordered", "not met", ... */
const char *candidate_result_words(unsigned int result);

/*
 * "read against write of shards: add cache.c:9 against two cache.c:13: ordered by
 * their own synchronization in 3 tries"
 */
void candidate_say(struct strbuf *line, const struct candidate_record *record);

/* "3 candidates: 2 provoked, 1 ordered" from a count of each result */
void candidate_say_counts(struct strbuf *line,
			  const uint64_t counts[CANDIDATE_RESULTS]);

#endif
