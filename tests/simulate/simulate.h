/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A simulated program under a virtual clock, watched by the product's own
 * scheduling: pool, budget, stalls and breakpoints of src/tracer and src/tracee, sampler,
 * governor and learning of src/session. What these ask of the kernel, of ELF
 * files and of the clock is answered here (ld's --wrap); no policy is copied.
 *
 * A program is a stream of executions for each thread: each of its locations
 * is reached at random times, at a rate of its own. Some locations touch
 * variables that two threads touch, with or without a lock.
 */
#ifndef SIMULATE_H
#define SIMULATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "schedule/effort.h"

struct simulate_plan {
	const char *name;
	double seconds;
	uint32_t processes, threads; /* threads of each process */
	/* locations of the program and of libraries, and those that run */
	uint32_t own, own_run, others, others_run;
	double executions; /* of each thread in a second, of all locations */
	double slope; /* the n-th hottest location runs 1/n^slope as often */
	double busy; /* share of the time that a thread runs */
	double switches; /* of each thread in a second, onto a processor */
	bool refuses_perf; /* there are no clocks of threads' CPU time */
	/* variables that two threads touch, without a lock and with one */
	uint32_t races, locked;
	uint32_t spread; /* instances of each at most: shards, objects */
	double coupling; /* of others' work, what waits for a held thread */
	uint32_t phases; /* how many; half of the locations run in one only */
	double phase_s;
	int effort; /* enum effort */
	double overhead; /* in %; 0: that of the effort */
	bool begins; /* started by us, not attached to */
};

enum simulate_policy {
	/*
	 * As it was before what runs was looked for: every location of the text
	 * is as likely, breakpoints stay until they are hit, and no stall is
	 * long. The rest is the present code: budget, governor, hot locations.
	 * What had not run was also armed in the first functions of a large
	 * program, which is left out: few of them run.
	 */
	SIMULATE_BEFORE,
	/* each location of the text is as likely, by the present code */
	SIMULATE_EVERYTHING,
	SIMULATE_UNIFORM, /* --policy uniform, the default */
	SIMULATE_GUIDED, /* --policy guided */
	/* the rest is no real code: each location that can race is as likely */
	SIMULATE_IDEAL,
	SIMULATE_SHARED, /* of those whose bytes two threads touch */
	SIMULATE_ORACLE, /* of those that race and have not been found */
	SIMULATE_POLICIES
};

/* What can be left out, to see what it is worth: a bit of a mask each. */
enum simulate_rule {
	SIMULATE_CLOCKS, /* what runs, by clocks of CPU time (profile.h) */
	SIMULATE_STACKS, /* by return addresses on stacks (stacks.h) */
	SIMULATE_ENTRIES, /* by breakpoints on entries of functions */
	SIMULATE_CALLEES, /* of these, called functions first */
	SIMULATE_NEWS, /* arming all of a function that is found to run */
	SIMULATE_ONCE, /* arming all that has not run, of a small program */
	SIMULATE_PROBES, /* hits to learn from before each stall (guided) */
	SIMULATE_LONG, /* long stalls of what is seldom reached */
	SIMULATE_LENGTHS, /* a location's length by what its stalls came to */
	SIMULATE_STRETCH, /* longer stalls where hits are few */
	SIMULATE_PRIVATE, /* fewer draws of what touches private memory */
	SIMULATE_MISSED, /* soon again what was hit and had no stall */
	SIMULATE_REPEATS, /* what had a sample more often, where hits are few */
	SIMULATE_ROTATION, /* a full pool makes room */
	SIMULATE_GIVE_BACK, /* a full queue goes back in part */
	SIMULATE_RULES
};

enum {
	/* times and numbers of stalls at which it is looked at what was found */
	SIMULATE_TIMES = 7,
	SIMULATE_STALLS = 6,
	/* of the times: 1, 10 and 60 s */
	SIMULATE_1_S = 2,
	SIMULATE_10_S = 4,
	SIMULATE_60_S = 6,
	SIMULATE_1000 = 4, /* stalls */
};
extern const double simulate_times[SIMULATE_TIMES];
extern const double simulate_stalls[SIMULATE_STALLS];

struct simulate_result {
	/* with a stall; of them, in its own modules, and at likely locations */
	double samples, own, likely;
	double told; /* share of wall time that is said to be lost */
	double true_lost; /* that is */
	double early_told; /* in the first two seconds */
	/* of the locations that can race (program_may_race), by then */
	double covered[SIMULATE_TIMES];
	/* distinct races: by each time, within each number of stalls, in all */
	double raced[SIMULATE_TIMES], raced_stalls[SIMULATE_STALLS], races;
	double first_s; /* of the first race; its end if there was none */
	double found; /* of the functions that run, known to run at the end */
	double hits, passed; /* stops at breakpoints, without a stall */
	double left_armed; /* breakpoints when all was lifted at the end */
};

/* Run it; without: rules that are left out, a bit for each. */
void simulate_without(const struct simulate_plan *plan,
		      enum simulate_policy policy, uint32_t without,
		      uint64_t seed, struct simulate_result *ret);
static inline void simulate(const struct simulate_plan *plan,
			    enum simulate_policy policy, uint64_t seed,
			    struct simulate_result *ret)
{
	simulate_without(plan, policy, 0, seed, ret);
}
/* One of the policies that are no real code. */
void simulate_ideal(const struct simulate_plan *plan,
		    enum simulate_policy policy, uint64_t seed,
		    struct simulate_result *ret);

/* What --effort and --overhead make of it. */
struct effort_plan simulate_effort(const struct simulate_plan *plan);

extern const struct simulate_plan simulate_plans[];
extern const size_t simulate_plan_count;

#endif
