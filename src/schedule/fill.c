/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What to arm and what to lift now; see fill.h.
 */
#include "schedule/fill.h"

#include "base/clock.h"
#include "schedule/budget.h"
#include "schedule/governor.h"
#include "schedule/pool.h"

enum {
	FILL_ONCE_BATCH = 256,
	/* the same where each costs: hits do not wait for long */
	FILL_ONCE_PAID = 64,
	/* the same where arming is slow */
	FILL_ONCE_SLOW = 16,
	/* of the time that the program may lose, arming them takes one part in */
	FILL_ONCE_SHARE_PART = 16,
	/* from one to the next: what runs all the time has been hit by then */
	FILL_ONCE_NS = 1000 * 1000,
	/* not hit for so long, a location that fired once is not hot */
	FILL_RETRY_NS = 500 * 1000,
	FILL_HOT_NS = 2 * 1000 * 1000,
	/* a program begins until nothing ran for the first time for so long */
	FILL_BEGUN_NS = 5 * 1000 * 1000,
	/* hits without a stall are waited for so long */
	FILL_PROBE_NS = 1000 * 1000,
	/* and may cost 1/FILL_PROBE_PART of what stalls do */
	FILL_PROBE_PART = 4,
	/* threads for each place for a hot location */
	FILL_THREADS_PER_PLACE = 4,
	/*
	 * of a full pool, how many make room for others in one go, and how
	 * often at most: all have gone after three seconds
	 */
	FILL_ROTATE_PART = 64,
	FILL_ROTATE_MIN = POOL_HOT_MAX,
	FILL_ROTATE_MAX = 512,
	FILL_ROTATE_NS = 50 * 1000 * 1000,
	/* the least time from one exchange of those that wait to the next */
	FILL_GIVE_NS = 10 * 1000 * 1000,
	/* and of the time that the program may lose, that takes one part in */
	FILL_ROTATE_SHARE_PART = 16,
	/* the same of all that is drawn, where little may be lost and is left */
	FILL_FRESH_SHARE_PART = 10,
};

/* where any time may be lost */
static const double FILL_ANY_SHARE = 0.4;

/* Counted in the pool's size, or beside it. */
static bool fill_arm(struct fill *fill, const struct wire_site *site)
{
	if (!fill->ops->arm(fill->context, site))
		return false;
	if (wire_site_apart(site))
		fill->armed_once++;
	else
		fill->armed++;
	return true;
}

static bool fill_arm_first(struct fill *fill, struct queue *queue)
{
	struct wire_site site = queue_pop(queue);

	return fill_arm(fill, &site);
}

/* The places for hot locations that a program of `threads' threads has. */
static size_t fill_places(size_t threads)
{
	size_t places = threads / FILL_THREADS_PER_PLACE;

	if (places == 0)
		return 1;
	return places < POOL_HOT_MAX ? places : POOL_HOT_MAX;
}

/* A free place for a hot location, or NULL. */
static struct pool_hot *fill_place(struct pool *pool, size_t threads,
				   uint64_t now)
{
	for (size_t i = 0; i < fill_places(threads); i++) {
		if (pool->hot[i].address == 0 || now >= pool->hot[i].until_ns)
			return &pool->hot[i];
	}
	return NULL;
}

/*
 * Whose turn it is: those of --at, which need no room in the pool, those drawn
 * uniformly, or those where races are likely. NULL: nobody's.
 */
static struct queue *fill_turn(struct pool *pool, size_t room)
{
	bool others = room > 0 && pool->fired.count + pool->guided.count > 0;
	bool guided = pool->fired.count == 0 ||
		      (pool->guided.count > 0 && !pool->last_guided);

	if (pool->aimed.count > 0 && (pool->aims < POOL_AIMED || !others))
		return &pool->aimed;
	if (!others)
		return NULL;
	return guided ? &pool->guided : &pool->fired;
}

static void fill_had_turn(struct pool *pool, const struct queue *queue)
{
	if (queue == &pool->aimed) {
		pool->aims += pool->aims < POOL_AIMED;
		return;
	}
	pool->aims = 0;
	pool->last_guided = queue == &pool->guided;
}

/* How many more may be armed. */
static size_t fill_room(const struct fill *fill)
{
	size_t armed = fill->armed;
	size_t most = fill->pool->governor->pool;

	/* few places, for those of --at too */
	if (fill->places > 0) {
		armed += fill->armed_once;
		if (most > fill->places)
			most = fill->places;
	}
	return armed < most ? most - armed : 0;
}

