/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * How much the tracer may do, which it has from its start, and of how many
 * sites: WIRE_SUPPLY (wire/message.h).
 */
#ifndef WIRE_PARAMS_H
#define WIRE_PARAMS_H

#include <stdint.h>

struct wire_params {
	uint32_t rate; /* stalls a second at most; 0: arm nothing */
	/*
	 * the same of a program that uses a processor all the time, and of others
	 * in proportion; 0: rate
	 */
	uint32_t busy_rate;
	/* fresh locations to arm in a second at most; 0: as fast as may be */
	uint32_t arm_rate;
	uint64_t stall_max_ns;
	/* the largest factor of a stall's length where hits are few; 1: none */
	double stretch_max;
	/*
	 * and where a location was waited for, an eighth of that time, at most
	 * so long; 0: no longer than elsewhere
	 */
	uint64_t stall_long_ns;
	/*
	 * so long the first threads of a program wait at most until what has
	 * not run yet is armed; see startup.h
	 */
	uint64_t startup_ns;
	/* of wall time that the program may lose; 0: any; see budget.h */
	double share;
	/*
	 * a thread that was stalled is left alone for this number of sixteenths of
	 * that time
	 */
	uint32_t rest;
	/* hits without a stall for each with one, to learn from; see pool.h */
	uint32_t probes;
	uint32_t learns; /* are hits without a stall to be told? */
	uint32_t replays; /* are instances of races to be captured? */
};

/* Sites of all programs that could be armed, as far as is known. */
struct wire_supply {
	uint64_t sites;
};

#endif
