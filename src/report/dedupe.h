/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Races with the same fingerprint are one: the first is kept, later ones are
 * counted on it. Memory is per distinct race.
 */
#ifndef REPORT_DEDUPE_H
#define REPORT_DEDUPE_H

#include <stdbool.h>

#include "base/vec.h"

struct error;
struct race;

struct dedupe {
	struct vec races; /* of struct race *, in order of id */
};

void dedupe_init(struct dedupe *dedupe);
void dedupe_deinit(struct dedupe *dedupe);

/*
 * Take the race over (fingerprints set), or count it on its twin and free it.
 * *ret is the race kept; *ret_new tells whether it is the first of its kind;
 * a new one gets the next id and count 1. On error the race is freed.
 */
struct error *dedupe_add(struct dedupe *dedupe, struct race *race,
			 struct race **ret, bool *ret_new);

#endif
