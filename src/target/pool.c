/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The pool of breakpoints; see pool.h.
 */
#include "target/pool.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/error.h"
#include "target/breakpoint.h"
#include "target/engine.h"
#include "target/sigstate.h"
#include "target/thread.h"

enum {
	POOL_QUEUE_MAX = 8192,
	/* breakpoints set in one go, so that events are not kept waiting */
	POOL_BATCH = 64,
	/* the bucket holds what this part of a second brings */
	POOL_BURST_PART = 20,
	/* not hit for so long, a location that fired once is not hot */
	POOL_RETRY_NS = 500 * 1000,
	POOL_HOT_NS = 2 * 1000 * 1000,
	/* threads for each place for a hot location */
	POOL_THREADS_PER_PLACE = 4,
};

void pool_deinit(struct pool *pool)
{
	free(pool->fresh.sites);
	free(pool->fired.sites);
	memset(pool, 0, sizeof(*pool));
}

static struct addrspace *pool_space(const struct engine *engine)
{
	const struct process *process = engine_process(engine, engine->pid);

	return process ? process->space : NULL;
}

void pool_set_params(struct engine *engine, const struct wire_params *params)
{
	struct addrspace *space = pool_space(engine);
	struct vec ids = VEC_INIT(uint64_t);

	engine->pool.params = *params;
	if (!space || space->armed <= params->pool ||
	    engine->phase != ENGINE_WATCHING)
		return;
	engine_note(engine,
		    breakpoint_lift_range(space, 0, 0, UINT64_MAX,
					  space->armed - params->pool, &ids));
	for (size_t i = 0; i < ids.count; i++)
		engine_return_site(engine, *(uint64_t *)vec_at(&ids, i),
				   WIRE_LIFTED);
	vec_deinit(&ids);
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

static void ring_forget(struct pool_ring *ring, uint64_t start, uint64_t end)
{
	for (size_t n = ring->count; n > 0; n--) {
		struct wire_site site = *ring_pop(ring);

		if (site.address < start || site.address >= end)
			ring_push(ring, &site);
	}
}

void pool_clear(struct pool *pool)
{
	pool->fresh.count = 0;
	pool->fired.count = 0;
	memset(pool->hot, 0, sizeof(pool->hot));
}

void pool_queue(struct engine *engine, const struct wire_site *sites,
		size_t count)
{
	const struct addrspace *space = pool_space(engine);

	for (size_t i = 0; i < count; i++) {
		const struct breakpoint *known =
			space ? breakpoint_find(space, sites[i].address) : NULL;
		struct pool_ring *ring = known && known->fired
						 ? &engine->pool.fired
						 : &engine->pool.fresh;

		if (!ring_push(ring, &sites[i]))
			engine_return_site(engine, sites[i].id, WIRE_LIFTED);
	}
}

void pool_fired(struct pool *pool, uint64_t address)
{
	for (int i = 0; i < POOL_HOT_MAX; i++) {
		if (pool->hot[i].address == address)
			pool->hot[i].address = 0;
	}
}

/* A free place for a hot location, or NULL. */
static struct pool_hot *pool_place(struct pool *pool, size_t threads,
				   uint64_t now)
{
	size_t places = threads / POOL_THREADS_PER_PLACE;

	if (places == 0)
		places = 1;
	for (size_t i = 0; i < places && i < POOL_HOT_MAX; i++) {
		if (pool->hot[i].address == 0 || now >= pool->hot[i].until_ns)
			return &pool->hot[i];
	}
	return NULL;
}

static void pool_earn(struct pool *pool, uint64_t now)
{
	double most = pool->params.rate / (double)POOL_BURST_PART + 1;
	double elapsed;

	/* a caller's clock may have been read before the last one's */
	if (now <= pool->tokens_ns)
		return;
	elapsed = (double)(now - pool->tokens_ns) / CLOCK_NS_PER_S;
	pool->tokens += elapsed * pool->params.rate;
	pool->tokens_ns = now;
	if (pool->tokens > most)
		pool->tokens = most;
}

bool pool_take_token(struct pool *pool, uint64_t now)
{
	pool_earn(pool, now);
	if (pool->tokens < 1)
		return false;
	pool->tokens -= 1;
	return true;
}

/* Have all threads that would trap there again and again left? */
static bool pool_unparked(const struct process *process, uint64_t address)
{
	bool all = true;

	for (size_t i = 0; i < process->threads.count; i++)
		all &= thread_has_left(process_thread(process, i), address);
	return all;
}

static bool pool_arm(struct engine *engine, const struct process *process,
		     const struct wire_site *site)
{
	struct breakpoint *known =
		breakpoint_find(process->space, site->address);
	struct error *err;
	bool armed;

	if (known && known->parked > 0 &&
	    !pool_unparked(process, site->address)) {
		engine->stats.arms_deferred++;
		engine_return_site(engine, site->id, WIRE_DEFERRED);
		return false;
	}
	err = NULL;
	armed = false;
	if (!sigstate_in_handler(process, site))
		err = breakpoint_arm(process->space, site, &armed);
	if (armed) {
		engine->stats.arms++;
		return true;
	}
	engine->stats.arms_refused++;
	engine_note(engine, err);
	engine_return_site(engine, site->id, WIRE_REFUSED);
	return false;
}

static void pool_arm_fired(struct engine *engine, const struct process *process,
			   uint64_t now)
{
	struct pool *pool = &engine->pool;

	while (pool->fired.count > 0 &&
	       process->space->armed < pool->params.pool) {
		struct pool_hot *place =
			pool_place(pool, process->threads.count, now);
		struct wire_site site;

		if (!place)
			return;
		site = *ring_pop(&pool->fired);
		if (!pool_arm(engine, process, &site))
			continue;
		place->address = site.address;
		place->until_ns = now + POOL_HOT_NS;
	}
}

static bool pool_may_arm(const struct engine *engine,
			 const struct process *process)
{
	return engine->phase == ENGINE_WATCHING && process &&
	       process->threads.count > 1 && engine->stalls.list.count == 0 &&
	       engine->pool.params.rate > 0;
}

void pool_refill(struct engine *engine, uint64_t now)
{
	struct process *process = engine_process(engine, engine->pid);
	struct pool *pool = &engine->pool;

	if (!pool_may_arm(engine, process))
		return;
	pool_earn(pool, now);
	if (pool->tokens < 1 || pool_queued(pool) == 0 || now < pool->retry_ns)
		return;
	if (!sigstate_ready(engine, process, now)) {
		pool->retry_ns = now + POOL_RETRY_NS;
		return;
	}
	for (int i = 0; i < POOL_BATCH && pool->fresh.count > 0 &&
			process->space->armed < pool->params.pool;
	     i++)
		pool_arm(engine, process, ring_pop(&pool->fresh));
	pool_arm_fired(engine, process, now);
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
	const struct process *process = engine_process(engine, engine->pid);
	struct wire_site site;

	if (process && (ring_take(&engine->pool.fresh, id, &site) ||
			ring_take(&engine->pool.fired, id, &site)))
		pool_arm(engine, process, &site);
}

uint64_t pool_next_ns(const struct engine *engine)
{
	const struct process *process = engine_process(engine, engine->pid);
	const struct pool *pool = &engine->pool;
	uint64_t next = UINT64_MAX;

	if (!pool_may_arm(engine, process) || pool_queued(pool) == 0 ||
	    process->space->armed >= pool->params.pool)
		return next;
	if (pool->tokens < 1)
		return pool->tokens_ns +
		       (uint64_t)((1 - pool->tokens) / pool->params.rate *
				  CLOCK_NS_PER_S) +
		       1;
	if (pool->fresh.count > 0)
		return pool->retry_ns;
	for (int i = 0; i < POOL_HOT_MAX; i++) {
		if (pool->hot[i].address != 0 && pool->hot[i].until_ns < next)
			next = pool->hot[i].until_ns;
	}
	return next;
}

void pool_forget(struct engine *engine, uint64_t start, uint64_t end)
{
	struct addrspace *space = pool_space(engine);

	ring_forget(&engine->pool.fresh, start, end);
	ring_forget(&engine->pool.fired, start, end);
	if (!space)
		return;
	engine_note(engine, breakpoint_lift_range(space, 0, start, end,
						  SIZE_MAX, NULL));
	breakpoint_forget_range(space, start, end);
}

void pool_lift_all(struct engine *engine)
{
	pool_clear(&engine->pool);
	for (size_t i = 0; i < engine->processes.count; i++) {
		struct process *process = engine_process_at(engine, i);

		engine_note(engine,
			    breakpoint_lift_range(process->space, 0, 0,
						  UINT64_MAX, SIZE_MAX, NULL));
	}
}
