/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The pool of breakpoints: its queues, its rate, and its hits; see pool.h.
 */
#include "schedule/pool.h"

#include <string.h>

#include "base/clock.h"
#include "schedule/budget.h"
#include "schedule/pool-hit.h"

enum {
	/* the bucket holds what this part of a second brings */
	POOL_BURST_PART = 20,
	/* others are not kept waiting for a thread that rests for longer */
	POOL_REST_NS = 5 * 1000 * 1000,
	/* hits of a site that is armed once that are passed, and when it is
	 * armed again: a stopped thread needs that long to go on */
	POOL_PASSED_MAX = 3,
	POOL_PASSED_NS = 50 * 1000,
	/* one that nobody reached for so long is not spent on learning */
	POOL_SELDOM_NS = 10 * 1000 * 1000,
	/* stalls by which one kind of site may be ahead, and for how long */
	POOL_DEFICIT_MAX = 2,
	POOL_DEFICIT_NS = 3 * 1000 * 1000,
	/* of --at, what was hit within this time is soon hit again */
	POOL_AIMED_NS = 20 * 1000 * 1000,
	/*
	 * the pause after a hit when nobody else could run, and after many in a
	 * row: each hit costs some 80 us
	 */
	POOL_ALONE_NS = 100 * 1000,
	POOL_ALONE_MAX_NS = 4 * 1000 * 1000,
	/* where breakpoints are set slowly, what of a second is sent ahead */
	POOL_AHEAD_PART = 4,
	/* sites that were hit, kept where there are few places */
	POOL_KEPT_MAX = 256,
};

void pool_init(struct pool *pool, struct budget *budget,
	       const struct governor *governor)
{
	*pool = (struct pool){ .budget = budget, .governor = governor };
}

void pool_deinit(struct pool *pool)
{
	queue_deinit(&pool->fresh);
	queue_deinit(&pool->fired);
	queue_deinit(&pool->guided);
	queue_deinit(&pool->aimed);
	queue_deinit(&pool->once);
	queue_deinit(&pool->spent);
	memset(pool, 0, sizeof(*pool));
}

size_t pool_queued(const struct pool *pool)
{
	return pool->fresh.count + pool->fired.count + pool->guided.count +
	       pool->aimed.count + pool->once.count;
}

bool pool_has_sites(const struct pool *pool)
{
	return pool_queued(pool) > pool->once.count;
}

void pool_clear(struct pool *pool)
{
	pool->fresh.count = 0;
	pool->fired.count = 0;
	pool->guided.count = 0;
	pool->aimed.count = 0;
	pool->once.count = 0;
	pool->spent.count = 0;
	memset(pool->hot, 0, sizeof(pool->hot));
}

/* fired: it was hit before; few_places: breakpoints are not in the text. */
static struct queue *pool_queue_of(struct pool *pool,
				   const struct wire_site *site, bool fired,
				   bool few_places)
{
	bool aimed = site->id & WIRE_AIMED;

	if (site->once)
		return &pool->once;
	/* those that were hit share the places already */
	if (few_places)
		return aimed ? &pool->aimed : &pool->fresh;
	if (aimed)
		return fired ? &pool->aimed : &pool->once;
	if (site->id & WIRE_GUIDED)
		return &pool->guided;
	return fired ? &pool->fired : &pool->fresh;
}

bool pool_queue(struct pool *pool, const struct wire_site *site, bool fired,
		bool few_places)
{
	pool->large |= (site->id & WIRE_ENTRY) != 0;
	pool->aims_once |= (site->id & WIRE_AIMED) != 0;
	if (site->once && site->runs)
		return queue_push_first(&pool->once, site);
	return queue_push(pool_queue_of(pool, site, fired, few_places), site);
}

bool pool_keep(struct pool *pool, const struct wire_site *site)
{
	return !(site->id & WIRE_AIMED) && pool->fired.count < POOL_KEPT_MAX &&
	       queue_push(&pool->fired, site);
}

