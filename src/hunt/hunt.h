/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A hunt: the sides of a recording (or of a file) are provoked one after the
 * other in runs of the command, until each has an outcome or the time is over
 * (racewatch-hunt(1)).
 */
#ifndef HUNT_HUNT_H
#define HUNT_HUNT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/vec.h"
#include "hunt/holding.h"
#include "hunt/outcomes.h"
#include "hunt/target.h"

struct crash;
struct error;
struct race;

struct hunt_config {
	struct holding_config run; /* the command, and how it is run */
	uint64_t budget_ns; /* 0: none */
	uint64_t asked_ns; /* clock_now_ns() when the budget began */
	uint64_t jobs; /* runs at a time, at most */
	bool shared; /* others may try sides of the store meanwhile */
	uint64_t hold_ns; /* 0: as the recording says */
	bool keeps_races; /* in the store (hunt/kept.h) */
};

struct hunt_progress {
	uint64_t elapsed_ns;
	uint64_t runs; /* made */
	uint64_t busy; /* being made */
	/*
	 * Made, being made, and those that it takes to settle the sides that are
	 * left, by the runs so far (hunt/planned.h). Of a store that several
	 * hunts share, as if this one had to make all.
	 */
	uint64_t planned;
	struct outcomes_counts counts;
	/* until they are made, or the budget is over; UINT64_MAX: not known */
	uint64_t left_ns;
};

struct hunt_sink {
	void *context;
	/*
	 * A race of a run. It is the receiver's. Others of the same kind may have
	 * come before.
	 */
	struct error *(*race)(void *context, struct race *race);
	struct error *(*crash)(void *context, const struct crash *crash);
	/* after each run, and about once a second */
	void (*progress)(void *context, const struct hunt_progress *progress);
};

enum hunt_end {
	HUNT_DONE, /* all have an outcome, or others have the rest */
	HUNT_BUDGET,
	HUNT_INTERRUPTED,
	HUNT_FAILED, /* an error has ended it */
};

struct hunt_result {
	enum hunt_end end;
	int interrupted; /* the signal */
	uint64_t runs;
	uint64_t elapsed_ns;
	int status; /* of the first run that failed; 0: none did */
	uint64_t failed; /* runs that did */
};

/*
 * The store has the sides. Errors: what a run needs is refused or missing, or
 * the store cannot be written.
 */
struct error *hunt_run(const struct hunt_config *config,
		       struct outcomes *outcomes, const struct hunt_sink *sink,
		       struct hunt_result *ret);

#endif
