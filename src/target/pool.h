/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The pool of one-shot breakpoints (DataCollider 3.1.1): filled up from the
 * queue of sites that the front end drew, kept at a size, never filled while
 * a stall runs (breakpoints that the other threads meet would keep them from
 * racing). A token bucket keeps stalls at the rate asked for.
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
 * locations are armed of which the hits are told and not stalled (peeks), and
 * the stall waits for them: breakpoints met during it would hinder the others.
 * Together they may cost a quarter of what stalls cost.
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
struct process;

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
	struct pool_ring fresh, fired, guided;
	struct pool_ring aimed; /* --at, those that were hit before */
	/* all are armed: those of --at, and sites that have not run yet */
	struct pool_ring once;
	struct pool_ring spent; /* of these, hit while the program begins */
	struct pool_hot hot[POOL_HOT_MAX];
	bool large; /* entries of functions are armed: too many sites for all */
	bool aims_once; /* some of --at are in `once` */
	uint64_t once_due_ns; /* when more of `once` may be armed */
	uint64_t once_ns; /* when a site of `once` was hit last; 0: never */
	bool again; /* text untouched: the last one armed was of `fired` */
	bool peeked; /* since the last stall */
	uint32_t peeks_out; /* armed for a peek, and not hit */
	uint32_t peeks_due; /* hits of whatever kind that are not stalled */
	uint64_t peek_until_ns; /* they are waited for */
	double peeks_ns; /* what they may still cost */
	bool led; /* the last one in a hot place was of `guided` */
	int aims; /* turns in a row at the places that `aimed` has had */
	int owed; /* stalls that likely ones have had too few of */
	int owed_aimed; /* the same of those of --at */
	uint64_t aimed_ns; /* when one of these was hit last; 0: never */
	uint64_t owed_until_ns; /* the others wait for them no longer */
	uint64_t retry_ns; /* something must be known first: not before then */
	uint64_t rest_until_ns; /* pool_waits_for() */
	uint64_t alone_ns; /* the last pause while nobody else ran; 0: none */
	double tokens;
	uint64_t tokens_ns; /* when they were last reckoned */
	double arms; /* fresh locations that may be armed now */
	/* a full pool makes no room before then; 0: it was never full */
	uint64_t rotate_ns;
	uint64_t give_ns; /* nor are those that wait for it given back */
};

void pool_deinit(struct pool *pool);

/* New parameters. What is armed beyond twice the pool is lifted at once. */
void pool_set_params(struct engine *engine, const struct wire_params *params);

/* Stalls a second that are allowed now; see wire_params.busy_rate. */
double pool_rate(const struct engine *engine);

/* Queue sites; those that do not fit are returned as lifted. */
void pool_queue(struct engine *engine, const struct wire_site *sites,
		size_t count);

/* Arm from the queue as far as size, tokens and stalls allow. */
void pool_refill(struct engine *engine, uint64_t now);

/* A thread was born while its program begins: what ran before is armed again. */
void pool_rearm_spent(struct engine *engine, uint32_t program);
/* What is kept for that, of the program. */
void pool_forget_spent(struct engine *engine, uint32_t program);

/* Is a site of the program that is to be armed once not yet in the text? */
bool pool_waits_once(const struct pool *pool, uint32_t program);

/* Sites waiting to be armed; is any among them that is not armed once? */
size_t pool_queued(const struct pool *pool);
bool pool_has_sites(const struct pool *pool);

/*
 * Arm the queued site with this id, if there is one, although a stall runs: the
 * second half of a pair, whose first half is stalled now.
 */
void pool_arm_pair(struct engine *engine, uint64_t id);

/* Can any other thread reach what the process's threads access? */
bool pool_may_race(const struct engine *engine, const struct process *process);

/* Drop the queue. */
void pool_clear(struct pool *pool);

/* When pool_refill() may have more to do; UINT64_MAX: not by time alone. */
uint64_t pool_next_ns(const struct engine *engine);

/* Drop from the queue, and lift, what is in that range of the program. */
void pool_forget(struct engine *engine, const struct wire_range *range);

/* Lift every breakpoint of every watched process. */
void pool_lift_all(struct engine *engine);

#endif
