/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Is an access synchronization? On x86 a relaxed, acquire or release atomic is
 * a plain mov, so that the instruction alone does not show it. The record has
 * evidence of either side: a locked instruction, the body of an atomic
 * operation, the type of the variable, the source line, a function known to
 * synchronize, or the other side (DataCollider, section 3.1.1; its sampling
 * leaves such accesses out).
 */
#ifndef JUDGE_SYNCNESS_H
#define JUDGE_SYNCNESS_H

#include <stdbool.h>

struct race;

/*
 * Name the evidence in race_side.sync of the sides that have none yet. False
 * when out of memory.
 *
 *	atomic-type	by the variable's type: both sides
 *	lock-type	the same, but for a store that plain_over_lock() tells of;
 *			from that, "runtime" is taken away too
 *	source		the source line names an atomic operation there
 *	function	a function that synchronizes, by its name, or futex(2)
 *	locked-beside	the same function changes it by a locked instruction, or
 *			waits on it by futex(2), and this is not a plain
 *			read-modify-write, nor what plain_loses() or
 *			plain_stores() tell of
 *	partner		plain and aligned, of just the bytes that the other
 *			side changes by a locked instruction, or waits on by
 *			futex(2) (a load may have more, or half of 16),
 *			and not a plain read-modify-write, nor, with
 *			debug information, a store over a sum, nor what
 *			plain_loses() tells of, nor, if the other is in
 *			another module, a store over a lock; without it,
 *			also if the other is atomic code
 *	dispatch	a pointer to a function that is chosen at the first
 *			call, where nothing tells that it is no atomic
 */
bool syncness_find(struct race *race);

/*
 * Is the variable volatile, or do both sides access it as if it were? That is
 * no evidence of synchronization: volatile is neither atomic nor does it order
 * anything between threads.
 */
bool syncness_is_volatile(const struct race *race);

/* Both sides synchronize; a side that was not seen counts as the other one. */
bool syncness_both(const struct race *race);

#endif
