/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What came of the candidates of a hunt. */
#ifndef HUNT_TRIAGE_H
#define HUNT_TRIAGE_H

struct candidates;
struct error;
struct vec;

/*
 * Append a record (struct candidate_record) for each candidate; the caller ends
 * them. targets: of struct target_record, all sides of the hunt; races: of const
 * struct race *, those that it has met, with their numbers, and those that it had met
 * before it went on.
 */
struct error *triage(const struct candidates *candidates,
		     const struct vec *targets, const struct vec *races,
		     struct vec *records);

#endif
