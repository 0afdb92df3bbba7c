/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The options of racewatch sweep, and those that it gives each run.
 */
#ifndef CMD_SWEEP_OPTIONS_H
#define CMD_SWEEP_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/options.h"
#include "base/strbuf.h"
#include "base/vec.h"

enum sweep_plan { PLAN_ADAPTIVE, PLAN_EVEN };

struct sweep_options {
	char *const *given; /* the command line, in its order */
	bool help, version, quiet, verbose;
	uint64_t runs, first_run, budget_ns, stop_after_quiet, jobs;
	uint64_t timeout_ns, seed, output_limit;
	const char *directory, *state, *learned;
	int plan;
	int policy; /* negative: not given */
	/* of the runs */
	uint64_t rate, stall_ns, duration_ns;
	double overhead_pct; /* negative: not given */
	int effort; /* enum effort */
	bool source;
	struct vec source_dirs;
	const char *on_race;
	int backend, follow; /* negative: not given */
	bool text_untouched, debuginfod, include_stack, no_aslr;
	struct vec at, include, exclude, special;
	/* the judge and the report */
	struct vec suppressions, baselines;
	bool no_default_suppressions, update_baseline, ignore_unlikely;
	const char *gen_suppressions;
	uint64_t error_exitcode, min_samples;
	const char *output;
	int format, show, color;
};

extern const struct option_table sweep_table;

/* The defaults. */
void sweep_options_init(struct sweep_options *options);

/* What --effort says of rate, stall and overhead, where these are not given. */
void sweep_options_settle(struct sweep_options *options);

/* What each run would refuse, before any is begun. */
struct error *sweep_options_check(const struct sweep_options *options);

/* Words that sweep_options_fill() makes. */
struct sweep_words {
	char duration[32], overhead[32];
	struct strbuf learned;
};

/*
 * Append the options of every run (char *), which borrow from options and
 * words, zeroed before; free words->learned. False: out of memory.
 */
bool sweep_options_fill(const struct sweep_options *options,
			const char *directory, struct sweep_words *words,
			struct vec *out);

#endif
