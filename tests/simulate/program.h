/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The simulated program, and the score of who watches it. Only for
 * tests/simulate; see simulate.h.
 */
#ifndef PROGRAM_H
#define PROGRAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/rng.h"
#include "base/vec.h"
#include "simulate.h"

struct simulate_site {
	double rate; /* of each thread, per second; 0: it never runs */
	uint32_t variable; /* its number plus one; 0: what no other has */
	uint32_t partner; /* the other location that touches it */
	uint8_t phase; /* 0: any */
	bool writes, sampled;
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
	/* of uint32_t: locations that run, and their functions, each once */
	struct vec running, functions;
	double *sums; /* of rates, up to each that runs */
	/*
	 * of each function that runs, plus one: who calls it, which it calls
	 * first, and which its caller calls next; 0: none
	 */
	uint32_t *callers, *callees, *nexts;
	struct simulate_variable *variables;
	uint32_t phase; /* now, from 1; 0: there are none */
};

enum {
	PROGRAM_FUNCTION = 10, /* locations of a function */
	PROGRAM_SLOT = 16, /* bytes of each */
};

void program_init(struct program *program, const struct simulate_plan *plan,
		  uint64_t seed);
void program_deinit(struct program *program);
/* Is the location in one of the program's own modules? */
static inline bool program_is_own(const struct program *program, size_t site)
{
	return site < program->plan->own;
}

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
	int time, stall; /* the next of simulate_times, of simulate_stalls */
};
void score_time(struct score *score, double s);
void score_stall(struct score *score, size_t site, bool likely);
void score_race(struct score *score, size_t site, double s);
void score_end(struct score *score);

#endif