void pool_fired(struct pool *pool, const struct wire_site *site, bool recent,
		uint64_t now)
{
	for (int i = 0; i < POOL_HOT_MAX; i++) {
		if (pool->hot[i].address == site->address &&
		    pool->hot[i].program == site->program)
			pool->hot[i].address = 0;
	}
	if ((site->id & WIRE_PROBE) && pool->probes_out > 0)
		pool->probes_out--;
	if (site->id & WIRE_AIMED)
		pool->aimed_ns = now;
	if (site->once && !(site->id & WIRE_ENTRY)) {
		pool->once_ns = now;
		if (recent)
			queue_push(&pool->spent, site);
	}
}

double pool_rate(const struct pool *pool)
{
	const struct wire_params *params = &pool->params;
	double span = (double)params->rate - params->busy_rate;

	if (params->busy_rate == 0 || span <= 0)
		return params->rate;
	return params->rate - span * budget_use(pool->budget);
}

/* The tokens that the bucket holds at most. */
static double pool_burst(const struct pool *pool)
{
	return pool_rate(pool) / POOL_BURST_PART + 1;
}

void pool_earn(struct pool *pool, uint64_t now)
{
	double most = pool_burst(pool);
	double elapsed;

	/* a caller's clock may have been read before the last one's */
	if (now <= pool->tokens_ns)
		return;
	elapsed = (double)(now - pool->tokens_ns) / CLOCK_NS_PER_S;
	pool->tokens += elapsed * pool_rate(pool);
	pool->arms += elapsed * pool->params.arm_rate;
	if (pool->params.arm_rate == 0 || pool->arms > POOL_BATCH)
		pool->arms = POOL_BATCH;
	pool->tokens_ns = now;
	if (pool->tokens > most)
		pool->tokens = most;
}

/* Does one of --at wait for its turn, or will one be hit soon? */
/* Does one of --at wait for its turn, or will one be hit soon? */
static bool pool_aims(const struct pool *pool, uint64_t now)
{
	return pool->aimed.count > 0 ||
	       (pool->aimed_ns != 0 && now < pool->aimed_ns + POOL_AIMED_NS);
}

bool pool_take_token(struct pool *pool, const struct wire_site *site,
		     unsigned int loans, uint64_t now)
{
	struct budget *budget = pool->budget;
	bool aimed = site->id & WIRE_AIMED;
	bool lends_token = aimed || (loans & POOL_LENDS_TOKEN);
	bool lends_time = aimed ||
			  ((loans & POOL_LENDS_TIME) && !pool_aims(pool, now));

	pool_earn(pool, now);
	budget_earn(budget, now);
	if (lends_time ? !budget_lends(budget) : !budget_affords(budget))
		return false;
	if (site->once)
		return true;
	if (pool->tokens < (lends_token ? 1 - pool_burst(pool) : 1))
		return false;
	pool->tokens -= 1;
	return true;
}

static bool pool_has_deficit(const struct pool *pool,
			     const struct wire_site *site, uint64_t now)
{
	if (wire_site_apart(site) || now >= pool->deficit_until_ns)
		return false;
	if (pool_aims(pool, now) &&
	    pool->deficit_aimed >= POOL_DEFICIT_MAX * POOL_AIMED)
		return true;
	return !(site->id & WIRE_GUIDED) && pool->guided.count > 0 &&
	       pool->deficit >= POOL_DEFICIT_MAX;
}

bool pool_is_seldom(uint64_t armed_ns, uint64_t now)
{
	return now >= armed_ns + POOL_SELDOM_NS;
}

bool pool_passes(struct pool *pool, const struct wire_site *site,
		 uint64_t armed_ns, uint64_t now)
{
	bool probe = site->id & WIRE_PROBE;

	if (pool_is_seldom(armed_ns, now))
		return false;
	if (!(site->id & WIRE_GUIDED) && !wire_site_apart(site) &&
	    pool->probes_due > 0 && now < pool->probe_until_ns)
		probe = true;
	pool->probes_due -= probe && pool->probes_due > 0;
	return probe || pool_has_deficit(pool, site, now);
}

