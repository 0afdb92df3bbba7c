/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Whether a race may be none because its accesses are atomic operations. On x86
 * a relaxed, acquire or release one is a plain move. Those of C are not in the
 * debug information, so that they cannot be recognized without the source; a
 * report has to say so.
 */
#ifndef REPORT_DOUBT_H
#define REPORT_DOUBT_H

struct race;

/* What is missing to decide whether an access is an atomic operation. */
enum race_missing {
	RACE_MISSES_NOTHING,
	RACE_MISSES_MACRO, /* what a macro comes to, with the source at hand */
	RACE_MISSES_SOURCE,
	RACE_MISSES_DEBUG, /* debug information, and the source */
};

/*
 * What is missing to tell, where every side either synchronizes or may be an
 * atomic operation by what it looks like; RACE_MISSES_NOTHING where one cannot
 * be, or the source or the debug information shows that it is none.
 *
 * What may be one is a move of 1, 2, 4 or 8 bytes that are aligned, to or from
 * a general register, or of a constant; a comparison of them; or an operation
 * on them without a lock that clang makes of an atomic load and store. The two
 * sides have the same bytes, or the other one has locked ones among them; and
 * not both write a value computed from the old one, since one of two such
 * updates is lost, atomic or not.
 */
enum race_missing race_doubt(const struct race *race);

/* "no source: may be an atomic"; NULL without a doubt. */
const char *race_doubt_text(const struct race *race);

/* Join two sightings: there is no doubt if one of them had none. */
void race_join_doubts(struct race *race, const struct race *other);

#endif
