/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The pool of breakpoints; see pool.h.
 */
#include "target/pool.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/error.h"
#include "sys/memory.h"
#include "target/breakpoint.h"
#include "target/engine.h"
#include "target/onset.h"
#include "target/pool-hit.h"
#include "target/sigstate.h"
#include "target/thread.h"
#include "target/writer.h"

enum {
	POOL_QUEUE_MAX = 8192,
	/* breakpoints set in one go, so that events are not kept waiting */
	POOL_BATCH = 64,
	POOL_ONCE_BATCH = 256,
	/* the same where arming is slow */
	POOL_ONCE_SLOW = 16,
	/* of the time that the program may lose, arming them takes one part in */
	POOL_ONCE_SHARE_PART = 16,
	/* from one to the next: what runs all the time has been hit by then */
	POOL_ONCE_NS = 1000 * 1000,
	/* the bucket holds what this part of a second brings */
	POOL_BURST_PART = 20,
	/* not hit for so long, a location that fired once is not hot */
	POOL_RETRY_NS = 500 * 1000,
	POOL_HOT_NS = 2 * 1000 * 1000,
	/* others are not kept waiting for a thread that rests for longer */
	POOL_REST_NS = 5 * 1000 * 1000,
	/* hits of a site that is armed once that are passed, and when it is
	 * armed again: a stopped thread needs that long to go on */
	POOL_PASSED_MAX = 3,
	POOL_PASSED_NS = 100 * 1000,
	/* a program begins until nothing ran for the first time for so long */
	POOL_BEGUN_NS = 5 * 1000 * 1000,
	/* hits without a stall are waited for so long */
	POOL_PEEK_NS = 1000 * 1000,
	/* and may cost 1/POOL_PEEK_PART of what stalls do */
	POOL_PEEK_PART = 4,
	/* one that nobody reached for so long is not spent on learning */
	POOL_SELDOM_NS = 10 * 1000 * 1000,
	/* turns of those of --at for each of the others: 80 % of the stalls */
	POOL_AIMED = 4,
	/* stalls by which one kind of site may be ahead, and for how long */
	POOL_OWED_MAX = 2,
	POOL_OWED_NS = 3 * 1000 * 1000,
	/* of --at, what was hit within this time is soon hit again */
	POOL_AIMED_NS = 20 * 1000 * 1000,
	/* threads for each place for a hot location */
	POOL_THREADS_PER_PLACE = 4,
	/*
	 * the pause after a hit when nobody else could run, and after many in a
	 * row: each hit costs some 80 us
	 */
	POOL_ALONE_NS = 100 * 1000,
	POOL_ALONE_MAX_NS = 4 * 1000 * 1000,
	/* sites that were hit, kept where there are few places */
	POOL_KEPT_MAX = 256,
	/*
	 * of a full pool, how many make room for others in one go, and how
	 * often at most: all have gone after three seconds
	 */
	POOL_ROTATE_PART = 64,
	POOL_ROTATE_MIN = POOL_HOT_MAX,
	POOL_ROTATE_MAX = 512,
	POOL_ROTATE_NS = 50 * 1000 * 1000,
	/* others are asked for instead of those that wait so often at most */
	POOL_GIVE_NS = 10 * 1000 * 1000,
	/* and of the time that the program may lose, that takes one part in */
	POOL_ROTATE_SHARE_PART = 16,
};

/* where any time may be lost */
static const double POOL_ANY_SHARE = 0.4;

