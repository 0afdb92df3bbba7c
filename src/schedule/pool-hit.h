/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What a hit does to the pool, from the breakpoint's end to that of its stall;
 * see pool.h.
 */
#ifndef SCHEDULE_POOL_HIT_H
#define SCHEDULE_POOL_HIT_H

#include <stdbool.h>
#include <stdint.h>

#include "wire/message.h"

struct pool;

/*
 * A breakpoint of the pool was hit: its place is free. recent: its program is
 * beginning.
 */
void pool_fired(struct pool *pool, const struct wire_site *site, bool recent,
		uint64_t now);

/* What came of a hit. */
enum pool_hit {
	POOL_HIT_DONE, /* nothing is left to do */
	POOL_HIT_MISSED, /* others can reach the bytes, and no stall was to be had */
	/* the same, since the thread rests, and the pool waits for that */
	POOL_HIT_RESTED,
};

/*
 * The site was hit and is kept, as long as there is room, to be armed again.
 * False: it is not.
 */
bool pool_keep(struct pool *pool, const struct wire_site *site);

/* The hit of one armed once is of no use: arm it again. False: often enough. */
bool pool_rearm_passed(struct pool *pool, const struct wire_site *site,
		       uint64_t now);

/*
 * The stall of one armed once was short, as its program is young: arm it again,
 * for a longer one.
 */
void pool_rearm_stalled(struct pool *pool, const struct wire_site *site,
			uint64_t now);

/*
 * A hit was of no use, since nobody else could run, or else it might have been:
 * as long as that is so, less and less is armed. A program whose last thread is
 * at work, or one that takes turns, would do little but stop.
 */
void pool_found_alone(struct pool *pool, bool alone, uint64_t now);

/*
 * There was no stall for the hit of a site of the pool, as its thread rests until
 * then. True: that is soon, and the pool waits for it: nothing is armed before
 * but what goes before the pool.
 */
bool pool_waits_for(struct pool *pool, const struct wire_site *site,
		    uint64_t until_ns, uint64_t now);

/* No other process had the bytes of a hit: a stop, and nothing else to say. */
void pool_found_private(struct pool *pool, uint64_t now);

/* What a stall may take before it is there. */
enum pool_loan {
	POOL_LENDS_TOKEN = 1, /* of the rate */
	POOL_LENDS_TIME = 2, /* of the budget */
};

/*
 * Is a stall affordable now, by rate and by budget? Takes a token if so. The
 * rate is not for sites that are armed once. A site of --at may take what both
 * bring later; the others as the loans say, and no time where there is --at.
 * Nothing is armed until that is paid back.
 */
bool pool_take_token(struct pool *pool, const struct wire_site *site,
		     unsigned int loans, uint64_t now);

/* Was it armed for long before it was hit? */
bool pool_is_seldom(uint64_t armed_ns, uint64_t now);

/*
 * Is this hit one to learn from only, or its stall one for a likely site, which
 * waits? Counts it if so. Never one of a location that is seldom reached.
 */
bool pool_passes(struct pool *pool, const struct wire_site *site,
		 uint64_t armed_ns, uint64_t now);
/* A stall begins at the site. */
void pool_stalled(struct pool *pool, const struct wire_site *site,
		  uint64_t now);

#endif
