/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Accesses that are no synchronization although the memory is used for it: what
 * is known to be plain, by debug information and the source, and what a plain
 * access may not do to a word that locked instructions change.
 */
#ifndef JUDGE_PLAIN_H
#define JUDGE_PLAIN_H

#include <stdbool.h>

struct race;
struct race_side;

/*
 * Debug information and the source show that it is no atomic operation, or it
 * is made by a string function of libc's that the program calls. It has no
 * evidence of synchronization but locked-beside and partner.
 */
bool plain_is_known(const struct race_side *side);

/*
 * Such a store beside locked instructions that add: what was added in between
 * is lost. Or such a read that is compared and after which a plain store is
 * made without a locked instruction: so are the changes in between.
 */
bool plain_loses(const struct race_side *side);

/* Both sides are such stores: the lock is not held by both. */
bool plain_stores(const struct race *race);

#endif
