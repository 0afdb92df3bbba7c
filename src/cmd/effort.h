/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * How much is spent on the watching: the presets of --effort, and what
 * --rate, --stall and --overhead make of them.
 */
#ifndef CMD_EFFORT_H
#define CMD_EFFORT_H

#include <stdbool.h>
#include <stdint.h>

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

struct effort_plan {
	uint32_t rate; /* hits per second */
	uint32_t busy_rate; /* see struct wire_params */
	uint32_t arm_rate; /* see struct wire_params */
	uint64_t stall_max_ns;
	uint64_t stall_long_ns; /* see struct wire_params */
	double share; /* of wall time that may be lost; 0: any */
	uint32_t rest; /* see struct wire_params */
	double stretch_max; /* see struct governor_budget */
	int nice; /* see struct session_config */
	/* of the program's own sites that have not run, armed at a time */
	uint32_t once_max;
	/* of entries of functions that are not known to run, the same */
	uint32_t entries_max;
};

void effort_init(struct effort_options *options);

/*
 * The preset, or if none was asked for the default, with what was given in its
 * place. A budget that was given stands alone: a rate or a stall does away
 * with the preset's overhead, an overhead with its rate.
 */
struct effort_plan effort_plan(const struct effort_options *options,
			       enum effort preset);

#endif
