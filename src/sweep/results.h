/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The sum of all runs of a sweep, from the records of its state file: which
 * runs have ended and how, how many of them showed each race, and what each
 * entry of the plan found.
 */
#ifndef SWEEP_RESULTS_H
#define SWEEP_RESULTS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/map.h"
#include "base/vec.h"
#include "sweep/outcome.h"
#include "sweep/plan.h"
#include "sweep/species.h"

struct error;
struct journal_record;

struct results_run {
	uint64_t number, seed;
	char plan[PLAN_NAME]; /* of the last claim */
	bool finished; /* else under way, or given up by who claimed it */
	struct outcome outcome;
	uint64_t elapsed_ns, samples;
	uint64_t races_new; /* not minor, that no run before had shown */
	char *directory; /* NULL: not told */
	char *note; /* or NULL */
	/* why it took no sample (struct findings); or NULL */
	char *unsampled_reason, *unsampled_text;
	char *unmatched; /* unmatched_text(), or NULL */
};

struct results_race {
	char fingerprint[33];
	bool minor; /* in every run that showed it */
	char *what;
	uint64_t runs; /* that showed it */
	uint64_t first_run; /* the number of the first of them to finish */
	uint64_t first_order; /* runs that had finished then, with it */
};

struct results {
	struct plan *plan; /* borrowed; gets what its entries brought */
	struct vec runs; /* of struct results_run, in the order of claims */
	struct map by_number; /* place in runs */
	struct vec races; /* of struct results_race, as they appeared */
	uint64_t finished;
	uint64_t sampled; /* finished runs that took samples */
	uint64_t quiet; /* finished since a race was new */
	uint64_t samples, most_sites, elapsed_ns;
	uint64_t kinds[OUTCOMES]; /* finished runs of each kind */
};

void results_init(struct results *results, struct plan *plan);
void results_deinit(struct results *results);

/* Count a record; its strings may be taken. A run done twice counts once. */
struct error *results_take(struct results *results,
			   struct journal_record *record);

/* NULL: nobody has claimed it. */
const struct results_run *results_run(const struct results *results,
				      uint64_t number);
const struct results_race *results_race(const struct results *results,
					const char *fingerprint);

/* Races that are not minor. */
uint64_t results_races(const struct results *results);

/*
 * The counts for the estimates: races that are not minor, in runs that took
 * samples.
 */
struct error *results_species(const struct results *results,
			      struct species_counts *ret);

#endif
