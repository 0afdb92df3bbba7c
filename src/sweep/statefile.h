/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The state file of a sweep: a database (sweep/journal.h), so that a sweep that
 * was killed at any time can continue, and so that several sweeps can share
 * one.
 *
 * Each running run has a lock: a byte far behind the end of the file, locked by
 * open file description (fcntl(2)). The lock ends with the last process that
 * has the description. A run that is claimed, not done and not locked was
 * abandoned.
 *
 * Locks are on the database itself. As store/store.h says, a descriptor of a
 * claim may be closed between calls of this module only; all calls have ended
 * their transactions.
 */
#ifndef SWEEP_STATEFILE_H
#define SWEEP_STATEFILE_H

#include <stdbool.h>
#include <stdint.h>

struct error;
struct journal_record;
struct results;
struct plan_entry;
struct statefile;

/* A run that is ours until the lock is closed. */
struct statefile_claim {
	uint64_t run, seed;
	const struct plan_entry *entry; /* of the plan */
	bool again; /* it was begun before, and abandoned */
	int lock_fd; /* close it after statefile_finish() */
};

struct statefile_limits {
	uint64_t first_run, runs; /* runs 0: no limit */
};

bool statefile_within(const struct statefile_limits *limits, uint64_t run);

/*
 * Open or create the file, and read it into the results. A new one gets the
 * command and the seed. One of another command or seed is refused with
 * ERROR_USAGE, what is no state of a sweep with ERROR_FORMAT, and not changed.
 */
struct error *statefile_open(const char *path, char *const *command,
			     uint64_t seed, struct results *results,
			     struct statefile **ret);
void statefile_close(struct statefile *state);

/* Read what others have written since. */
struct error *statefile_refresh(struct statefile *state);

/*
 * Claim the next run: one that was abandoned, before a new one. *ret_any is
 * false when all within the limits are done or running. Space for the record of
 * its end is reserved, so that ENOSPC is returned here, before the run.
 */
struct error *statefile_claim(struct statefile *state,
			      const struct statefile_limits *limits,
			      struct statefile_claim *ret, bool *ret_any);

/* Write the record of a run's end, and take it into the results. */
struct error *statefile_finish(struct statefile *state,
			       const struct journal_record *record);

#endif
