/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Races with the same fingerprint are one: the first is kept, later ones are
 * counted on it. Memory is per distinct race.
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

/*
 * Take the race over (fingerprints set), or count it on its twin and free it.
 * *ret is the race kept; *ret_new tells whether it is the first of its kind;
 * a new one has no id yet (0), and count 1. On error the race is freed.
 */
struct error *dedupe_add(struct dedupe *dedupe, struct race *race,
			 struct race **ret, bool *ret_new);

/*
 * Give a race of the list the next id, from 1, unless it has one, which it keeps.
 * What is shown is numbered when it is, so that the first one shown is #1.
 */
void dedupe_number(struct dedupe *dedupe, struct race *race);

/* The same for all that have none, in the order in which they came. */
void dedupe_number_all(struct dedupe *dedupe);

#endif
