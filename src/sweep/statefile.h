/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The state file of a sweep: records (sweep/journal.h) that are only ever
 * appended, whole lines by one writer at a time, so that a sweep can be killed
 * at any moment and goes on from there, and so that several can share one.
 *
 * Locks are those of open file descriptions (fcntl(2)), which end with the last
 * process that has the description: one byte far behind the end of the file for
 * who writes, and one for each run that is under way. A run that is claimed,
 * not done, and locked by nobody was given up.
 */
#ifndef SWEEP_STATEFILE_H
#define SWEEP_STATEFILE_H

#include <stdbool.h>
#include <stdint.h>

struct error;
struct journal_record;
struct ledger;
struct plan;
struct statefile;

/* A run that is ours until the lock is closed. */
struct statefile_claim {
	uint64_t run, seed;
	/* the plan's entry */
	const char *plan, *policy;
	uint64_t rate, stall_ns;
	bool again; /* somebody began it before, and gave it up */
	int lock_fd; /* close it after statefile_finish() */
};

struct statefile_limits {
	uint64_t first_run, runs; /* runs 0: no limit */
};

bool statefile_within(const struct statefile_limits *limits, uint64_t run);

/*
 * Open or create the file, and read it into the ledger. A new one begins with
 * `header' (of JOURNAL_SWEEP). One that is of another command or seed is
 * refused with ERROR_USAGE. Lines that are no records are named in a warning
 * and passed over; a last one that was cut short is another line to come.
 */
struct error *statefile_open(const char *path,
			     const struct journal_record *header,
			     struct ledger *ledger, struct statefile **ret);
void statefile_close(struct statefile *state);

/* Read what others have written since. */
struct error *statefile_refresh(struct statefile *state);

/*
 * Claim the next run, one that was given up before a new one. *ret_any is
 * false when all within the limits are done or under way. Room for the record
 * of its end is made sure of: ENOSPC comes here, before the run.
 */
struct error *statefile_claim(struct statefile *state,
			      const struct statefile_limits *limits,
			      struct statefile_claim *ret, bool *ret_any);

/* Append the record of a run's end; as ledger_take(). */
struct error *statefile_finish(struct statefile *state,
			       struct journal_record *record);

#endif
