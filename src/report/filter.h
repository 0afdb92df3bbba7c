/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Choosing races by their members, as --filter writes it: KEY=GLOB, or
 * !KEY=GLOB or KEY!=GLOB for the contrary. Of several filters with the same key
 * one must match; those of different keys must all match; none that is negated
 * may. racewatch-report(1) lists the keys.
 */
#ifndef REPORT_FILTER_H
#define REPORT_FILTER_H

#include <stdbool.h>

#include "base/vec.h"

struct error;
struct race;

struct filters {
	struct vec items; /* of struct filter */
};

void filters_init(struct filters *filters);
void filters_deinit(struct filters *filters);

/* The text is borrowed. ERROR_USAGE says what is wrong with it. */
struct error *filters_add(struct filters *filters, const char *text);

/* Always, where there are no filters. */
bool filters_match(const struct filters *filters, const struct race *race);

#endif
