/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Words for the summary of a run, for every format that is read by people.
 */
#ifndef REPORT_PHRASE_RUN_H
#define REPORT_PHRASE_RUN_H

#include "base/strbuf.h"

struct run_summary;

/*
 * "5 312 samples (4 980 with a stall) of 61 own and 12 library sites", or
 * "this run proves nothing: 9 samples ...".
 */
void phrase_add_samples(struct strbuf *line, const struct run_summary *summary);

/* The sentence for a run of which run_is_unsampled(). */
const char *phrase_unsampled(const struct run_summary *summary);

/*
 * "overhead 2.1 of 40 %", or "overhead 2.1 %" where there is no budget; what it
 * is made of, where it is more than that or nothing had a stall: "overhead 43.8
 * of 40 % (stops 43.1, computing 0.7)".
 */
void phrase_add_overhead(struct strbuf *line,
			 const struct run_summary *summary);

#endif
