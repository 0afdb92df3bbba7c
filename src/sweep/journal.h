/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The tables of a sweep's database, which racewatch-state(5) documents: the
 * command of the sweep, the runs that were claimed, their results, and the
 * races they showed. The caller begins and ends transactions.
 */
#ifndef SWEEP_JOURNAL_H
#define SWEEP_JOURNAL_H

#include <stdint.h>

#include "base/vec.h"
#include "sweep/findings.h"
#include "sweep/outcome.h"
#include "sweep/plan.h"

struct error;
struct store;
struct store_kind;

enum journal_type {
	JOURNAL_CLAIM, /* a run was begun */
	JOURNAL_DONE, /* a run has ended */
};

struct journal_record {
	enum journal_type type;
	uint64_t run, seed;
	char plan[PLAN_NAME];
	/* done */
	struct outcome outcome;
	uint64_t elapsed_ns;
	struct findings findings; /* samples, sites and races of it */
	char *directory; /* where its files are */
	char *note; /* what racewatch said, if it failed; or NULL */
};

void journal_record_init(struct journal_record *record);
void journal_record_deinit(struct journal_record *record);

extern const struct store_kind journal_kind;

/*
 * Begin the sweep of the command (ended by NULL) and seed: run n has seed + n.
 * If it was begun before, the two must be the same: ERROR_USAGE otherwise.
 */
struct error *journal_begin(struct store *store, char *const *command,
			    uint64_t seed);

/*
 * Write a record. worker, "host:pid", is for people. A run that is claimed again
 * has the new plan and worker. Of a run that ends twice the first end counts.
 */
struct error *journal_write(struct store *store,
			    const struct journal_record *record,
			    const char *worker);

/* How far records have been read; all zero: none. */
struct journal_place {
	uint64_t claims, ends;
};

/* Gets a record, and may take over its strings. */
typedef struct error *journal_take(void *context,
				   struct journal_record *record);

/* Read the new records: claims, then ends, each in their order. */
struct error *journal_read(struct store *store, struct journal_place *place,
			   journal_take *take, void *context);

#endif
