/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The lines of text with the estimate of unseen races (sweep/species.h): at the
 * end of a sweep, and for merged reports.
 */
#ifndef SWEEP_UNSEEN_H
#define SWEEP_UNSEEN_H

struct species_counts;
struct species_estimate;
struct strbuf;

/* Each line begins with "  unseen: "; the estimate is that of the counts. */
void unseen_add_text(struct strbuf *out, const struct species_counts *counts,
		     const struct species_estimate *estimate);

#endif
