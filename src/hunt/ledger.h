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
#ifndef HUNT_LEDGER_H
#define HUNT_LEDGER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/vec.h"
#include "report/target-record.h"

struct error;
struct ledger;

struct ledger_counts {
	uint64_t results[TARGET_RESULTS]; /* by enum target_result */
	uint64_t sides;
};

/*
 * Open the store, or create it for this command (ended by NULL). ERROR_USAGE:
 * the file is something else, or of another command.
 */
struct error *ledger_open(const char *path, char *const *command,
			  struct ledger **ret);
/* NULL is fine. Its claims end. */
void ledger_close(struct ledger *ledger);

/* Has a recording been added? If so, none is needed to continue. */
struct error *ledger_has_sides(struct ledger *ledger, bool *ret);

/*
 * Add the sides (struct hunt_side) of a recording, whose id's become those of the
 * store. A side whose fingerprint is there already keeps its outcome.
 */
struct error *ledger_add_sides(struct ledger *ledger, struct vec *sides);

/*
 * Sides whose function is in the other store with the same bytes, and that were
 * tried there, become TARGET_UNCHANGED. *ret_count: how many.
 */
struct error *ledger_since(struct ledger *ledger, const char *other,
			   uint64_t *ret_count);

/*
 * Claim pending sides for one run, `most' at most, by rank, and append them
 * (struct hunt_side, the caller's) to sides. None: nothing is pending, or others
 * have claimed it.
 */
struct error *ledger_claim(struct ledger *ledger, size_t most,
			   struct vec *sides);

/*
 * What came of a side: a row of its history. It is pending again with
 * TARGET_PENDING, which counts the run. Other results are final; of two
 * the one that was written first counts, except that TARGET_PROVOKED wins.
 */
struct error *ledger_save(struct ledger *ledger, uint64_t side,
			  const struct target_outcome *outcome);

struct error *ledger_count(struct ledger *ledger, struct ledger_counts *ret);

/* All sides with their outcomes (struct target_record), by rank. */
struct error *ledger_load(struct ledger *ledger, struct vec *records);

#endif
