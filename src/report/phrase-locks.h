/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The locks that the sides of a race were seen to hold (locks of struct
 * race_side), in words, for every format that people read.
 */
#ifndef REPORT_PHRASE_LOCKS_H
#define REPORT_PHRASE_LOCKS_H

#include <stdbool.h>

struct race;
struct race_side;
struct strbuf;

/*
 * "holds b->mu (mutex at 0x4c0c0), rwlock at 0x4c100 for writing", "holds no lock
 * found"; false, and nothing, where it was not looked for them.
 */
bool phrase_add_holds(struct strbuf *line, const struct race_side *side);

/*
 * "thread 12 "a" holds b->mu, thread 13 "b" does not": what the two sides hold,
 * beside each other. False, and nothing, where neither was seen to hold a lock, or
 * one of them is not known.
 */
bool phrase_add_lock_pair(struct strbuf *line, const struct race *race);

#endif
