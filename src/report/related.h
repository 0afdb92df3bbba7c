/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Races on the same variable, which are evidence about one another. Two threads
 * that increment a counter look like statistics until a third thread is seen
 * that waits for the number.
 */
#ifndef REPORT_RELATED_H
#define REPORT_RELATED_H

#include <stdbool.h>
#include <stdint.h>

struct code_pattern;
struct race;
struct race_side;
struct vec;

/* The same bytes of the same process, or of the same named variable. */
bool related_by_variable(const struct race *a, const struct race *b);

/*
 * If they are of one variable, and one side of `teller' branches on its value
 * (compares it, dereferences it, counts it down), set race->decides. True if it
 * was not set before.
 */
bool related_tell(struct race *race, const struct race *teller);

/*
 * Do replays of one tell of the other? They are of one variable, or of the same
 * field of a type; or, where one of them has no name, code of both is the same.
 * The store of a reference count and the next read of it may change nothing in
 * any order, while two such stores do.
 */
bool related_share_replays(const struct race *a, const struct race *b);

/*
 * Is the other race on memory that the raced value leads to? One function stores a
 * pointer, and the other one dereferences it; the same two race on the other
 * variable, in the same roles. An object that is seen before it is complete is
 * harmful, and the replays of the pointer do not show it: they begin with the store
 * of the pointer and run each function whole behind it. By the functions' names:
 * false where there are none.
 */
bool related_is_behind(const struct race *race, const struct race *other);

/*
 * Is the other race on other bytes of the same object: of the same global variable,
 * of the same type on the heap, or of what has no name; and by the same code of one
 * side, or by the same two functions? What is checked of one element or field may be
 * gone of another, which this pair of instructions does not show. On another object
 * the same two functions may have harm to show, a fault or an overlap: what a vector
 * has and where it is are two objects.
 */
bool related_is_beside(const struct race *race, const struct race *other);

/*
 * Set race->replay_related from these races (of struct race *), of which it is one:
 * from those that tell of it, and from those behind and beside it, which can only
 * show that it is not benign; one beside it only by an effect that was seen. Synchronization is none of them. True if that is news.
 */
bool related_sum_replays(struct race *race, const struct vec *races);

/* Does code that uses a value in this way branch on it? */
bool related_pattern_decides(const struct code_pattern *pattern);

/* A value changed, and no thread was seen to write it: sides[1] is unknown. */
bool race_is_one_sided(const struct race *race);

/*
 * The side to show the race at, where one place stands for it: the first, unless
 * only the second is in source code of the program's own.
 */
const struct race_side *race_place_side(const struct race *race);

/*
 * Identifies a side without the other one: by names, with the variable, and by
 * code. 64 bits each, of digests as in the fingerprints.
 */
struct race_side_key {
	uint64_t names, code;
};
void race_side_key(const struct race *race, int side,
		   struct race_side_key *ret);

/*
 * Is a side of one race the same code as a side of the other? By names where
 * both have some, by module and offset elsewhere, as in the fingerprints
 * (fingerprint.c).
 */
bool race_same_code(const struct race *a, int side, const struct race *b,
		    int other);

#endif
