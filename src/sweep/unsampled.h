/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The runs of a sweep that took no sample of the program's own modules, counted
 * by the reason that each of them gave.
 */
#ifndef SWEEP_UNSAMPLED_H
#define SWEEP_UNSAMPLED_H

#include <stdbool.h>
#include <stdint.h>

#include "base/vec.h"

struct error;
struct results;
struct object;
struct strbuf;

struct unsampled_group {
	const char *reason; /* a word of racewatch-json(5); NULL: not told */
	const char *text; /* of the run with the lowest number, or NULL */
	uint64_t runs, first_run;
	bool differs; /* other runs of the group have other figures in it */
};

/*
 * Fill the empty list (struct unsampled_group) with the groups, the one with
 * most runs first. Their strings are those of the results. ERROR_NOMEM only.
 */
struct error *unsampled_count(const struct results *results, struct vec *ret);

/*
 * Append a line for each group: "  3 of 4 runs took no sample of the program's
 * own modules: the program had one thread, so that nothing could race".
 */
void unsampled_add_text(struct strbuf *out, const struct vec *groups,
			uint64_t finished);

/* Put the groups as the member `unsampled', an array. */
void unsampled_put(struct object *line, const struct vec *groups);

#endif
