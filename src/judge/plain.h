/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Accesses that do not synchronize although the memory is used for
 * synchronization: those known to be plain, by debug information and the
 * source, and plain accesses that are wrong for a word that locked instructions
 * change.
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
 * Such a store in a function with locked instructions that add: what was added
 * in between is lost. Or such a read that is compared, and a plain store
 * without a locked instruction follows: changes in between are lost.
 */
bool plain_loses(const struct race_side *side);

/* Both sides are such stores: the lock is not held by both. */
bool plain_stores(const struct race *race);

/*
 * Side i is such a store by the program, outside threading functions, over a
 * lock: over what the other side uses in a function of the C library's for
 * locks, condition variables, semaphores and the like, or, with lock_type, of a
 * variable of such a type. Not one beside a locked instruction for the same
 * memory: such a lock is the program's own.
 */
bool plain_over_lock(const struct race *race, int i, bool lock_type);

/*
 * Are both sides code of one module? Then a store over a lock may be the
 * release of what the other side has taken. What libc's string functions do,
 * their callers do.
 */
bool plain_is_of_one_module(const struct race *race);

#endif