/* The same of fresh ones: those that were hit before find a little room too. */
static size_t fill_room_fresh(const struct fill *fill)
{
	const struct pool *pool = fill->pool;
	size_t room = fill_room(fill), kept = pool->governor->pool / 4;

	if (kept > POOL_HOT_MAX)
		kept = POOL_HOT_MAX;
	if (pool->fired.count + pool->guided.count == 0)
		kept = 0;
	return room > kept ? room - kept : 0;
}

/* Is there a fresh one, and room for it, now? */
static bool fill_has_fresh(const struct fill *fill)
{
	const struct pool *pool = fill->pool;

	if (fill->now_ns < pool->fresh_due_ns &&
	    !budget_has_plenty(pool->budget))
		return false;
	return pool->fresh.count > 0 && fill_room_fresh(fill) > 0;
}

static void fill_arm_hot(struct fill *fill, size_t room)
{
	struct pool *pool = fill->pool;
	uint32_t threads = fill->threads;

	for (;;) {
		struct pool_hot *place =
			fill_place(pool, threads, fill->now_ns);
		struct queue *queue = fill_turn(pool, room);
		struct wire_site site;

		if (!place || !queue)
			return;
		site = queue_pop(queue);
		if (!fill_arm(fill, &site))
			continue;
		fill_had_turn(pool, queue);
		place->address = site.address;
		place->program = site.program;
		place->until_ns = fill->now_ns + FILL_HOT_NS;
		room -= queue != &pool->aimed;
	}
}

/*
 * How many probes are paid for: they may cost a part of what stalls do. Where
 * others use the processors that a stall leaves, stalls are cheap, and hits are
 * not.
 */
static uint32_t fill_probes_paid(struct fill *fill)
{
	struct pool *pool = fill->pool;
	const struct budget *budget = pool->budget;
	double cost = budget_stop_cost(budget);
	double most = pool->params.probes * cost;
	uint32_t count;

	if (budget->share <= 0)
		return pool->params.probes;
	pool->probes_ns += (double)pool->params.stall_max_ns / 2 *
			   budget->loss / FILL_PROBE_PART;
	if (pool->probes_ns > most)
		pool->probes_ns = most;
	count = (uint32_t)(pool->probes_ns / cost);
	pool->probes_ns -= count * cost;
	return count;
}

/* Arm some of those that are likely to be hit at once, to learn from. */
static void fill_arm_probes(struct fill *fill)
{
	struct pool *pool = fill->pool;
	uint32_t most = fill_probes_paid(fill), armed = 0;

	for (uint32_t i = 0; i < most && pool->fired.count > 0; i++) {
		struct wire_site site = queue_pop(&pool->fired);

		site.id |= WIRE_PROBE;
		armed += fill_arm(fill, &site);
	}
	pool->probed = true;
	pool->probes_out = armed;
	pool->probes_due = most;
	pool->probe_until_ns = fill->now_ns + FILL_PROBE_NS;
}

/* Are there probes to be waited for? */
static bool fill_probes(struct fill *fill)
{
	struct pool *pool = fill->pool;

	if (!pool->probed && pool->params.probes > 0)
		fill_arm_probes(fill);
	if (fill->now_ns >= pool->probe_until_ns)
		pool->probes_out = 0;
	return pool->probes_out > 0;
}

/*
 * Few of those that are drawn from a large program are reached. Where little may
 * be lost, setting them is not to leave nothing for stalls: each batch waits for
 * the time that the last one took, but for what stalls do not use.
 */
static void fill_pay_fresh(struct fill *fill, uint64_t begun_cpu_ns)
{
	struct pool *pool = fill->pool;
	uint64_t cpu_ns = fill->ops->cpu_ns(fill->context) - begun_cpu_ns;

	pool->fresh_due_ns = fill->now_ns +
			     (uint64_t)((double)cpu_ns * FILL_FRESH_SHARE_PART /
					pool->budget->share);
}

/* As many as may be armed in one go. */
static void fill_arm_fresh(struct fill *fill, size_t room)
{
	struct pool *pool = fill->pool;
	bool pays = budget_is_small(pool->budget);
	uint64_t begun = pays ? fill->ops->cpu_ns(fill->context) : 0;
	size_t armed = 0;
	int tries = 0;

	if (!fill_has_fresh(fill))
		return;
	while (tries < (int)pool->arms && pool->fresh.count > 0 &&
	       armed < room) {
		armed += fill_arm_first(fill, &pool->fresh);
		tries++;
	}
	if (pool->params.arm_rate > 0)
		pool->arms -= tries;
	if (pays)
		fill_pay_fresh(fill, begun);
}

/*
 * Is each of `once` armed, whatever it costs? So where a program begins: what
 * its first threads do, they may do only once.
 */
