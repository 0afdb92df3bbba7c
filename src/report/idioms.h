/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * How code uses the value of a race (struct insn_idiom): words for it, and how
 * to join it when one record stands for conflicts of several instructions.
 */
#ifndef REPORT_IDIOMS_H
#define REPORT_IDIOMS_H

#include <stdbool.h>

struct insn_idiom;
struct race;

/*
 * A value that one side reads again under a lock is written by the other under
 * that very lock; as the last thing, unless without the lock nothing is done.
 */
bool race_is_double_checked(const struct race *race);
/* Whether it says anything. */
bool race_idiom_is_known(const struct insn_idiom *idiom);

/*
 * The other is the same race by names, maybe of other instructions: keep what
 * is true for both. The graver verdict of the two is kept, with its reason and
 * grounds.
 */
void race_join_idioms(struct race *race, struct race *again);

#endif
