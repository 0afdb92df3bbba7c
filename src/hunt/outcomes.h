/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The store of a hunt: its sides and what came of each, in a database
 * (store/store.h), so that a hunt that was killed continues, and several
 * processes, also on several machines, share one. racewatch-state(5) documents
 * the tables.
 *
 * A side is claimed by one process at a time, for one run. A claim ends with its
 * outcome, or with the process: what a dead process had claimed is claimed
 * again. Claims are locks of open file descriptions as in sweep/statefile.h.
 */
#ifndef HUNT_OUTCOMES_H
#define HUNT_OUTCOMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/vec.h"
#include "report/target-record.h"

struct error;
struct outcomes;
struct store;

struct outcomes_counts {
	uint64_t results[TARGET_RESULTS]; /* by enum target_result */
	uint64_t sides;
};

/*
 * Open the store, or create it for this command (ended by NULL). ERROR_USAGE:
 * it is of another command; ERROR_FORMAT: the file is something else.
 */
struct error *outcomes_open(const char *path, char *const *command,
			    struct outcomes **ret);
/* NULL is fine. Its claims end. */
void outcomes_close(struct outcomes *outcomes);

/* For tables beside those of sides (hunt/kept.h). */
struct store *outcomes_store(const struct outcomes *outcomes);

/* Has a recording been added? If so, none is needed to continue. */
struct error *outcomes_has_sides(struct outcomes *outcomes, bool *ret);

/*
 * Add the sides (struct hunt_side) of a recording, whose id's become those of the
 * store. A side whose fingerprint is there already keeps its outcome.
 */
struct error *outcomes_add_sides(struct outcomes *outcomes, struct vec *sides);

/*
 * Open the store of an older hunt, of any command, to be read. End with
 * store_close(). ERROR_USAGE: there is none; ERROR_FORMAT: the file is something
 * else.
 */
struct error *outcomes_open_old(const char *path, struct store **ret);

/*
 * Sides whose function is in the other store with the same bytes, and all of which
 * were tried there and have met no race, become TARGET_UNCHANGED. *ret_count: how many.
 */
struct error *outcomes_since(struct outcomes *outcomes, struct store *old,
			     uint64_t *ret_count);

/* Has the other store a side with that code that is not tried to the end? */
struct error *outcomes_has_pending(struct store *old, const char *code_hash,
				   bool *ret);

/*
 * The same of those with the code of a side that has met a race there, which becomes
 * theirs. *ret_side: the number of one of them, or 0.
 */
struct error *outcomes_leave_out(struct outcomes *outcomes,
				 const struct target_record *record,
				 uint64_t *ret_count, uint64_t *ret_side);

/*
 * Claim pending sides for one run, `most' at most, by rank, and append them
 * (struct hunt_side, the caller's) to sides. None: nothing is pending, or others
 * have claimed it. *ret_others: others have claimed some of those looked at.
 */
struct error *outcomes_claim(struct outcomes *outcomes, size_t most,
			     struct vec *sides, bool *ret_others);

/*
 * What came of a side: a row of its history. It is pending again with
 * TARGET_PENDING, which counts the run. Other results are final; of two
 * the one that was written first counts, except that TARGET_PROVOKED wins.
 */
struct error *outcomes_save(struct outcomes *outcomes, uint64_t side,
			    const struct target_outcome *outcome);

/*
 * The most promising side whose instruction is at that place, one that was provoked
 * before others, with what came of it; the caller frees *ret. *ret_found: there is
 * one. The module's path and the offset count.
 */
struct error *outcomes_find_at(struct outcomes *outcomes,
			       const struct hunt_place *place,
			       struct target_record *ret, bool *ret_found);

struct error *outcomes_count(struct outcomes *outcomes,
			     struct outcomes_counts *ret);

/* All sides with their outcomes (struct target_record), by rank. */
struct error *outcomes_load(struct outcomes *outcomes, struct vec *records);
/* The same of those of a store that have met a race. */
struct error *outcomes_load_met(struct store *store, struct vec *records);

#endif
