/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The run record and the summary record: what was watched, and the results.
 * Plain data; strings are borrowed.
 */
#ifndef REPORT_RUN_H
#define REPORT_RUN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "wire/stats.h"

struct run_module {
	const char *path;
	const char *build_id; /* hex or NULL */
	uint64_t base;
};

struct run_record {
	const char *version;
	const char *const *command; /* NULL-terminated; NULL for attach */
	/* racewatch's own, as they were given; not of merged reports */
	const char *const *options;
	size_t option_count;
	const char *host; /* name of the machine, or NULL */
	int pid;
	const char *backend;
	uint64_t seed;
	/* of races: "on" or "off"; NULL: it is not told, or not the same */
	const char *replay;
	const char *replay_off; /* why, or NULL */
	/* of the front end: "strict", "on", "partly" or "off"; NULL: not told */
	const char *sandbox;
	const char *sandbox_off; /* why it is off, or NULL */
	uint64_t start; /* wall clock, ns */
	const struct run_module *modules;
	size_t module_count;
	/*
	 * Of merged reports: how many runs (0 counts as 1) on which machines,
	 * sorted, ended by NULL (NULL: none is named). What they do not have
	 * in common is unknown, their seeds too.
	 */
	uint64_t runs;
	const char *const *hosts;
};

/* What was sampled of a module. */
struct run_coverage {
	const char *path;
	uint64_t sites_sampled, sites_eligible; /* as in the summary */
};

/* Of the samples, those that can show a race; see racewatch-json(5). */
struct run_sampling {
	bool known; /* reports of earlier versions do not have it */
	uint64_t own; /* of stats.stalled, in the program's own modules */
	uint64_t sites_sampled_own, sites_eligible_own;
	/*
	 * Samples of its CPU time, taken when it has code generated at run
	 * time, and those of them in such code.
	 */
	uint64_t looks, generated;
	/* nothing was found, and nothing of the program's own was sampled */
	bool proves_nothing;
};

/* Why no sample of the program's own modules had a stall. */
struct run_unsampled {
	/* a word of racewatch-json(5); NULL: one had, or it was not told */
	const char *reason;
	const char *text; /* one sentence, or NULL */
};

/* A place that was asked for with --at. */
struct run_at {
	const char *where; /* as it was given */
	uint64_t sites; /* instructions there */
	uint64_t samples; /* at them */
	const char *problem; /* why there are none, or NULL */
};

/* One of --include or --exclude that matched nothing. */
struct run_pattern {
	const char *option; /* "include" or "exclude" */
	const char *pattern;
};

/* What was seen of a program that had a second thread or samples. */
struct run_program {
	const char *path;
	uint64_t processes; /* that ran it */
	uint64_t threads; /* of one of them, most at a time */
	uint64_t samples, samples_stalled;
	uint64_t races;
};

/* Of a hunt, which takes no samples. */
struct run_hunt {
	bool known; /* it was one */
	const char *recorder; /* NULL: nothing was recorded by this hunt */
	/*
	 * Exit statuses of the command under the recorder and by itself; the
	 * same: they do not differ, or are not known.
	 */
	uint32_t recorded_exit, bare_exit;
	/* of its progress: runs made, and all that it is going to make */
	uint64_t runs, planned;
	uint64_t sides, sides_left; /* without an outcome */
	uint64_t left_ns; /* until it ends; 0: not known, or it has ended */
};

/*
 * The summary. Also what it came to so far, about once a second: the records of
 * the type progress have a few of these (progress_fields, report/field.h).
 */
struct run_summary {
	struct wire_stats stats; /* what the tracer counted */
	uint64_t races; /* distinct */
	uint64_t races_new;
	uint64_t suppressed;
	uint64_t known; /* by the baseline */
	uint64_t unlikely; /* of the races, unless they are not counted */
	uint64_t synchronization; /* conflicts of synchronizing accesses */
	uint64_t sites_sampled; /* distinct sites that had a stall */
	uint64_t sites_eligible; /* known so far */
	uint64_t elapsed_ns; /* watching */
	/* instances of races: run in every order, and not possible */
	uint64_t replays, replays_failed;
	uint64_t cpu_ns; /* that racewatch has computed */
	double overhead_pct;
	/*
	 * Of it, while the first threads waited at the start, by stops without
	 * a stall, and by what racewatch computed; the rest is stalls.
	 */
	double start_pct, stops_pct, computing_pct;
	double replay_pct; /* of computing_pct, for replays */
	double budget_pct; /* for that; 0: none, or not the same in all runs */
	const char *backend;
	const struct run_coverage *coverage; /* of each module sampled */
	size_t coverage_count;
	struct run_sampling sampling;
	struct run_unsampled unsampled; /* of merged reports: what all say */
	const struct run_at *at; /* of each --at */
	size_t at_count;
	/* those without an effect; not of merged reports */
	const struct run_pattern *patterns;
	size_t pattern_count;
	/*
	 * Where more than one process was watched, and not of merged reports:
	 * those with the most samples first; the other processes had one
	 * thread.
	 */
	const struct run_program *programs;
	size_t program_count;
	uint64_t processes_single;
	struct run_hunt hunt;
	int exit_status; /* racewatch's */
};

/* Nothing was sampled that could have shown a race of the program's own. */
static inline bool run_is_unsampled(const struct run_summary *summary)
{
	if (summary->hunt.known)
		return false;
	return summary->sampling.known ? summary->sampling.own == 0
				       : summary->stats.samples == 0;
}

#endif