static bool fill_once_is_free(const struct fill *fill)
{
	const struct wire_params *params = &fill->pool->params;

	return (params->share <= 0 && params->arm_rate == 0) || fill->begins ||
	       fill->begins_until != 0;
}

/*
 * How many of `once` may be armed now. They may all be hit at once, and each hit
 * costs a stop, whether its stall is paid for or not: as many as are paid for,
 * and no more until it is seen what these came to.
 */
static size_t fill_once_paid(const struct fill *fill)
{
	const struct pool *pool = fill->pool;
	const struct budget *budget = pool->budget;
	size_t most = pool->params.arm_rate > 0 ? FILL_ONCE_SLOW
						: FILL_ONCE_PAID;
	double count;

	if (fill_once_is_free(fill))
		return FILL_ONCE_BATCH;
	if (!budget_affords(budget) || fill->now_ns < pool->once_due_ns)
		return 0;
	count = budget->credit_ns / budget_stop_cost(budget);
	return count < most ? 1 + (size_t)count : most;
}

/*
 * How long after `armed' breakpoints began to be set, for which the tracer computed
 * for cpu_ns, the next may be: where processes are many, each breakpoint is written
 * to several.
 */
static uint64_t fill_once_gap(const struct pool *pool, size_t armed,
			      uint64_t cpu_ns)
{
	const struct wire_params *params = &pool->params;
	uint64_t gap, paid;

	/*
	 * The time it took is over by then: half of the tracer's time is for
	 * what happens in the meantime.
	 */
	if (params->arm_rate == 0)
		return 2 * cpu_ns > FILL_ONCE_NS ? 2 * cpu_ns : FILL_ONCE_NS;
	gap = armed * CLOCK_NS_PER_S / params->arm_rate;
	if (params->share <= 0)
		return gap;
	paid = (uint64_t)((double)cpu_ns * FILL_ONCE_SHARE_PART /
			  params->share);
	return gap > paid ? gap : paid;
}

/* When it allows any. */
static uint64_t fill_once_ns(const struct fill *fill)
{
	const struct pool *pool = fill->pool;
	uint64_t paid = budget_next_ns(pool->budget);
	uint64_t due = pool->once_due_ns;

	if (pool->aims_once || fill_once_is_free(fill))
		return 0;
	return paid > due ? paid : due;
}

/* Those of --at among them do not wait. */
static void fill_arm_once_aimed(struct fill *fill)
{
	struct queue *queue = &fill->pool->once;

	for (size_t n = queue->count; n > 0; n--) {
		struct wire_site site = queue_pop(queue);

		if (site.id & WIRE_AIMED)
			fill_arm(fill, &site);
		else
			queue_push(queue, &site);
	}
	fill->pool->aims_once = false;
}

/* Beside the pool and without tokens. */
static void fill_arm_once(struct fill *fill)
{
	struct pool *pool = fill->pool;
	size_t count = fill_once_paid(fill);
	uint64_t begun;

	if (pool->aims_once)
		fill_arm_once_aimed(fill);
	if (count == 0)
		return;
	begun = fill->ops->cpu_ns(fill->context);
	for (size_t i = 0; i < count && pool->once.count > 0; i++)
		fill_arm_first(fill, &pool->once);
	if (pool->once.count > 0)
		pool->once_due_ns =
			fill->now_ns +
			fill_once_gap(pool, count,
				      fill->ops->cpu_ns(fill->context) - begun);
}

/* The same where there are few places: new ones and those hit before. */
static struct queue *fill_turn_untouched(struct pool *pool)
{
	bool others = pool->fired.count + pool->fresh.count > 0;

	if (pool->aimed.count > 0 && (pool->aims < POOL_AIMED || !others))
		return &pool->aimed;
	if (!others)
		return NULL;
	pool->again = pool->fresh.count == 0 ||
		      (pool->fired.count > 0 && !pool->again);
	return pool->again ? &pool->fired : &pool->fresh;
}

static void fill_arm_untouched(struct fill *fill)
{
	struct pool *pool = fill->pool;
	size_t room;

	fill->ops->rotate(fill->context, fill->now_ns);
	fill->ops->count(fill->context, &fill->armed, &fill->armed_once);
	room = fill_room(fill);
	for (int i = 0; i < POOL_BATCH && room > 0; i++) {
		struct queue *queue = fill_turn_untouched(pool);

		if (!queue)
			return;
		room -= fill_arm_first(fill, queue);
		fill_had_turn(pool, queue);
	}
}

