/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The run records and summaries of many runs as one of each, whatever their
 * order. How each field is merged is in run-fields.c.
 */
#ifndef REPORT_TOTALS_H
#define REPORT_TOTALS_H

#include <stdbool.h>
#include <stdint.h>

#include "report/run.h"

struct error;

/* Fields that are FIELD_SHARE. */
enum { TOTALS_SHARES = 5 };

struct totals {
	struct run_record run; /* what they have in memory is ours */
	struct run_summary summary; /* but for its shares: */
	uint64_t share_us[TOTALS_SHARES]; /* in the order of the fields */
	bool has_run, has_summary;
};

void totals_init(struct totals *totals);
void totals_deinit(struct totals *totals);

struct error *totals_add_run(struct totals *totals,
			     const struct run_record *run);
struct error *totals_add_summary(struct totals *totals,
				 const struct run_summary *summary);

/* The sum, valid until totals change; only if there was one. */
void totals_summary(const struct totals *totals, struct run_summary *ret);

#endif
