/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * How much is spent on the watching: the presets of --effort, and what
 * --rate, --stall and --overhead make of them.
 */
#ifndef SCHEDULE_EFFORT_H
#define SCHEDULE_EFFORT_H

#include <stdint.h>

#include "wire/params.h"

/* --effort, in the order of its words. */
enum effort { EFFORT_LOW, EFFORT_NORMAL, EFFORT_HIGH, EFFORT_NONE };

extern const char *const effort_words[];

/* What was given on the command line; NONE where nothing was. */
#define EFFORT_RATE_NONE UINT64_MAX
#define EFFORT_STALL_NONE UINT64_MAX
#define EFFORT_OVERHEAD_NONE (-1.0)

struct effort_options {
	int effort; /* enum effort */
	uint64_t rate, stall_ns;
	double overhead_pct;
};

/* What a session may spend. */
struct effort_plan {
	/* probes, learns and startup_ns are left to the session */
	struct wire_params params;
	int nice; /* of the front end, beside what it has; see nice(2) */
	/* of the program's own sites that have not run, armed at a time */
	uint32_t once_max;
	/* of entries of functions that are not known to run, the same */
	uint32_t entries_max;
};

/*
 * The preset, or if none was asked for the default, with what was given in its
 * place. A budget that was given stands alone: a rate or a stall does away
 * with the preset's overhead, an overhead with its rate.
 */
struct effort_plan effort_plan(const struct effort_options *options,
			       enum effort preset);

#endif
