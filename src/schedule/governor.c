/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The pool's size; see governor.h.
 */
#include "schedule/governor.h"

#include <stdbool.h>

#include "base/clock.h"
#include "schedule/budget.h"
#include "wire/params.h"

/*
 * So many hits expected, or seen, tell a factor of four from an accident; so
 * many a quarter more or less (Poisson: 2.5 standard deviations). A window is
 * never longer than a second.
 */
static const double GOVERNOR_FEW = 20;
static const double GOVERNOR_MANY = 100;
static const double GOVERNOR_STEP_MIN = 1.1;
static const double GOVERNOR_STEP_MAX = 4;

/* What a stop costs, before anything is known. */
static const double GOVERNOR_STOP_NS = 50000;
/* So many samples weigh as much as what was thought before. */
static const double GOVERNOR_TRUST = 20;
/* of the hits wanted, beside those of --at */
static const double GOVERNOR_EXPLORES = 0.2;
static const double GOVERNOR_STRETCH = 1.5;
/* fewer hits than this part of the rate are few; where the budget is small */
static const double GOVERNOR_FEW_PART = 0.5;
static const double GOVERNOR_FEW_SMALL = 0.9;
static const double GOVERNOR_SHARE_MIN = 0.25;
/*
 * A share is spent if so much of it is; else what a sample costs is taken to be
 * less, but no less than this part in one window.
 */
static const double GOVERNOR_SPENT = 0.9;
static const double GOVERNOR_DOUBT = 2 / 3.0;
static const double GOVERNOR_COST_MIN_NS = 10000;
/* how much the last window counts */
static const double GOVERNOR_LATELY = 0.5;

struct governor_budget governor_budget(const struct wire_params *params)
{
	return (struct governor_budget){
		.rate = params->rate,
		.share = params->share,
		.stall_max_ns = params->stall_max_ns,
		.stretch_max = params->stretch_max,
	};
}

static void governor_want(struct governor *governor)
{
	const struct governor_budget *budget = &governor->budget;
	double share = budget->share - governor->computed, paid;

	/* what is computed must not keep it from sampling for good */
	if (share < budget->share * GOVERNOR_SHARE_MIN)
		share = budget->share * GOVERNOR_SHARE_MIN;
	paid = share * (double)CLOCK_NS_PER_S / governor->cost_ns;

	governor->wanted = budget->rate;
	if (budget->share > 0 && paid < governor->wanted)
		governor->wanted = paid;
}

/* Low where there is little to spend: what grows soon cannot be taken back. */
static uint32_t governor_begin(const struct governor *governor)
{
	double pool = governor->wanted;

	if (governor->budget.rate == 0)
		return 0;
	if (pool > GOVERNOR_POOL_START || governor->budget.share <= 0)
		return GOVERNOR_POOL_START;
	return pool < GOVERNOR_POOL_LOW ? GOVERNOR_POOL_LOW : (uint32_t)pool;
}

void governor_init(struct governor *governor,
		   const struct governor_budget *budget, uint64_t now_ns)
{
	*governor = (struct governor){
		.budget = *budget,
		.cost_ns = (double)budget->stall_max_ns / 2 + GOVERNOR_STOP_NS,
		.stretch = 1,
		.since_ns = now_ns,
		.step = GOVERNOR_STEP_MAX,
	};
	governor_want(governor);
	governor->pool = governor_begin(governor);
}

void governor_restart(struct governor *governor,
		      const struct governor_state *state)
{
	governor->since_ns = state->now_ns;
	governor->since_hits = state->hits;
	governor->since_aimed = state->hits_aimed;
	governor->since_samples = state->samples;
	governor->since_lost_ns = state->lost_ns;
	governor->since_lost_cpu_ns = state->lost_cpu_ns;
}

/*
 * What a sample cost, with all that was spent on hits without a sample. Where
 * not all of the share is spent, a sample costs less than was thought: few
 * samples would take long to show that.
 */
