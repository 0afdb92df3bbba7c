/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The locks that a side's thread held, which the tracer has seen, in names. Part
 * of conflict_describe().
 */
#ifndef CONFLICT_OWN_LOCKS_H
#define CONFLICT_OWN_LOCKS_H

struct conflict;
struct error;
struct race_side;

/*
 * Fill in side->locks and side->locks_known, of side i. The process may run on
 * meanwhile: the names are those of now. ERROR_NOMEM only.
 */
struct error *own_locks_describe(const struct conflict *conflict, int i,
				 struct race_side *side);

#endif
