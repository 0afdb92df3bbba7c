/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The candidates of a hunt in its store: what the recording shows of each, and the
 * races that were met, so that a hunt that goes on can say what came of them.
 * racewatch-state(5) documents the tables.
 */
#ifndef HUNT_KEPT_H
#define HUNT_KEPT_H

struct candidates;
struct error;
struct outcomes;
struct race;
struct store;
struct vec;

/*
 * Before their sides are added: a store that has sides has the candidates of these.
 * What another hunt has kept meanwhile is replaced.
 */
struct error *kept_save(struct outcomes *outcomes,
			const struct candidates *candidates);

/*
 * Fill in what the recording has shown of them. ERROR_USAGE: the sides in the store
 * are of other candidates, or of a hunt without any; on an error they may have some.
 */
struct error *kept_load(struct outcomes *outcomes,
			struct candidates *candidates);

/*
 * A race was met, with or without candidates: they may be asked for when the hunt
 * goes on. Of two of a kind, by the same callers, the graver one is kept.
 */
struct error *kept_add_race(struct outcomes *outcomes, struct race *race);

/*
 * Append those that were met so far (struct race *, the caller's), without numbers.
 */
struct error *kept_races(struct outcomes *outcomes, struct vec *races);
/* The same of any store of a hunt, in a transaction of the caller's. */
struct error *kept_read_races(struct store *store, struct vec *races);

#endif