void pool_stalled(struct pool *pool, const struct wire_site *site, uint64_t now)
{
	const int most = POOL_DEFICIT_MAX * POOL_AIMED;

	pool->probed = false;
	if (site->id & WIRE_AIMED) {
		pool->deficit_aimed -= pool->deficit_aimed > -most;
	} else if (pool_aims(pool, now)) {
		pool->deficit_aimed += POOL_AIMED;
		if (pool->deficit_aimed > most)
			pool->deficit_aimed = most;
	}
	if (site->id & WIRE_GUIDED)
		pool->deficit -= pool->deficit > -POOL_DEFICIT_MAX;
	else if (pool->guided.count > 0 && !(site->id & WIRE_AIMED))
		pool->deficit += pool->deficit < POOL_DEFICIT_MAX;
	pool->deficit_until_ns =
		now + pool->params.stall_max_ns + POOL_DEFICIT_NS;
}

bool pool_waits_for(struct pool *pool, const struct wire_site *site,
		    uint64_t until_ns, uint64_t now)
{
	if (wire_site_apart(site) || (site->id & (WIRE_GUIDED | WIRE_PROBE)) ||
	    until_ns > now + POOL_REST_NS)
		return false;
	if (until_ns > pool->rest_until_ns)
		pool->rest_until_ns = until_ns;
	return true;
}

void pool_found_private(struct pool *pool, uint64_t now)
{
	uint64_t until = now + POOL_ALONE_NS;

	if (until > pool->retry_ns)
		pool->retry_ns = until;
}

void pool_found_alone(struct pool *pool, bool alone, uint64_t now)
{
	if (!alone) {
		pool->alone_ns = 0;
		return;
	}
	pool->alone_ns = pool->alone_ns ? 2 * pool->alone_ns : POOL_ALONE_NS;
	if (pool->alone_ns > POOL_ALONE_MAX_NS)
		pool->alone_ns = POOL_ALONE_MAX_NS;
	pool->retry_ns = now + pool->alone_ns;
}

bool pool_rearm_passed(struct pool *pool, const struct wire_site *site,
		       uint64_t now)
{
	struct wire_site again = *site;

	if (again.passed++ == POOL_PASSED_MAX)
		return false;
	pool->retry_ns = now + POOL_PASSED_NS;
	pool->aims_once |= (again.id & WIRE_AIMED) != 0;
	return queue_push(&pool->once, &again);
}

void pool_rearm_stalled(struct pool *pool, const struct wire_site *site,
			uint64_t now)
{
	struct wire_site again = *site;

	again.passed = 0;
	pool->retry_ns = now + POOL_PASSED_NS;
	queue_push(&pool->once, &again);
}

bool pool_waits_once(const struct pool *pool, uint32_t program)
{
	return queue_has_program(&pool->once, program);
}

void pool_forget(struct pool *pool, const struct wire_range *range)
{
	queue_forget(&pool->fresh, range);
	queue_forget(&pool->fired, range);
	queue_forget(&pool->guided, range);
	queue_forget(&pool->aimed, range);
	queue_forget(&pool->once, range);
	queue_forget(&pool->spent, range);
}

void pool_forget_spent(struct pool *pool, uint32_t program)
{
	const struct wire_range all = { 0, UINT64_MAX, program };

	queue_forget(&pool->spent, &all);
}

void pool_rearm_spent(struct pool *pool, uint32_t program)
{
	for (size_t n = pool->spent.count; n > 0; n--) {
		struct wire_site site = queue_pop(&pool->spent);

		queue_push(site.program == program ? &pool->once : &pool->spent,
			   &site);
	}
	pool->retry_ns = 0;
}

uint32_t pool_lacks(const struct wire_params *params, uint32_t pool,
		    uint32_t armed)
{
	uint32_t lacks = pool > armed ? pool - armed : 0;
	uint32_t most = params->arm_rate / POOL_AHEAD_PART + 1;

	return params->arm_rate == 0 || lacks < most ? lacks : most;
}

bool pool_take(struct pool *pool, uint64_t id, struct wire_site *ret)
{
	return queue_take(&pool->fresh, id, ret) ||
	       queue_take(&pool->fired, id, ret) ||
	       queue_take(&pool->guided, id, ret) ||
	       queue_take(&pool->aimed, id, ret);
}
