/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * How many breakpoints to keep in the text so that about so many of them are
 * hit in a second (DataCollider, section 3.1.2). How often a location is
 * reached is not known beforehand and changes by the phase of the program, so
 * the rate is measured all the time and the pool changed by a factor after it.
 * Pure code.
 */
#ifndef DETECT_GOVERNOR_H
#define DETECT_GOVERNOR_H

#include <stdint.h>

enum {
	GOVERNOR_POOL_START = 128,
	GOVERNOR_POOL_MIN = 1,
	/*
	 * Arming or lifting one breakpoint is a write of 1.2 us, so that many
	 * cost 0.16 s, which is as long as the program should wait at a
	 * detach; and each page of text written to becomes a private copy
	 * (4 KiB), so that they may cost 512 MiB at worst.
	 */
	GOVERNOR_POOL_MAX = 131072,
};

struct governor {
	uint32_t rate; /* hits per second asked for; 0: arm nothing */
	uint32_t pool;
	uint64_t since_ns; /* the window being measured began */
	uint64_t since_hits;
	double hits_per_s; /* of the last window */
	double step; /* factor of the next change, 1.1 to 4 */
	int direction; /* of the last change: -1, 0, 1 */
};

void governor_init(struct governor *governor, uint32_t rate, uint64_t now_ns);

/* What is so at the time of a tick. */
struct governor_state {
	uint64_t now_ns;
	uint64_t hits; /* since the start */
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
void governor_restart(struct governor *governor, uint64_t now_ns,
		      uint64_t hits);

#endif