static void governor_learn_cost(struct governor *governor,
				const struct governor_state *state)
{
	const struct governor_budget *budget = &governor->budget;
	double wall = (double)(state->now_ns - governor->since_ns);
	double samples = (double)(state->samples - governor->since_samples);
	double lost = (double)(state->lost_ns - governor->since_lost_ns);
	double computed =
		(double)(state->lost_cpu_ns - governor->since_lost_cpu_ns);
	double weight = samples / (samples + GOVERNOR_TRUST);
	double allowed = wall * budget->share;

	if (samples > 0 && lost > computed)
		governor->cost_ns += weight * ((lost - computed) / samples -
					       governor->cost_ns);
	if (lost < allowed * GOVERNOR_SPENT)
		governor->cost_ns *= lost > allowed * GOVERNOR_DOUBT
					     ? lost / allowed
					     : GOVERNOR_DOUBT;
	if (governor->cost_ns < GOVERNOR_COST_MIN_NS)
		governor->cost_ns = GOVERNOR_COST_MIN_NS;
	governor->computed +=
		GOVERNOR_LATELY * (computed / wall - governor->computed);
	governor_want(governor);
}

bool governor_has_few(const struct governor *governor)
{
	double part = budget_share_is_small(governor->budget.share)
			      ? GOVERNOR_FEW_SMALL
			      : GOVERNOR_FEW_PART;

	return governor->hits_per_s > 0 &&
	       governor->hits_per_s < governor->budget.rate * part;
}

/* Which way the pool should go: -1, 0 or 1; *ret_known: can it be told yet? */
static int governor_direction(const struct governor *governor, double seconds,
			      const struct governor_state *state,
			      bool *ret_known)
{
	double hits = (double)(state->hits - governor->since_hits);
	double expected = governor->wanted * seconds;
	double aimed = (double)(state->hits_aimed - governor->since_aimed);

	expected -= aimed < expected * (1 - GOVERNOR_EXPLORES)
			    ? aimed
			    : expected * (1 - GOVERNOR_EXPLORES);

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

/*
 * What is not spent for lack of hits goes into longer stalls, which find more
 * where threads meet rarely (bench/stall).
 */
static void governor_stretch(struct governor *governor,
			     const struct governor_state *state, int direction)
{
	const struct governor_budget *budget = &governor->budget;
	double wall = (double)(state->now_ns - governor->since_ns);
	double lost = (double)(state->lost_ns - governor->since_lost_ns);
	bool all = governor->pool >= state->sites ||
		   governor->pool >= GOVERNOR_POOL_MAX;

	if (budget->share <= 0)
		return;
	if (direction > 0 && all && lost < wall * budget->share / 2)
		governor->stretch *= GOVERNOR_STRETCH;
	else if (direction < 0 || lost > wall * budget->share)
		governor->stretch /= GOVERNOR_STRETCH;
	if (governor->stretch > budget->stretch_max)
		governor->stretch = budget->stretch_max;
	if (governor->stretch < 1)
		governor->stretch = 1;
}

uint32_t governor_tick(struct governor *governor,
		       const struct governor_state *state)
{
	double seconds = (double)(state->now_ns - governor->since_ns) /
			 (double)CLOCK_NS_PER_S;
	double hits = (double)(state->hits - governor->since_hits);
	int direction;
	bool known;

	if (state->rate != 0 && governor->budget.rate != 0 &&
	    state->rate != governor->budget.rate) {
		governor->budget.rate = state->rate;
		governor_want(governor);
	}
	if (governor->budget.rate == 0 || seconds <= 0)
		return governor->pool;
	direction = governor_direction(governor, seconds, state, &known);
	if (!known)
		return governor->pool;
	if (direction < 0 ||
	    (direction > 0 &&
	     state->armed >= governor->pool - governor->pool / 4))
		governor_change(governor, direction, state->sites);
	governor->hits_per_s = hits / seconds;
	governor_stretch(governor, state, direction);
	governor_learn_cost(governor, state);
	governor_restart(governor, state);
	return governor->pool;
}