void pool_deinit(struct pool *pool)
{
	free(pool->fresh.sites);
	free(pool->fired.sites);
	free(pool->guided.sites);
	free(pool->aimed.sites);
	free(pool->once.sites);
	free(pool->spent.sites);
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

/* Does the process run that program, watched? */
static bool pool_runs(const struct process *process, uint32_t program)
{
	return process->role == PROCESS_WATCHED &&
	       process->space->text->program == program;
}

/* Can any other thread reach what the process's threads access? */
bool pool_may_race(const struct engine *engine, const struct process *process)
{
	return process->threads.count > 1 ||
	       engine_shares_memory(engine, process);
}

/* The address space of a process that runs the program, or NULL. */
static struct addrspace *pool_space(const struct engine *engine,
				    uint32_t program)
{
	for (size_t i = 0; i < engine->processes.count; i++) {
		const struct process *process = engine_process_at(engine, i);

		if (pool_runs(process, program))
			return process->space;
	}
	return NULL;
}

/* Lift so many of the breakpoints; their sites may be drawn again. */
static void pool_lift_some(struct engine *engine, struct addrspace *space,
			   size_t most)
{
	struct vec ids = VEC_INIT(uint64_t);

	writer_begin(engine, space);
	engine_note(engine,
		    breakpoint_lift_range(space, 0, 0, UINT64_MAX, most, &ids));
	writer_end(space);
	for (size_t i = 0; i < ids.count; i++)
		engine_return_site(engine, space->text->program,
				   *(uint64_t *)vec_at(&ids, i), WIRE_LIFTED);
	vec_deinit(&ids);
}

void pool_set_params(struct engine *engine, const struct wire_params *params)
{
	size_t armed = engine_armed(engine);

	engine->pool.params = *params;
	budget_set_share(&engine->load.budget, params->share);
	/* a little too many are used up soon; to lift them is work twice */
	if (engine->phase != ENGINE_WATCHING ||
	    armed <= 2 * (size_t)params->pool)
		return;
	for (size_t i = 0; i < engine->processes.count && armed > params->pool;
	     i++) {
		struct process *process = engine_process_at(engine, i);
		size_t most = armed - params->pool;
		const struct program_text *text = process->space->text;

		if (process->role != PROCESS_WATCHED)
			continue;
		if (most > text->armed - text->armed_once)
			most = text->armed - text->armed_once;
		pool_lift_some(engine, process->space, most);
		armed -= most;
	}
}

static bool ring_push(struct pool_ring *ring, const struct wire_site *site)
{
	if (!ring->sites) {
		ring->sites = calloc(POOL_QUEUE_MAX, sizeof(*ring->sites));
		if (!ring->sites)
			return false;
		ring->capacity = POOL_QUEUE_MAX;
	}
	if (ring->count == ring->capacity)
		return false;
	ring->sites[(ring->head + ring->count++) % ring->capacity] = *site;
	return true;
}

static const struct wire_site *ring_pop(struct pool_ring *ring)
{
	const struct wire_site *site = &ring->sites[ring->head];

	ring->head = (ring->head + 1) % ring->capacity;
	ring->count--;
	return site;
}

static bool pool_in_range(const struct wire_site *site,
			  const struct wire_range *range)
{
	return site->program == range->program &&
	       site->address >= range->start && site->address < range->end;
}

static void ring_forget(struct pool_ring *ring, const struct wire_range *range)
{
	for (size_t n = ring->count; n > 0; n--) {
		struct wire_site site = *ring_pop(ring);

		if (!pool_in_range(&site, range))
			ring_push(ring, &site);
	}
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

static bool pool_has_fired(const struct engine *engine,
			   const struct wire_site *site)
{
	const struct addrspace *space = pool_space(engine, site->program);
	const struct breakpoint *known =
		space ? breakpoint_find(space, site->address) : NULL;

	return known && known->fired;
}

static struct pool_ring *pool_ring_of(struct engine *engine,
				      const struct wire_site *site)
{
	struct pool *pool = &engine->pool;

	bool aimed = site->id & WIRE_AIMED;

	if (site->once)
		return &pool->once;
	/* few places, which those that were hit share already */
	if (engine->execpoints.watch)
		return aimed ? &pool->aimed : &pool->fresh;
	if (aimed)
		return pool_has_fired(engine, site) ? &pool->aimed
						    : &pool->once;
	if (site->id & WIRE_GUIDED)
		return &pool->guided;
	return pool_has_fired(engine, site) ? &pool->fired : &pool->fresh;
}

void pool_queue(struct engine *engine, const struct wire_site *sites,
		size_t count)
{
	for (size_t i = 0; i < count; i++) {
		const struct wire_site *site = &sites[i];

		engine->pool.large |= (site->id & WIRE_ENTRY) != 0;
		engine->pool.aims_once |= (site->id & WIRE_AIMED) != 0;
		if (!ring_push(pool_ring_of(engine, site), site))
			engine_return_site(engine, site->program, site->id,
					   WIRE_LIFTED);
	}
}

/*
 * Where there are few places, or no stall was to be had of a thread that rests,
 * it is kept for another time.
 */
static bool pool_keep(struct engine *engine, const struct wire_site *site,
		      enum pool_hit hit)
{
	bool keeps = engine->execpoints.watch || hit == POOL_HIT_RESTED;

	return keeps && engine->phase == ENGINE_WATCHING &&
	       !(site->id & WIRE_AIMED) &&
	       engine->pool.fired.count < POOL_KEPT_MAX &&
	       ring_push(&engine->pool.fired, site);
}

/* Is its program beginning? */
static bool pool_is_recent(const struct engine *engine,
			   const struct wire_site *site)
{
	const struct addrspace *space = pool_space(engine, site->program);

	return space && onset_is_recent(space->text, clock_now_ns());
}

void pool_fired(struct engine *engine, const struct wire_site *site)
{
	struct pool *pool = &engine->pool;

	for (int i = 0; i < POOL_HOT_MAX; i++) {
		if (pool->hot[i].address == site->address &&
		    pool->hot[i].program == site->program)
			pool->hot[i].address = 0;
	}
	if ((site->id & WIRE_PEEK) && pool->peeks_out > 0)
		pool->peeks_out--;
	if (site->id & WIRE_AIMED)
		pool->aimed_ns = clock_now_ns();
	if (site->once && !(site->id & WIRE_ENTRY)) {
		pool->once_ns = clock_now_ns();
		if (pool_is_recent(engine, site))
			ring_push(&pool->spent, site);
	}
}

void pool_return_fired(struct engine *engine, const struct wire_site *site,
		       enum pool_hit hit)
{
	if (pool_keep(engine, site, hit))
		engine->stats.hits_rested += hit == POOL_HIT_RESTED;
	else
		engine_return_site(engine, site->program, site->id,
				   hit == POOL_HIT_DONE ? WIRE_FIRED
							: WIRE_MISSED);
}

/* How many of the places may be taken by so many threads. */
static size_t pool_places(size_t threads)
{
	size_t places = threads / POOL_THREADS_PER_PLACE;

	if (places == 0)
		return 1;
	return places < POOL_HOT_MAX ? places : POOL_HOT_MAX;
}

/* A free place for a hot location, or NULL. */
static struct pool_hot *pool_place(struct pool *pool, size_t threads,
				   uint64_t now)
{
	for (size_t i = 0; i < pool_places(threads); i++) {
		if (pool->hot[i].address == 0 || now >= pool->hot[i].until_ns)
			return &pool->hot[i];
	}
	return NULL;
}

double pool_rate(const struct engine *engine)
{
	const struct wire_params *params = &engine->pool.params;
	double span = (double)params->rate - params->busy_rate;

	if (params->busy_rate == 0 || span <= 0)
		return params->rate;
	return params->rate - span * budget_use(&engine->load.budget);
}

/* The tokens that the bucket holds at most. */
static double pool_burst(const struct engine *engine)
{
	return pool_rate(engine) / POOL_BURST_PART + 1;
}

static void pool_earn(struct engine *engine, uint64_t now)
{
	struct pool *pool = &engine->pool;
	double most = pool_burst(engine);
	double elapsed;

	/* a caller's clock may have been read before the last one's */
	if (now <= pool->tokens_ns)
		return;
	elapsed = (double)(now - pool->tokens_ns) / CLOCK_NS_PER_S;
	pool->tokens += elapsed * pool_rate(engine);
	pool->arms += elapsed * pool->params.arm_rate;
	if (pool->params.arm_rate == 0 || pool->arms > POOL_BATCH)
		pool->arms = POOL_BATCH;
	pool->tokens_ns = now;
	if (pool->tokens > most)
		pool->tokens = most;
}

/* Does one of --at wait for its turn, or will one be hit soon? */
static bool pool_aims(const struct pool *pool, uint64_t now)
{
	return pool->aimed.count > 0 ||
	       (pool->aimed_ns != 0 && now < pool->aimed_ns + POOL_AIMED_NS);
}

bool pool_take_token(struct engine *engine, const struct wire_site *site,
		     unsigned int loans, uint64_t now)
{
	struct pool *pool = &engine->pool;
	struct budget *budget = &engine->load.budget;
	bool aimed = site->id & WIRE_AIMED;
	bool lends_token = aimed || (loans & POOL_LENDS_TOKEN);
	bool lends_time = aimed ||
			  ((loans & POOL_LENDS_TIME) && !pool_aims(pool, now));

	pool_earn(engine, now);
	budget_earn(budget, now);
	if (lends_time ? !budget_lends(budget) : !budget_affords(budget))
		return false;
	if (site->once)
		return true;
	if (pool->tokens < (lends_token ? 1 - pool_burst(engine) : 1))
		return false;
	pool->tokens -= 1;
	return true;
}

static bool pool_owes(const struct pool *pool, const struct wire_site *site,
		      uint64_t now)
{
	if (wire_site_apart(site) || now >= pool->owed_until_ns)
		return false;
	if (pool_aims(pool, now) &&
	    pool->owed_aimed >= POOL_OWED_MAX * POOL_AIMED)
		return true;
	return !(site->id & WIRE_GUIDED) && pool->guided.count > 0 &&
	       pool->owed >= POOL_OWED_MAX;
}

bool pool_is_seldom(const struct breakpoint *breakpoint, uint64_t now)
{
	return now >= breakpoint->armed_ns + POOL_SELDOM_NS;
}

bool pool_passes(struct pool *pool, const struct breakpoint *breakpoint,
		 uint64_t now)
{
	const struct wire_site *site = &breakpoint->site;
	bool peek = site->id & WIRE_PEEK;

	if (pool_is_seldom(breakpoint, now))
		return false;
	if (!(site->id & WIRE_GUIDED) && !wire_site_apart(site) &&
	    pool->peeks_due > 0 && now < pool->peek_until_ns)
		peek = true;
	pool->peeks_due -= peek && pool->peeks_due > 0;
	return peek || pool_owes(pool, site, now);
}

void pool_stalled(struct pool *pool, const struct wire_site *site, uint64_t now)
{
	const int most = POOL_OWED_MAX * POOL_AIMED;

	pool->peeked = false;
	if (site->id & WIRE_AIMED) {
		pool->owed_aimed -= pool->owed_aimed > -most;
	} else if (pool_aims(pool, now)) {
		pool->owed_aimed += POOL_AIMED;
		if (pool->owed_aimed > most)
			pool->owed_aimed = most;
	}
	if (site->id & WIRE_GUIDED)
		pool->owed -= pool->owed > -POOL_OWED_MAX;
	else if (pool->guided.count > 0 && !(site->id & WIRE_AIMED))
		pool->owed += pool->owed < POOL_OWED_MAX;
	pool->owed_until_ns = now + pool->params.stall_max_ns + POOL_OWED_NS;
}

bool pool_waits_for(struct pool *pool, const struct wire_site *site,
		    uint64_t until_ns)
{
	if (wire_site_apart(site) || (site->id & (WIRE_GUIDED | WIRE_PEEK)) ||
	    until_ns > clock_now_ns() + POOL_REST_NS)
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

/*
 * Have all threads that would trap there again and again left? Is it in
 * nobody's handler of SIGTRAP?
 */
static enum wire_returned_why pool_judge(const struct engine *engine,
					 const struct wire_site *site,
					 bool parked)
{
	enum wire_returned_why why = WIRE_FIRED;

	for (size_t i = 0; i < engine->processes.count; i++) {
		const struct process *process = engine_process_at(engine, i);

		if (!pool_runs(process, site->program))
			continue;
		if (sigstate_in_handler(process, site))
			return WIRE_REFUSED;
		for (size_t j = 0; parked && j < process->threads.count; j++) {
			if (!thread_has_left(process_thread(process, j),
					     site->address))
				why = WIRE_DEFERRED;
		}
	}
	return why;
}

/* Where writes are refused, a thread is stopped for them. */
static struct error *pool_write(struct engine *engine, struct addrspace *space,
				const struct wire_site *site, bool *ret_armed)
{
	struct error *err = NULL;

	for (int i = 0; i < 2; i++) {
		writer_begin(engine, space);
		err = breakpoint_arm(space, site, ret_armed);
		writer_end(space);
		/* that they are refused is known from the first attempt on */
		if (!err || err->kind != ERROR_REFUSED || *ret_armed || i == 1)
			break;
		error_free(err);
	}
	return err;
}

/*
 * Which of two for the same location it is to be: the user's choice goes before
 * any draw, and one that was drawn uniformly before a likely one. The entry of a
 * function is the least: whatever else is hit there tells as much.
 */
static int pool_precedence(const struct wire_site *site)
{
	if (site->id & WIRE_AIMED)
		return 3;
	if (site->id & WIRE_ENTRY)
		return 0;
	return site->id & WIRE_GUIDED ? 1 : 2;
}

/* The site is armed already: it keeps its place, or is replaced. */
static enum wire_returned_why pool_meet(struct engine *engine,
					struct addrspace *space,
					struct breakpoint *known,
					const struct wire_site *site)
{
	if (pool_precedence(site) <= pool_precedence(&known->site))
		return WIRE_LIFTED;
	engine_return_site(engine, site->program, known->site.id, WIRE_LIFTED);
	breakpoint_replace(space, known, site);
	return WIRE_FIRED;
}

/* Why the site was not armed; WIRE_FIRED: it was. */
static enum wire_returned_why pool_try(struct engine *engine,
				       struct addrspace *space,
				       const struct wire_site *site)
{
	struct breakpoint *known = breakpoint_find(space, site->address);
	enum wire_returned_why why;
	bool armed = false;

	if (known && known->armed)
		return pool_meet(engine, space, known, site);
	why = pool_judge(engine, site, known && known->parked > 0);

	if (why == WIRE_DEFERRED)
		engine->stats.arms_deferred++;
	if (why == WIRE_FIRED && space->text->execpoints &&
	    !execpoints_has_room(space->text->execpoints))
		return WIRE_LIFTED;
	if (why == WIRE_FIRED) {
		engine_note(engine, pool_write(engine, space, site, &armed));
		/* text that is not in memory may be there when it has run */
		if (!armed && memory_is_served(&space->memory, site->address,
					       site->insn.length))
			return WIRE_LIFTED;
		why = armed ? WIRE_FIRED : WIRE_REFUSED;
	}
	if (armed) {
		known = breakpoint_find(space, site->address);
		known->armed_ns = clock_now_ns();
		engine->stats.arms++;
		if (engine->stats.first_armed_ns == 0)
			engine->stats.first_armed_ns = known->armed_ns;
	}
	if (why == WIRE_REFUSED)
		engine->stats.arms_refused++;
	return why;
}

/* The same, unless nothing can race with any of those that run it. */
static struct addrspace *pool_racing_space(const struct engine *engine,
					   uint32_t program)
{
	for (size_t i = 0; i < engine->processes.count; i++) {
		const struct process *process = engine_process_at(engine, i);

		if (pool_runs(process, program) &&
		    pool_may_race(engine, process))
			return process->space;
	}
	return NULL;
}

static bool pool_arm(struct engine *engine, const struct wire_site *site)
{
	struct addrspace *space = pool_racing_space(engine, site->program);
	enum wire_returned_why why = space ? pool_try(engine, space, site)
					   : WIRE_IDLE;

	if (why == WIRE_FIRED)
		return true;
	engine_return_site(engine, site->program, site->id, why);
	return false;
}

/*
 * Whose turn it is: those of --at, which need no room in the pool, those drawn
 * uniformly, or those where races are likely. NULL: nobody's.
 */
static struct pool_ring *pool_turn(struct pool *pool, size_t room)
{
	bool others = room > 0 && pool->fired.count + pool->guided.count > 0;
	bool guided = pool->fired.count == 0 ||
		      (pool->guided.count > 0 && !pool->led);

	if (pool->aimed.count > 0 && (pool->aims < POOL_AIMED || !others))
		return &pool->aimed;
	if (!others)
		return NULL;
	return guided ? &pool->guided : &pool->fired;
}

static void pool_had_turn(struct pool *pool, const struct pool_ring *ring)
{
	if (ring == &pool->aimed) {
		pool->aims += pool->aims < POOL_AIMED;
		return;
	}
	pool->aims = 0;
	pool->led = ring == &pool->guided;
}

static void pool_arm_hot(struct engine *engine, uint64_t now, size_t room)
{
	struct pool *pool = &engine->pool;
	uint32_t threads = engine_thread_count(engine);

	for (;;) {
		struct pool_hot *place = pool_place(pool, threads, now);
		struct pool_ring *ring = pool_turn(pool, room);
		struct wire_site site;

		if (!place || !ring)
			return;
		site = *ring_pop(ring);
		if (!pool_arm(engine, &site))
			continue;
		pool_had_turn(pool, ring);
		place->address = site.address;
		place->program = site.program;
		place->until_ns = now + POOL_HOT_NS;
		room -= ring != &pool->aimed;
	}
}

/*
 * How many peeks are paid for: they may cost a part of what stalls do. Where
 * others use the processors that a stall leaves, stalls are cheap, and hits are
 * not.
 */
static uint32_t pool_peeks_paid(struct engine *engine)
{
	struct pool *pool = &engine->pool;
	const struct budget *budget = &engine->load.budget;
	double cost = budget_stop_cost(budget);
	double most = pool->params.peeks * cost;
	uint32_t count;

	if (budget->share <= 0)
		return pool->params.peeks;
	pool->peeks_ns += (double)pool->params.stall_max_ns / 2 * budget->loss /
			  POOL_PEEK_PART;
	if (pool->peeks_ns > most)
		pool->peeks_ns = most;
	count = (uint32_t)(pool->peeks_ns / cost);
	pool->peeks_ns -= count * cost;
	return count;
}

/* Arm some of those that are likely to be hit at once, to learn from. */
static void pool_arm_peeks(struct engine *engine, uint64_t now)
{
	struct pool *pool = &engine->pool;
	uint32_t most = pool_peeks_paid(engine), armed = 0;

	for (uint32_t i = 0; i < most && pool->fired.count > 0; i++) {
		struct wire_site site = *ring_pop(&pool->fired);

		site.id |= WIRE_PEEK;
		armed += pool_arm(engine, &site);
	}
	pool->peeked = true;
	pool->peeks_out = armed;
	pool->peeks_due = most;
	pool->peek_until_ns = now + POOL_PEEK_NS;
}

/* Are there peeks to be waited for? */
static bool pool_peeks(struct engine *engine, uint64_t now)
{
	struct pool *pool = &engine->pool;

	if (!pool->peeked && pool->params.peeks > 0)
		pool_arm_peeks(engine, now);
	if (now >= pool->peek_until_ns)
		pool->peeks_out = 0;
	return pool->peeks_out > 0;
}

static bool pool_may_arm(const struct engine *engine)
{
	if (engine->phase != ENGINE_WATCHING ||
	    engine->stalls.list.count != 0 || engine->pool.params.rate == 0)
		return false;
	for (size_t i = 0; i < engine->processes.count; i++) {
		const struct process *process = engine_process_at(engine, i);

		if (process->role == PROCESS_WATCHED &&
		    pool_may_race(engine, process))
			return true;
	}
	return false;
}

/* Is enough known of every process to set breakpoints in any? */
static bool pool_ready(struct engine *engine, uint64_t now)
{
	bool ready = true;

	for (size_t i = 0; i < engine->processes.count; i++) {
		struct process *process = engine_process_at(engine, i);

		if (process->role == PROCESS_WATCHED &&
		    pool_may_race(engine, process))
			ready &= sigstate_ready(engine, process, now);
	}
	return ready;
}

/* How many more may be armed. */
static size_t pool_room(const struct engine *engine)
{
	size_t armed = engine_armed(engine);
	size_t most = engine->pool.params.pool;

	/* few places, for those of --at too */
	if (engine->execpoints.watch) {
		armed += engine_armed_once(engine);
		if (most > EXECPOINT_MAX)
			most = EXECPOINT_MAX;
	}
	return armed < most ? most - armed : 0;
}

/* The same of fresh ones: those that were hit before find a little room too. */
static size_t pool_room_fresh(const struct engine *engine)
{
	const struct pool *pool = &engine->pool;
	size_t room = pool_room(engine), kept = pool->params.pool / 4;

	if (kept > POOL_HOT_MAX)
		kept = POOL_HOT_MAX;
	if (pool->fired.count + pool->guided.count == 0)
		kept = 0;
	return room > kept ? room - kept : 0;
}

/* As many as may be armed in one go. */
static void pool_arm_fresh(struct engine *engine, size_t room)
{
	struct pool *pool = &engine->pool;
	size_t armed = 0;
	int tries = 0;

	while (tries < (int)pool->arms && pool->fresh.count > 0 &&
	       armed < room) {
		armed += pool_arm(engine, ring_pop(&pool->fresh));
		tries++;
	}
	if (pool->params.arm_rate > 0)
		pool->arms -= tries;
}

/*
 * Is each of `once` armed, whatever it costs? So where a program begins: what
 * its first threads do, they may do only once.
 */
static bool pool_once_is_free(const struct engine *engine, uint64_t now)
{
	const struct wire_params *params = &engine->pool.params;

	return (params->share <= 0 && params->arm_rate == 0) ||
	       engine->onsets > 0 || onset_all_until(engine, now) != 0;
}

/*
 * How many of `once` may be armed now. They may all be hit at once, and each hit
 * costs a stop, whether its stall is paid for or not: as many as are paid for,
 * and no more until it is seen what these came to.
 */
static size_t pool_once_paid(const struct engine *engine, uint64_t now)
{
	const struct budget *budget = &engine->load.budget;
	size_t most = engine->pool.params.arm_rate > 0 ? POOL_ONCE_SLOW
						       : POOL_ONCE_BATCH;
	double count;

	if (pool_once_is_free(engine, now))
		return POOL_ONCE_BATCH;
	if (!budget_affords(budget) || now < engine->pool.once_due_ns)
		return 0;
	count = budget->credit_ns / budget_stop_cost(budget);
	return count < most ? 1 + (size_t)count : most;
}

/*
 * The pause after `armed' breakpoints were set, for which the tracer computed
 * for cpu_ns: where processes are many, each breakpoint is written to several.
 */
static uint64_t pool_once_gap(const struct pool *pool, size_t armed,
			      uint64_t cpu_ns)
{
	const struct wire_params *params = &pool->params;
	uint64_t gap, paid;

	if (params->arm_rate == 0)
		return POOL_ONCE_NS;
	gap = armed * CLOCK_NS_PER_S / params->arm_rate;
	if (params->share <= 0)
		return gap;
	paid = (uint64_t)((double)cpu_ns * POOL_ONCE_SHARE_PART /
			  params->share);
	return gap > paid ? gap : paid;
}

/* When it allows any. */
static uint64_t pool_once_ns(const struct engine *engine, uint64_t now)
{
	uint64_t paid = budget_next_ns(&engine->load.budget);
	uint64_t due = engine->pool.once_due_ns;

	if (engine->pool.aims_once || pool_once_is_free(engine, now))
		return 0;
	return paid > due ? paid : due;
}

/* Those of --at among them do not wait. */
static void pool_arm_once_aimed(struct engine *engine)
{
	struct pool_ring *ring = &engine->pool.once;

	for (size_t n = ring->count; n > 0; n--) {
		struct wire_site site = *ring_pop(ring);

		if (site.id & WIRE_AIMED)
			pool_arm(engine, &site);
		else
			ring_push(ring, &site);
	}
	engine->pool.aims_once = false;
}

/* Beside the pool and without tokens. */
static void pool_arm_once(struct engine *engine, uint64_t now)
{
	struct pool *pool = &engine->pool;
	size_t count = pool_once_paid(engine, now);
	uint64_t begun;

	if (pool->aims_once)
		pool_arm_once_aimed(engine);
	if (count == 0)
		return;
	begun = engine_cpu_ns();
	for (size_t i = 0; i < count && pool->once.count > 0; i++)
		pool_arm(engine, ring_pop(&pool->once));
	if (pool->once.count > 0)
		pool->once_due_ns =
			now +
			pool_once_gap(pool, count, engine_cpu_ns() - begun);
}

/* Locations that were not reached in their time make room for others. */
static void pool_rotate(struct engine *engine, uint64_t now)
{
	const struct execpoint *point;

	while ((point = execpoints_due(&engine->execpoints, now))) {
		const struct program_text *text = point->text;
		struct addrspace *space =
			*(struct addrspace **)vec_at(&text->spaces, 0);
		struct breakpoint *breakpoint =
			breakpoint_find(space, point->address);

		engine_note(engine, breakpoint_lift(space, 0, breakpoint));
		engine_return_site(engine, text->program, breakpoint->site.id,
				   WIRE_LIFTED);
	}
}

/* The same where there are few places: new ones and those hit before. */
static struct pool_ring *pool_turn_untouched(struct pool *pool)
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

static void pool_arm_untouched(struct engine *engine, uint64_t now)
{
	struct pool *pool = &engine->pool;
	size_t room;

	execpoints_set_rate(&engine->execpoints, (uint32_t)pool_rate(engine));
	pool_rotate(engine, now);
	room = pool_room(engine);
	for (int i = 0; i < POOL_BATCH && room > 0; i++) {
		struct pool_ring *ring = pool_turn_untouched(pool);

		if (!ring)
			return;
		room -= pool_arm(engine, ring_pop(ring));
		pool_had_turn(pool, ring);
	}
}

/* Breakpoints of the pool in the program, counted for one of its processes. */
static size_t pool_share(const struct process *process)
{
	const struct program_text *text = process->space->text;

	return process->role == PROCESS_WATCHED && engine_counts_text(process)
		       ? text->armed - text->armed_once
		       : 0;
}

/* Does something wait for room in a full pool? */
static bool pool_is_short(const struct engine *engine)
{
	const struct pool *pool = &engine->pool;

	if (engine->execpoints.watch || pool->params.pool == 0)
		return false;
	if (pool->fired.count + pool->guided.count > 0 &&
	    pool_room(engine) == 0)
		return true;
	return pool->fresh.count > 0 && pool_room_fresh(engine) == 0;
}

/* Lift so many, of all programs in proportion to what is armed in each. */
static void pool_lift_shares(struct engine *engine, size_t most)
{
	size_t armed = engine_armed(engine);

	for (size_t i = 0; i < engine->processes.count && armed > 0; i++) {
		struct process *process = engine_process_at(engine, i);
		size_t share = pool_share(process);

		if (share > 0)
			pool_lift_some(engine, process->space,
				       (share * most + armed - 1) / armed);
	}
}

/* How long after such a change the next may be, by what it took to compute. */
static uint64_t pool_rotate_gap(const struct pool *pool, uint64_t cpu_ns)
{
	double share = pool->params.share > 0 ? pool->params.share
					      : POOL_ANY_SHARE;
	double gap = (double)cpu_ns * POOL_ROTATE_SHARE_PART / share;

	return gap > POOL_ROTATE_NS ? (uint64_t)gap : POOL_ROTATE_NS;
}

/*
 * What nobody has reached for long makes room for what may be reached: most of
 * a large program never runs. Each breakpoint is a write to every process of the
 * program, so where processes are many the pace is slow.
 */
static void pool_make_room(struct engine *engine, uint64_t now)
{
	struct pool *pool = &engine->pool;
	size_t most = pool->params.pool / POOL_ROTATE_PART;
	bool first = pool->rotate_ns == 0;
	uint64_t begun;

	if (!pool_is_short(engine) || now < pool->rotate_ns)
		return;
	pool->rotate_ns = now + POOL_ROTATE_NS;
	/* it has just been filled for the first time */
	if (first)
		return;
	most = most < POOL_ROTATE_MIN ? POOL_ROTATE_MIN : most;
	most = most > POOL_ROTATE_MAX ? POOL_ROTATE_MAX : most;
	begun = engine_cpu_ns();
	pool_lift_shares(engine, most);
	/* to arm others in their place takes about as long */
	pool->rotate_ns =
		now + pool_rotate_gap(pool, 2 * (engine_cpu_ns() - begun));
}

/* To draw others takes time of a processor: rarely where little may be lost. */
static uint64_t pool_give_gap(const struct pool *pool)
{
	double share = pool->params.share;

	if (share <= 0 || share >= POOL_ANY_SHARE)
		return POOL_GIVE_NS;
	return (uint64_t)(POOL_GIVE_NS * POOL_ANY_SHARE / share);
}

/*
 * What waits for room would keep what is hit again and again from being sent:
 * the queue is full. Half of it goes back, to be drawn again.
 */
static void pool_give_back(struct engine *engine, uint64_t now)
{
	struct pool *pool = &engine->pool;
	size_t count = pool->fresh.count / 2;

	if (pool->fired.count > 0 || !pool_is_short(engine) ||
	    now < pool->give_ns)
		return;
	pool->give_ns = now + pool_give_gap(pool);
	for (; count > 0; count--) {
		const struct wire_site *site = ring_pop(&pool->fresh);

		engine_return_site(engine, site->program, site->id,
				   WIRE_LIFTED);
	}
}

/* Is there something to arm now, whatever it costs? Counts what forbids it. */
static bool pool_may_fill(struct engine *engine, uint64_t now,
			  bool *ret_affordable)
{
	struct pool *pool = &engine->pool;
	bool paid = budget_affords(&engine->load.budget);

	*ret_affordable = paid && pool->tokens >= 1;
	if (pool_queued(pool) == 0)
		return false;
	engine->stats.refills++;
	engine->stats.unpaid += !paid;
	engine->stats.over_rate += paid && pool->tokens < 1;
	return now >= pool->retry_ns &&
	       (*ret_affordable || pool->once.count > 0);
}

/* Is there room now for something that waits to be armed? */
static bool pool_has_room(struct engine *engine, uint64_t now, bool affordable)
{
	struct pool *pool = &engine->pool;
	uint32_t threads = engine_thread_count(engine);

	if (pool->once.count > 0 &&
	    (pool->aims_once || pool_once_paid(engine, now) > 0))
		return true;
	if (!affordable)
		return false;
	if (engine->execpoints.watch || pool->params.peeks > 0)
		return true;
	if (pool->fresh.count > 0 && pool_room_fresh(engine) > 0)
		return true;
	if (pool_is_short(engine) &&
	    (now >= pool->rotate_ns || now >= pool->give_ns))
		return true;
	return pool_place(pool, threads, now) &&
	       pool_turn(pool, pool_room(engine));
}

/*
 * While a program begins, what is met again and again would keep threads from
 * what runs once. Until when it does so; 0: it does not.
 */
static uint64_t pool_begins_until(const struct engine *engine, uint64_t now)
{
	const struct pool *pool = &engine->pool;
	uint64_t until = onset_all_until(engine, now);

	if (pool->once_ns != 0 && pool->once_ns + POOL_BEGUN_NS < until)
		until = pool->once_ns + POOL_BEGUN_NS;
	return now < until ? until : 0;
}

static void pool_fill(struct engine *engine, uint64_t now)
{
	struct pool *pool = &engine->pool;
	bool affordable;

	if (!pool_may_arm(engine))
		return;
	pool_earn(engine, now);
	budget_earn(&engine->load.budget, now);
	if (!pool_may_fill(engine, now, &affordable) ||
	    !pool_has_room(engine, now, affordable))
		return;
	if (!pool_ready(engine, now)) {
		pool->retry_ns = now + POOL_RETRY_NS;
		return;
	}
	pool_arm_once(engine, now);
	if (!affordable)
		return;
	if (engine->execpoints.watch) {
		pool_arm_untouched(engine, now);
		return;
	}
	if (now < pool->rest_until_ns) {
		/* only those of --at */
		pool_arm_hot(engine, now, 0);
		return;
	}
	if (pool_peeks(engine, now))
		return;
	pool_make_room(engine, now);
	pool_give_back(engine, now);
	pool_arm_fresh(engine, pool_room_fresh(engine));
	if (pool_begins_until(engine, now) == 0)
		pool_arm_hot(engine, now, pool_room(engine));
}

void pool_refill(struct engine *engine, uint64_t now)
{
	pool_fill(engine, now);
	execpoints_tick(engine);
}

bool pool_rearm_passed(struct pool *pool, const struct wire_site *site,
		       uint64_t now)
{
	struct wire_site again = *site;

	if (again.passed++ == POOL_PASSED_MAX)
		return false;
	pool->retry_ns = now + POOL_PASSED_NS;
	pool->aims_once |= (again.id & WIRE_AIMED) != 0;
	return ring_push(&pool->once, &again);
}

bool pool_waits_once(const struct pool *pool, uint32_t program)
{
	const struct pool_ring *ring = &pool->once;

	for (size_t i = 0; i < ring->count; i++) {
		if (ring->sites[(ring->head + i) % ring->capacity].program ==
		    program)
			return true;
	}
	return false;
}

void pool_forget_spent(struct engine *engine, uint32_t program)
{
	const struct wire_range all = { 0, UINT64_MAX, program };

	ring_forget(&engine->pool.spent, &all);
}

void pool_rearm_spent(struct engine *engine, uint32_t program)
{
	struct pool *pool = &engine->pool;

	for (size_t n = pool->spent.count; n > 0; n--) {
		struct wire_site site = *ring_pop(&pool->spent);

		ring_push(site.program == program ? &pool->once : &pool->spent,
			  &site);
	}
	pool->retry_ns = 0;
	pool_refill(engine, clock_now_ns());
}

/* Take the site with that id out of the ring. */
static bool ring_take(struct pool_ring *ring, uint64_t id,
		      struct wire_site *ret)
{
	bool found = false;

	for (size_t n = ring->count; n > 0; n--) {
		struct wire_site site = *ring_pop(ring);

		if (!found && site.id == id) {
			*ret = site;
			found = true;
		} else {
			ring_push(ring, &site);
		}
	}
	return found;
}

void pool_arm_pair(struct engine *engine, uint64_t id)
{
	struct wire_site site;

	if (ring_take(&engine->pool.fresh, id, &site) ||
	    ring_take(&engine->pool.fired, id, &site) ||
	    ring_take(&engine->pool.guided, id, &site) ||
	    ring_take(&engine->pool.aimed, id, &site))
		pool_arm(engine, &site);
}

/* When a place for a hot location is free again for those that wait for one. */
static uint64_t pool_place_ns(const struct engine *engine, bool room)
{
	const struct pool *pool = &engine->pool;
	size_t places = pool_places(engine_thread_count(engine));
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
static uint64_t pool_not_before_retry(const struct pool *pool, uint64_t ns)
{
	return ns > pool->retry_ns ? ns : pool->retry_ns;
}

/* When there may be more to do for what is not armed once. */
static uint64_t pool_next_sampled_ns(const struct engine *engine, uint64_t now)
{
	const struct pool *pool = &engine->pool;
	bool room = pool_room(engine) > 0;
	bool fresh = pool->fresh.count > 0 && pool_room_fresh(engine) > 0;
	uint64_t next;

	if (!pool_has_sites(pool))
		return UINT64_MAX;
	if (!budget_affords(&engine->load.budget))
		return budget_next_ns(&engine->load.budget);
	if (pool->tokens < 1)
		return pool->tokens_ns +
		       (uint64_t)((1 - pool->tokens) / pool_rate(engine) *
				  CLOCK_NS_PER_S) +
		       1;
	if (pool->peeks_out > 0)
		return pool_not_before_retry(pool, pool->peek_until_ns);
	if (!room && engine->execpoints.watch)
		return pool_not_before_retry(
			pool, execpoints_next_ns(&engine->execpoints));
	if (!engine->execpoints.watch && now < pool->rest_until_ns) {
		next = pool_place_ns(engine, false);
		if (next > pool->rest_until_ns)
			next = pool->rest_until_ns;
		return pool_not_before_retry(pool, next);
	}
	if (engine->execpoints.watch || (fresh && pool->arms >= 1))
		return pool->retry_ns;
	next = pool_begins_until(engine, now);
	if (next == 0)
		next = pool_place_ns(engine, room);
	if (pool_is_short(engine) && pool->rotate_ns < next)
		next = pool->rotate_ns;
	if (fresh) {
		uint64_t arms = pool->tokens_ns + POOL_BATCH / 2 *
							  CLOCK_NS_PER_S /
							  pool->params.arm_rate;

		next = arms < next ? arms : next;
	}
	return pool_not_before_retry(pool, next);
}

uint64_t pool_next_ns(const struct engine *engine)
{
	const struct pool *pool = &engine->pool;
	uint64_t now = clock_now_ns(), once = UINT64_MAX, sampled;

	if (!pool_may_arm(engine))
		return UINT64_MAX;
	if (pool->once.count > 0)
		once = pool_not_before_retry(pool, pool_once_ns(engine, now));
	sampled = pool_next_sampled_ns(engine, now);
	return once < sampled ? once : sampled;
}

void pool_forget(struct engine *engine, const struct wire_range *range)
{
	struct addrspace *space = pool_space(engine, range->program);

	ring_forget(&engine->pool.fresh, range);
	ring_forget(&engine->pool.fired, range);
	ring_forget(&engine->pool.guided, range);
	ring_forget(&engine->pool.aimed, range);
	ring_forget(&engine->pool.once, range);
	ring_forget(&engine->pool.spent, range);
	if (!space)
		return;
	writer_begin(engine, space);
	engine_note(engine, breakpoint_lift_range(space, 0, range->start,
						  range->end, SIZE_MAX, NULL));
	writer_end(space);
	breakpoint_forget_range(space, range->start, range->end);
}

void pool_lift_all(struct engine *engine)
{
	pool_clear(&engine->pool);
	for (size_t i = 0; i < engine->processes.count; i++) {
		struct process *process = engine_process_at(engine, i);

		writer_begin(engine, process->space);
		engine_note(engine,
			    breakpoint_lift_range(process->space, 0, 0,
						  UINT64_MAX, SIZE_MAX, NULL));
		writer_end(process->space);
	}
}
