/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The pool of one-shot breakpoints (DataCollider 3.1.1): the sites that wait to
 * be armed, what their hits came to, and how many stalls a second there may be.
 * Pure code; fill.h says what is armed of it, and pool-hit.h what a hit does to
 * it. A token bucket keeps stalls at the rate asked for.
 *
 * Locations that have fired before are likely to fire at once. If all were armed
 * together, the hottest would take every stall and the others be spent during
 * it. So only a few are armed at a time, in the order drawn, which keeps the
 * sampling uniform over locations; one that has not fired within a moment is not
 * hot, and gives its place to the next.
 *
 * Where the pool is full of breakpoints that nobody reaches, some are lifted now
 * and then for those that wait: any location is armed in the end. Where nothing
 * but such ones is queued, half of them go back, and others are drawn.
 *
 * Sites where a race is likely (WIRE_GUIDED) take those places by turns with
 * the ones drawn uniformly: half of the stalls each, as long as any are sent.
 *
 * Sites that the user asked for (WIRE_AIMED, --at) come before all of these.
 * One that has not been hit yet is armed at once, beside the pool. One that has
 * been hit gets POOL_AIMED of POOL_AIMED + 1 turns at the places, and of the
 * stalls as many, as long as it is reached often, even if both budgets are
 * spent: the others then wait until that is paid back. Nor do fresh sites take
 * more than half: while a likely site waits, the hit of one too many is only told.
 *
 * A stall takes ten times as long as a hit, and what is learned of the memory
 * that a location touches is learned from either. So before each stall a few
 * locations are armed of which the hits are told and not stalled (probes), and
 * the stall waits for them: breakpoints met during it would hinder the others.
 * Together they may cost a quarter of what stalls cost.
 *
 * Where the text is not to be written (tracee/execpoint.h), there are so few places
 * that most samples would be of locations that nobody ever reaches. There,
 * sites that were hit are kept: every other one armed is one of them, in turn,
 * until it is not reached in its time.
 */
#ifndef SCHEDULE_POOL_H
#define SCHEDULE_POOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "schedule/queue.h"
#include "wire/message.h"
#include "wire/params.h"
#include "wire/site.h"

struct budget;
struct governor;

/* A place for a location that has fired before. */
struct pool_hot {
	uint64_t address; /* 0: the place is free */
	uint32_t program;
	uint64_t until_ns;
};

enum {
	/* no more than there are debug registers to watch with */
	POOL_HOT_MAX = 4,
	/* breakpoints set in one go, so that events are not kept waiting */
	POOL_BATCH = 64,
	/* turns of those of --at for each of the others: 80 % of the stalls */
	POOL_AIMED = 4,
};

struct pool {
	struct wire_params params;
	struct budget *budget; /* borrowed, as the next */
	const struct governor *governor; /* it says how many are armed */
	struct queue fresh, fired, guided;
	struct queue aimed; /* --at, those that were hit before */
	/* all are armed: those of --at, and sites that have not run yet */
	struct queue once;
	struct queue spent; /* of these, hit while the program begins */
	struct pool_hot hot[POOL_HOT_MAX];
	bool large; /* entries of functions are armed: too many sites for all */
	bool aims_once; /* some of --at are in `once` */
	uint64_t once_due_ns; /* when more of `once` may be armed */
	uint64_t once_ns; /* when a site of `once` was hit last; 0: never */
	bool again; /* text untouched: the last one armed was of `fired` */
	bool probed; /* since the last stall */
	uint32_t probes_out; /* armed for a probe, and not hit */
	uint32_t probes_due; /* hits of whatever kind that are not stalled */
	uint64_t probe_until_ns; /* they are waited for */
	double probes_ns; /* what they may still cost */
	bool last_guided; /* the last one in a hot place was of `guided` */
	int aims; /* turns in a row at the places that `aimed` has had */
	int deficit; /* stalls that likely ones have had too few of */
	int deficit_aimed; /* the same of those of --at */
	uint64_t aimed_ns; /* when one of these was hit last; 0: never */
	uint64_t deficit_until_ns; /* the others wait for them no longer */
	uint64_t retry_ns; /* something must be known first: not before then */
	uint64_t rest_until_ns; /* pool_waits_for() */
	uint64_t alone_ns; /* the last pause while nobody else ran; 0: none */
	double tokens;
	uint64_t tokens_ns; /* when they were last computed */
	double arms; /* fresh locations that may be armed now */
	/* when they may again, where little may be lost */
	uint64_t fresh_due_ns;
	/* a full pool makes no room before then; 0: it was never full */
	uint64_t rotate_ns;
	uint64_t give_ns; /* nor are those that wait for it given back */
	/*
	 * Looks at whether to arm what is queued, and those of them at which a
	 * budget allowed nothing: that of time, or the rate.
	 */
	uint64_t refills, unpaid, over_rate;
};

/* Nothing is queued. The budget and the governor must outlive the pool. */
void pool_init(struct pool *pool, struct budget *budget,
	       const struct governor *governor);
void pool_deinit(struct pool *pool);

/* Stalls a second that are allowed now; see wire_params.busy_rate. */
double pool_rate(const struct pool *pool);

/* Bring tokens and arms up to date. */
void pool_earn(struct pool *pool, uint64_t now);

/*
 * Queue a site. fired: it was hit before; few_places: breakpoints are not in the
 * text. False: there is no room for it.
 */
bool pool_queue(struct pool *pool, const struct wire_site *site, bool fired,
		bool few_places);

/* What ran while its program began is queued again: a thread was born. */
void pool_rearm_spent(struct pool *pool, uint32_t program);
/* What is kept for that, of the program, is forgotten. */
void pool_forget_spent(struct pool *pool, uint32_t program);

/* Is a site of the program that is to be armed once still queued? */
bool pool_waits_once(const struct pool *pool, uint32_t program);

/* Sites waiting to be armed; is any among them that is not armed once? */
size_t pool_queued(const struct pool *pool);
bool pool_has_sites(const struct pool *pool);

/* Take the queued site with that id out. False: there is none. */
bool pool_take(struct pool *pool, uint64_t id, struct wire_site *ret);

/*
 * How many sites, beside those armed, are to be with the tracer for the pool. Those
 * that wait there were drawn by what was known when they were sent, and what is
 * found to run meanwhile waits behind them: where breakpoints are set slowly, no
 * more than are set in a part of a second.
 */
uint32_t pool_lacks(const struct wire_params *params, uint32_t pool,
		    uint32_t armed);

/* Drop what is queued: all of it, or what is in that range. */
void pool_clear(struct pool *pool);
void pool_forget(struct pool *pool, const struct wire_range *range);

#endif
