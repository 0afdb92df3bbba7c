/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A simulated program under a virtual clock, watched by the product's own
 * scheduling: pool, budget, stalls and breakpoints of src/target, sampler,
 * governor and learning of src/detect. What these ask of the kernel, of ELF
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

#include "base/rng.h"
#include "base/vec.h"
#include "cmd/effort.h"

struct simulate_plan {
	const char *name;
	double seconds;
	uint32_t processes, threads; /* threads of each process */
	/* locations of the program and of libraries, and those that run */
	uint32_t own, own_run, others, others_run;
	double executions; /* of each thread in a second, of all locations */
	double slope; /* the n-th hottest location runs 1/n^slope as often */
	double busy; /* share of the time that a thread runs */
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
	/* each location of the text is as likely, whether it runs or not */
	SIMULATE_EVERYTHING,
	SIMULATE_UNIFORM, /* --policy uniform, the default */
	SIMULATE_GUIDED, /* --policy guided */
	/* each location that can race is as likely: no real code */
	SIMULATE_IDEAL,
	SIMULATE_ORACLE, /* the same of those that race */
};

enum { SIMULATE_MARKS = 3 };

struct simulate_result {
	/* with a stall; of them, in its own modules, and at likely locations */
	double samples, own, likely;
	double told; /* share of wall time that is said to be lost */
	double true_lost; /* that is */
	double early_told; /* in the first two seconds */
	/* of the locations that can race (program_may_race), by 1, 10, 60 s */
	double covered[SIMULATE_MARKS];
	double races,
		races_1000; /* distinct: in all, in the first 1000 stalls */
	double first_s; /* of the first race; its end if there was none */
	double hits, passed; /* stops at breakpoints, without a stall */
};

struct simulate_site {
	double rate; /* of each thread, per second; 0: it never runs */
	uint32_t variable; /* its number plus one; 0: what no other has */
	uint32_t partner; /* the other location that touches it */
	uint8_t phase; /* 0: any */
	bool own, writes, sampled;
};

struct simulate_variable {
	uint32_t instances;
	bool locked, raced;
};

/* What runs, without anybody who watches. */
struct program {
	const struct simulate_plan *plan;
	struct rng rng;
	struct simulate_site *sites;
	size_t count, may_race;
	struct simulate_variable *variables;
	double *sums; /* of rates, up to each location */
	uint32_t phase; /* now, from 1; 0: there are none */
};

enum {
	PROGRAM_FUNCTION = 10, /* locations of a function */
	PROGRAM_SLOT = 16, /* bytes of each */
};

void program_init(struct program *program, const struct simulate_plan *plan,
		  uint64_t seed);
void program_deinit(struct program *program);
/* A number in [0, 1), and a time with that mean rate per second, in ns. */
double program_random(struct program *program);
double program_wait(struct program *program, double rate);
/* Executions of the location by one thread in a second, now. */
double program_rate(const struct program *program, size_t site);
/*
 * Does it run, and may another thread have the bytes that it touches? Processes of
 * one thread each share variables only, which racewatch sees at each hit.
 */
bool program_may_race(const struct program *program, size_t site);
/* Of a location that another thread could meet while one is held there. */
double program_meets(const struct program *program, size_t site,
		     uint32_t others);
/* A location that runs now, as likely as it runs often. */
size_t program_draw(struct program *program);

/* A stall was taken at the location; two threads met there. */
struct score {
	struct program *program;
	struct simulate_result result;
	uint64_t stalls, own, likely;
	size_t seen;
	int mark;
};
void score_time(struct score *score, double s);
void score_stall(struct score *score, size_t site, bool likely);
void score_race(struct score *score, size_t site, double s);
void score_end(struct score *score);

/* Run it. */
void simulate(const struct simulate_plan *plan, enum simulate_policy policy,
	      uint64_t seed, struct simulate_result *ret);
void simulate_ideal(const struct simulate_plan *plan, bool oracle,
		    uint64_t seed, struct simulate_result *ret);

/* What --effort and --overhead make of it. */
struct effort_plan simulate_effort(const struct simulate_plan *plan);

extern const struct simulate_plan simulate_plans[];
extern const size_t simulate_plan_count;

#endif
