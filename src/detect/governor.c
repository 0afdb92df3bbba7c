/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The pool's size; see governor.h.
 */
#include "detect/governor.h"

#include <stdbool.h>

#include "base/clock.h"
#include "target/guardtable.h"

_Static_assert((int)GOVERNOR_POOL_MAX <= (int)GUARDTABLE_ENTRIES,
	       "a pool that is not guarded is not armed");

/*
 * So many hits expected, or seen, tell a factor of four from an accident; so
 * many a quarter more or less (Poisson: 2.5 standard deviations). A window is
 * never longer than a second.
 */
static const double GOVERNOR_FEW = 20;
static const double GOVERNOR_MANY = 100;
static const double GOVERNOR_STEP_MIN = 1.1;
static const double GOVERNOR_STEP_MAX = 4;

void governor_init(struct governor *governor, uint32_t rate, uint64_t now_ns)
{
	*governor = (struct governor){
		.rate = rate,
		.pool = rate > 0 ? GOVERNOR_POOL_START : 0,
		.since_ns = now_ns,
		.step = GOVERNOR_STEP_MAX,
	};
}

void governor_restart(struct governor *governor, uint64_t now_ns, uint64_t hits)
{
	governor->since_ns = now_ns;
	governor->since_hits = hits;
}

/* Which way the pool should go: -1, 0 or 1; *ret_known: can it be told yet? */
static int governor_direction(const struct governor *governor, double seconds,
			      double hits, bool *ret_known)
{
	double expected = governor->rate * seconds;

	*ret_known = true;
	if (hits >= GOVERNOR_FEW && hits > 4 * expected)
		return -1;
	if (expected >= GOVERNOR_FEW && hits < expected / 4)
		return 1;
	if (expected < GOVERNOR_MANY && hits < GOVERNOR_MANY && seconds < 1)
		*ret_known = false;
	else if (hits > 1.25 * expected)
		return -1;
	else if (hits < 0.75 * expected)
		return 1;
	return 0;
}

static void governor_settle(struct governor *governor, int direction)
{
	if (direction == governor->direction)
		governor->step += (governor->step - 1) / 2;
	else if (governor->direction != 0)
		governor->step -= (governor->step - 1) / 2;
	if (governor->step > GOVERNOR_STEP_MAX)
		governor->step = GOVERNOR_STEP_MAX;
	if (governor->step < GOVERNOR_STEP_MIN)
		governor->step = GOVERNOR_STEP_MIN;
	governor->direction = direction;
}

static void governor_change(struct governor *governor, int direction,
			    uint64_t sites)
{
	uint64_t limit = sites < GOVERNOR_POOL_MAX ? sites : GOVERNOR_POOL_MAX;
	double pool = governor->pool;

	governor_settle(governor, direction);
	pool = direction > 0 ? pool * governor->step + 1
			     : pool / governor->step;
	if (direction > 0 && pool > (double)limit)
		pool = governor->pool > limit ? governor->pool : (double)limit;
	if (pool < GOVERNOR_POOL_MIN)
		pool = GOVERNOR_POOL_MIN;
	governor->pool = (uint32_t)pool;
}

uint32_t governor_tick(struct governor *governor,
		       const struct governor_state *state)
{
	double seconds = (double)(state->now_ns - governor->since_ns) /
			 (double)CLOCK_NS_PER_S;
	double hits = (double)(state->hits - governor->since_hits);
	int direction;
	bool known;

	if (governor->rate == 0 || seconds <= 0)
		return governor->pool;
	direction = governor_direction(governor, seconds, hits, &known);
	if (!known)
		return governor->pool;
	if (direction < 0 ||
	    (direction > 0 &&
	     state->armed >= governor->pool - governor->pool / 4))
		governor_change(governor, direction, state->sites);
	governor->hits_per_s = hits / seconds;
	governor_restart(governor, state->now_ns, state->hits);
	return governor->pool;
}
