/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The output of racewatch report: merged reports in a format, or the comparison
 * of two.
 */
#ifndef OUTPUT_REPORT_PRINT_H
#define OUTPUT_REPORT_PRINT_H

#include <stdbool.h>

#include "report/filter.h"
#include "report/render.h"

struct error;
struct judge;
struct merge;

struct report_print {
	struct renderer renderer;
	const struct filters *filters;
	bool show_all; /* text: every race in full */
	bool quiet; /* text: races in full only */
	struct judge *judge; /* of each race; NULL: none */
	bool unseen; /* text: say how much is still unseen */
	bool any_actionable; /* set: one was printed (race_is_actionable()) */
};

/* All records; finishes the renderer, also after an error. */
struct error *report_print(struct report_print *print, struct merge *merge);

/*
 * The races of `new' with their status, new or known, then those of `old' that
 * are gone, numbered on from the others. *ret_new tells whether any race is new
 * that the filters let through, is not suppressed and is no synchronization.
 * Finishes the renderer, also after an error.
 */
struct error *report_print_diff(struct report_print *print, struct merge *old,
				struct merge *new, bool *ret_new);

#endif
