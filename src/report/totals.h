/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The run records and summaries of many runs as one of each, whatever their
 * order: counters are added, numbers of sites are those of the run with most
 * (a site may be in many), and what the runs do not have in common is unknown.
 * Times are added in microseconds, so that adding up sums gives the same.
 */
#ifndef REPORT_TOTALS_H
#define REPORT_TOTALS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/vec.h"
#include "report/run.h"

struct error;

struct totals {
	struct run_record run; /* its strings are ours */
	struct run_summary summary;
	bool has_run, has_summary;
	struct vec command; /* of char *, ended by NULL once it is set */
	struct vec hosts; /* of char *, sorted, ended by NULL */
	struct vec modules; /* of struct run_module, sorted */
	struct vec coverage; /* of struct run_coverage, sorted by path */
	struct vec at; /* of struct run_at, sorted by where */
	uint64_t stalled_us, elapsed_us, overhead_us, cpu_us;
	uint64_t start_us, stops_us, computing_us;
};

void totals_init(struct totals *totals);
void totals_deinit(struct totals *totals);

struct error *totals_add_run(struct totals *totals,
			     const struct run_record *run);
struct error *totals_add_summary(struct totals *totals,
				 const struct run_summary *summary);

/* The records, valid until totals change; only if there was one. */
void totals_run(const struct totals *totals, struct run_record *ret);
void totals_summary(const struct totals *totals, struct run_summary *ret);

#endif
