/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The pool of one-shot breakpoints (DataCollider 3.1.1): filled up from the
 * queue of sites that the front end drew, kept at a size, never filled while
 * a stall runs (breakpoints that the other threads meet would keep them from
 * racing). A token bucket keeps stalls at the rate asked for.
 *
 * Locations that have fired before are likely to fire at once. If all of them
 * were armed together, the hottest would take every stall and the others be
 * met, and spent, during it. So only a few of those are armed at a time, in
 * the order drawn, which keeps the sampling uniform over locations; one that
 * has not fired within a moment is not hot, and gives its place to the next.
 *
 * Where the text is not to be written (execpoint.h), there are so few places
 * that most samples would be of locations that nobody ever reaches. There,
 * sites that were hit are kept: every other one armed is one of them, in turn,
 * until it is not reached in its time.
 */
#ifndef TARGET_POOL_H
#define TARGET_POOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "wire/message.h"

struct engine;

/* Sites of any program, in the order drawn. */
struct pool_ring {
	struct wire_site *sites;
	size_t head, count, capacity;
};

/* A place for a location that has fired before. */
struct pool_hot {
	uint64_t address; /* 0: the place is free */
	uint32_t program;
	uint64_t until_ns;
};

/* No more than there are debug registers to watch with. */
enum { POOL_HOT_MAX = 4 };

struct pool {
	struct wire_params params;
	struct pool_ring fresh, fired;
	struct pool_hot hot[POOL_HOT_MAX];
	bool again; /* text untouched: the last one armed was of `fired` */
	uint64_t retry_ns; /* something must be known first: not before then */
	double tokens;
	uint64_t tokens_ns; /* when they were last reckoned */
	double arms; /* fresh locations that may be armed now */
};

void pool_deinit(struct pool *pool);

/* New parameters; a smaller pool lifts at once. */
void pool_set_params(struct engine *engine, const struct wire_params *params);

/* Queue sites; those that do not fit are returned as lifted. */
void pool_queue(struct engine *engine, const struct wire_site *sites,
		size_t count);

/* Arm from the queue as far as size, tokens and stalls allow. */
void pool_refill(struct engine *engine, uint64_t now);

/* A breakpoint of the pool was hit: its place is free, its site returned. */
void pool_fired(struct engine *engine, const struct wire_site *site);

/* Sites waiting to be armed. */
static inline size_t pool_queued(const struct pool *pool)
{
	return pool->fresh.count + pool->fired.count;
}

/*
 * Arm the queued site with this id although a stall runs: the second half of
 * a pair, whose first half is stalled now. Nothing if it is not queued.
 */
void pool_arm_pair(struct engine *engine, uint64_t id);

/* Drop the queue. */
void pool_clear(struct pool *pool);

/* When pool_refill() may have more to do; UINT64_MAX: not by time alone. */
uint64_t pool_next_ns(const struct engine *engine);

/* Is a stall affordable now? Takes a token if so. */
bool pool_take_token(struct pool *pool, uint64_t now);

/* Drop from the queue, and lift, everything in that range of the program. */
void pool_forget(struct engine *engine, const struct wire_range *range);

/* Lift every breakpoint of every watched process. */
void pool_lift_all(struct engine *engine);

#endif
