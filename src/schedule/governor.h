/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * How many breakpoints to keep in the text so that a given number of them
 * is hit in a second (DataCollider, section 3.1.2). How often a location is
 * reached is not known beforehand and changes by the phase of the program, so
 * the rate is measured all the time and the pool changed by a factor after it.
 *
 * There are two budgets: hits per second, and the share of wall time that the
 * program may lose. What a sample costs is measured too (schedule/budget.h), and
 * no more hits are wanted than the share pays for. The tracer keeps the share
 * by itself, at every stall; here it is seen to that breakpoints are not
 * spent on stalls that cannot be paid. Where all locations are armed and hits
 * are still few, stalls may be longer. Pure code.
 */
#ifndef SCHEDULE_GOVERNOR_H
#define SCHEDULE_GOVERNOR_H

#include <stdbool.h>
#include <stdint.h>

struct wire_params;

enum {
	GOVERNOR_POOL_START = 128,
	GOVERNOR_POOL_LOW = 16,
	GOVERNOR_POOL_MIN = 1,
	/*
	 * Breakpoints of the pool, of sites armed once beside it, and of
	 * functions' entries. Arming or lifting one is a write of 1.2 us, so that
	 * all of them cost 0.16 s, which is as long as the program should wait
	 * at a detach; and each page of text written to becomes a private copy
	 * (4 KiB), so that they may cost 512 MiB at worst.
	 */
	GOVERNOR_POOL_MAX = 32768,
	GOVERNOR_ONCE_MAX = 65536,
	GOVERNOR_ENTRIES_MAX = 32768,
	GOVERNOR_TEXT_MAX =
		GOVERNOR_POOL_MAX + GOVERNOR_ONCE_MAX + GOVERNOR_ENTRIES_MAX,
};

struct governor_budget {
	uint32_t rate; /* hits per second at most; 0: arm nothing */
	double share; /* of wall time that may be lost; 0: any */
	uint64_t stall_max_ns;
	double stretch_max; /* the largest factor of a stall's length; 1: none */
};

/* The budgets that the parameters are. */
struct governor_budget governor_budget(const struct wire_params *params);

struct governor {
	struct governor_budget budget;
	double wanted; /* hits per second that both budgets allow */
	double cost_ns; /* of a sample */
	double computed; /* share of wall time lost by that, of late */
	double stretch; /* of stalls, where hits are few: 1 to stretch_max */
	uint32_t pool;
	uint64_t since_ns; /* the window being measured began */
	uint64_t since_aimed;
	uint64_t since_hits, since_samples, since_lost_ns, since_lost_cpu_ns;
	double hits_per_s; /* of the last window */
	double step; /* factor of the next change, 1.1 to 4 */
	int direction; /* of the last change: -1, 0, 1 */
};

void governor_init(struct governor *governor,
		   const struct governor_budget *budget, uint64_t now_ns);

/* The state at a tick. */
struct governor_state {
	uint64_t now_ns;
	/*
	 * since the start: hits, without those that need no rate (tracer/govern.c),
	 * samples, and time lost
	 */
	uint64_t hits, samples, lost_ns;
	/*
	 * hits at sites of --at, which are armed beside the pool. The pool is to
	 * bring what these leave of the hits wanted, a fifth at least.
	 */
	uint64_t hits_aimed;
	uint64_t lost_cpu_ns; /* of lost_ns, by what racewatch computed */
	uint32_t rate; /* takes the place of governor_budget.rate; 0: not */
	uint32_t armed; /* breakpoints in the text */
	uint64_t sites; /* that could be armed */
};

/*
 * To be called every 20 to 50 ms. Returns the pool wanted from now on. Far from
 * the rate the pool changes at once, near it only after a window long enough to
 * tell; a band around the rate is left alone. The first changes are by four;
 * each turn-around makes them smaller, each repetition larger again, so that
 * the pool settles instead of being torn down and built up. It does not grow
 * before what was asked for is armed.
 */
uint32_t governor_tick(struct governor *governor,
		       const struct governor_state *state);

/* Begin a new window, as after an exec: the old hits say nothing. */
void governor_restart(struct governor *governor,
		      const struct governor_state *state);

/*
 * Were hits few, of what the rate allows, whatever the reason? Where little may be
 * lost the rate is low, and each hit that it allows is wanted.
 */
bool governor_has_few(const struct governor *governor);

/* Is it the share of time that keeps it from more hits? */
static inline bool governor_spends_all(const struct governor *governor)
{
	return governor->wanted < governor->budget.rate;
}

#endif
