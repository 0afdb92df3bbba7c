/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The options of racewatch sweep, and those that it gives each run.
 */
#ifndef CMD_SWEEP_OPTIONS_H
#define CMD_SWEEP_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/options.h"
#include "base/vec.h"
#include "cmd/groups.h"
#include "sweep/plan.h"

enum sweep_plan { PLAN_ADAPTIVE, PLAN_EVEN };

struct sweep_options {
	struct common common; /* also of the runs, which get them as given */
	const char *on_race;
	struct vec of_runs; /* of struct option_word: as they were given */
	/* of the sweep alone */
	uint64_t runs, first_run, budget_ns, stop_after_quiet, jobs;
	uint64_t timeout_ns, seed, output_limit, min_samples;
	const char *directory, *state, *learned;
	int plan;
	bool verbose;
};

extern const struct option_table sweep_table;

/* What the plan may not vary: the user has said it. */
struct plan_fixed sweep_options_fixed(const struct sweep_options *options);

/*
 * Append the options of every run (char *), which borrow from options and
 * learned: the file to learn in, NULL if there is none. False: out of memory.
 */
bool sweep_options_fill(const struct sweep_options *options,
			const char *learned, struct vec *out);

#endif