/* Does something wait for room in a full pool? */
static bool fill_is_short(const struct fill *fill)
{
	const struct pool *pool = fill->pool;

	if (fill->places > 0 || pool->governor->pool == 0)
		return false;
	if (pool->fired.count + pool->guided.count > 0 && fill_room(fill) == 0)
		return true;
	return pool->fresh.count > 0 && fill_room_fresh(fill) == 0;
}

/* How long after such a change the next may be, by what it took to compute. */
static uint64_t fill_rotate_gap(const struct pool *pool, uint64_t cpu_ns)
{
	double share = pool->params.share > 0 ? pool->params.share
					      : FILL_ANY_SHARE;
	double gap = (double)cpu_ns * FILL_ROTATE_SHARE_PART / share;

	return gap > FILL_ROTATE_NS ? (uint64_t)gap : FILL_ROTATE_NS;
}

/*
 * What nobody has reached for long makes room for what may be reached: most of
 * a large program never runs. Each breakpoint is a write to every process of the
 * program, so where processes are many the pace is slow.
 */
static void fill_make_room(struct fill *fill)
{
	struct pool *pool = fill->pool;
	size_t most = pool->governor->pool / FILL_ROTATE_PART;
	bool first = pool->rotate_ns == 0;
	uint64_t begun;

	if (!fill_is_short(fill) || fill->now_ns < pool->rotate_ns)
		return;
	pool->rotate_ns = fill->now_ns + FILL_ROTATE_NS;
	/* it has just been filled for the first time */
	if (first)
		return;
	most = most < FILL_ROTATE_MIN ? FILL_ROTATE_MIN : most;
	most = most > FILL_ROTATE_MAX ? FILL_ROTATE_MAX : most;
	begun = fill->ops->cpu_ns(fill->context);
	fill->ops->lift(fill->context, most);
	fill->ops->count(fill->context, &fill->armed, &fill->armed_once);
	/* to arm others in their place takes about as long */
	pool->rotate_ns =
		fill->now_ns +
		fill_rotate_gap(pool,
				2 * (fill->ops->cpu_ns(fill->context) - begun));
}

/* To draw others takes time of a processor: rarely where little may be lost. */
static uint64_t fill_give_gap(const struct pool *pool)
{
	double share = pool->params.share;

	if (share <= 0 || share >= FILL_ANY_SHARE)
		return FILL_GIVE_NS;
	return (uint64_t)(FILL_GIVE_NS * FILL_ANY_SHARE / share);
}

/*
 * What waits for room would keep what is hit again and again from being sent:
 * the queue is full. Half of it goes back, to be drawn again.
 */
static void fill_give_back(struct fill *fill)
{
	struct pool *pool = fill->pool;
	size_t count = pool->fresh.count / 2;

	if (pool->fired.count > 0 || !fill_is_short(fill) ||
	    fill->now_ns < pool->give_ns)
		return;
	pool->give_ns = fill->now_ns + fill_give_gap(pool);
	for (; count > 0; count--) {
		struct wire_site site = queue_pop(&pool->fresh);

		fill->ops->give_back(fill->context, &site);
	}
}

/* Is there something to arm now, whatever it costs? Counts what forbids it. */
static bool fill_may_fill(struct fill *fill, bool *ret_affordable)
{
	struct pool *pool = fill->pool;
	bool paid = budget_affords(pool->budget);

	*ret_affordable = paid && pool->tokens >= 1;
	if (pool_queued(pool) == 0)
		return false;
	pool->refills++;
	pool->unpaid += !paid;
	pool->over_rate += paid && pool->tokens < 1;
	return fill->now_ns >= pool->retry_ns &&
	       (*ret_affordable || pool->once.count > 0);
}

/* Is there room now for something that waits to be armed? */
static bool fill_has_room(struct fill *fill, bool affordable)
{
	struct pool *pool = fill->pool;
	uint32_t threads = fill->threads;

	if (pool->once.count > 0 &&
	    (pool->aims_once || fill_once_paid(fill) > 0))
		return true;
	if (!affordable)
		return false;
	if (fill->places > 0 || pool->params.probes > 0)
		return true;
	if (fill_has_fresh(fill))
		return true;
	if (fill_is_short(fill) &&
	    (fill->now_ns >= pool->rotate_ns || fill->now_ns >= pool->give_ns))
		return true;
	return fill_place(pool, threads, fill->now_ns) &&
	       fill_turn(pool, fill_room(fill));
}

/*
 * While a program begins, what is met again and again would keep threads from
 * what runs once. Until when it does so; 0: it does not.
 */
