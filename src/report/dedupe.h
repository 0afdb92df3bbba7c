/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Races with the same fingerprint are one: the first is kept, and later ones
 * increase its count. Memory is per distinct race.
 */
#ifndef REPORT_DEDUPE_H
#define REPORT_DEDUPE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/vec.h"

struct error;
struct race;

struct dedupe {
	struct vec races; /* of struct race *, as they came */
	uint64_t numbered; /* ids given so far */
};

void dedupe_init(struct dedupe *dedupe);
void dedupe_deinit(struct dedupe *dedupe);

enum dedupe_found {
	DEDUPE_NEW, /* the first of its kind; it has no id (0), and count 1 */
	DEDUPE_AGAIN, /* counted on its twin */
	/*
	 * Only one side of its twin was known, and the value had changed. The
	 * twin becomes this race, and keeps its id and counts.
	 */
	DEDUPE_COMPLETED,
};

/*
 * Take the race over (fingerprints set). If it has a twin, count it there and
 * free it. *ret is the race kept. On error the race is freed. A race of which
 * one side is known is a twin of those on the same variable that have that
 * side.
 */
struct error *dedupe_add(struct dedupe *dedupe, struct race *race,
			 struct race **ret, enum dedupe_found *ret_found);

/*
 * Give a race of the list the next id, from 1, unless it has one, which it keeps.
 * What is shown is numbered when it is, so that the first one shown is #1.
 */
void dedupe_number(struct dedupe *dedupe, struct race *race);

/* The same for all that have none, in the order in which they came. */
void dedupe_number_all(struct dedupe *dedupe);

#endif
