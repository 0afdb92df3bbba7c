/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * How code uses the value of a race (struct code_pattern): words for it, and
 * how to join it when one record stands for conflicts of several instructions.
 */
#ifndef REPORT_CODE_PATTERNS_H
#define REPORT_CODE_PATTERNS_H

#include <stdbool.h>

struct code_pattern;
struct race;
struct race_side;

/*
 * A value that one side reads again under a lock is written by the other under
 * that very lock; as the last thing, unless without the lock nothing is done.
 */
bool race_is_double_checked(const struct race *race);
/* Is what the side stores made of the value that was there? */
bool race_side_updates(const struct race_side *side);
/* Whether it says anything. */
bool race_pattern_is_known(const struct code_pattern *pattern);

/*
 * The other is the same race by names, maybe of other instructions: keep what
 * is true for both. The graver verdict of the two is kept, with its reason and
 * grounds.
 */
void race_join_patterns(struct race *race, struct race *again);

#endif