static uint64_t fill_begins_until(const struct fill *fill)
{
	const struct pool *pool = fill->pool;
	uint64_t until = fill->begins_until;

	if (pool->once_ns != 0 && pool->once_ns + FILL_BEGUN_NS < until)
		until = pool->once_ns + FILL_BEGUN_NS;
	return fill->now_ns < until ? until : 0;
}

void fill_run(struct fill *fill)
{
	struct pool *pool = fill->pool;
	bool affordable;

	pool_earn(pool, fill->now_ns);
	budget_earn(pool->budget, fill->now_ns);
	if (!fill_may_fill(fill, &affordable) ||
	    !fill_has_room(fill, affordable))
		return;
	if (!fill->ops->ready(fill->context, fill->now_ns)) {
		pool->retry_ns = fill->now_ns + FILL_RETRY_NS;
		return;
	}
	fill_arm_once(fill);
	if (!affordable)
		return;
	if (fill->places > 0) {
		fill_arm_untouched(fill);
		return;
	}
	if (fill->now_ns < pool->rest_until_ns) {
		/* only those of --at */
		fill_arm_hot(fill, 0);
		return;
	}
	if (fill_probes(fill))
		return;
	fill_make_room(fill);
	fill_give_back(fill);
	fill_arm_fresh(fill, fill_room_fresh(fill));
	if (fill_begins_until(fill) == 0)
		fill_arm_hot(fill, fill_room(fill));
}

/* When a place for a hot location is free again for those that wait for one. */
static uint64_t fill_place_ns(const struct fill *fill, bool room)
{
	const struct pool *pool = fill->pool;
	size_t places = fill_places(fill->threads);
	size_t waiting = pool->aimed.count;
	uint64_t next = UINT64_MAX;

	if (room)
		waiting += pool->fired.count + pool->guided.count;
	for (size_t i = 0; i < places && waiting > 0; i++) {
		if (pool->hot[i].address != 0 && pool->hot[i].until_ns < next)
			next = pool->hot[i].until_ns;
	}
	return next;
}

/* By time, but not before what must be known first can be. */
static uint64_t fill_not_before_retry(const struct pool *pool, uint64_t ns)
{
	return ns > pool->retry_ns ? ns : pool->retry_ns;
}

/* When fresh ones may be armed again. */
static uint64_t fill_arms_ns(const struct pool *pool)
{
	uint64_t due = pool->fresh_due_ns, arms = pool->tokens_ns;

	if (pool->params.arm_rate > 0 && pool->arms < 1)
		arms += POOL_BATCH / 2 * CLOCK_NS_PER_S / pool->params.arm_rate;
	return due > arms ? due : arms;
}

/* When there may be more to do for what is not armed once. */
static uint64_t fill_next_sampled_ns(const struct fill *fill)
{
	const struct pool *pool = fill->pool;
	bool room = fill_room(fill) > 0;
	bool fresh = pool->fresh.count > 0 && fill_room_fresh(fill) > 0;
	uint64_t next;

	if (!pool_has_sites(pool))
		return UINT64_MAX;
	if (!budget_affords(pool->budget))
		return budget_next_ns(pool->budget);
	if (pool->tokens < 1)
		return pool->tokens_ns +
		       (uint64_t)((1 - pool->tokens) / pool_rate(pool) *
				  CLOCK_NS_PER_S) +
		       1;
	if (pool->probes_out > 0)
		return fill_not_before_retry(pool, pool->probe_until_ns);
	if (!room && fill->places > 0)
		return fill_not_before_retry(pool, fill->place_due_ns);
	if (fill->places == 0 && fill->now_ns < pool->rest_until_ns) {
		next = fill_place_ns(fill, false);
		if (next > pool->rest_until_ns)
			next = pool->rest_until_ns;
		return fill_not_before_retry(pool, next);
	}
	if (fill->places > 0 || (fill_has_fresh(fill) && pool->arms >= 1))
		return pool->retry_ns;
	next = fill_begins_until(fill);
	if (next == 0)
		next = fill_place_ns(fill, room);
	if (fill_is_short(fill) && pool->rotate_ns < next)
		next = pool->rotate_ns;
	if (fresh) {
		uint64_t arms = fill_arms_ns(pool);

		next = arms < next ? arms : next;
	}
	return fill_not_before_retry(pool, next);
}

uint64_t fill_next_ns(const struct fill *fill)
{
	const struct pool *pool = fill->pool;
	uint64_t once = UINT64_MAX, sampled;

	if (pool->once.count > 0)
		once = fill_not_before_retry(pool, fill_once_ns(fill));
	sampled = fill_next_sampled_ns(fill);
	return once < sampled ? once : sampled;
}
