/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Breakpoints of the pool in a live program: its size, its order, its rate, and
 * what it does while a stall runs.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "base/clock.h"
#include "driven.h"
#include "wire/record.h"

static void work_write(struct arena *arena, struct lane *lane)
{
	do_write(&arena->data[lane - arena->lanes], lane->done + 1);
}

static struct driven *start(uint32_t pool, uint32_t rate)
{
	lane_work *const work[] = { work_write, work_write };
	struct driven *driven;

	driven_plan(work, 2);
	driven = driven_start(&watch_by_value);
	driven->engine.govern.governor.pool = pool;
	driven->engine.pool.params.rate = rate;
	/* what is armed stays, except where a test is about that */
	driven->engine.pool.rotate_ns = UINT64_MAX;
	driven->engine.pool.give_ns = UINT64_MAX;
	/* before time matters: all that the signals need is known */
	driven_until(
		driven,
		sigstate_ready(&driven->engine.core.tracees,
			       tracees_process(&driven->engine.core.tracees,
					       driven->pid),
			       false, clock_now_ns()));
	return driven;
}

static struct addrspace *space_of(const struct driven *driven)
{
	return tracees_process(&driven->engine.core.tracees, driven->pid)
		->space;
}

static bool is_armed(const struct driven *driven, const char *label)
{
	const struct breakpoint *breakpoint =
		breakpoint_find(space_of(driven), (uintptr_t)label);

	return breakpoint && breakpoint->armed;
}

static void queue(struct driven *driven)
{
	struct wire_site sites[] = { site_at(site_write, 1),
				     site_at(site_read, 2),
				     site_at(site_add, 3),
				     site_at(site_far, 4) };

	arm_queue(&driven->engine, sites, 4);
}

static void it_is_filled_in_order_up_to_its_size(void **state)
{
	struct driven *driven = start(2, 1000);

	(void)state;
	queue(driven);
	driven_until(driven, space_of(driven)->text->armed == 2);
	driven_turn(driven);
	assert_int_equal(space_of(driven)->text->armed, 2);
	assert_true(is_armed(driven, site_write));
	assert_true(is_armed(driven, site_read));
	assert_int_equal(pool_queued(&driven->engine.pool), 2);
	driven->engine.govern.governor.pool = 3;
	driven_until(driven, space_of(driven)->text->armed == 3);
	assert_true(is_armed(driven, site_add));
	assert_false(is_armed(driven, site_far));
	/* made smaller, it lifts at once, and says what */
	driven->engine.govern.governor.pool = 1;
	arm_shrink(&driven->engine);
	assert_int_equal(space_of(driven)->text->armed, 1);
	driven_listen(driven);
	assert_int_equal(driven->returned_count, 2);
	for (int i = 0; i < 2; i++)
		assert_int_equal(driven->returned[i].why, WIRE_LIFTED);
	driven_end(driven);
}

/* /proc is asked about signals only before a breakpoint is armed. */
static void a_full_pool_asks_for_nothing(void **state)
{
	struct driven *driven = start(2, 1000);
	struct process *process =
		tracees_process(&driven->engine.core.tracees, driven->pid);
	uint64_t later = clock_now_ns() + 100 * CLOCK_NS_PER_S;

	(void)state;
	queue(driven);
	driven_until(driven, space_of(driven)->text->armed == 2);
	process->trap_looked_ns = 1;
	arm_refill(&driven->engine, later);
	assert_int_equal(process->trap_looked_ns, 1);
	driven->engine.govern.governor.pool = 3;
	arm_refill(&driven->engine, later);
	assert_int_not_equal(process->trap_looked_ns, 1);
	driven_end(driven);
}

/* Nobody reaches any of the four: each is armed now and then. */
static void a_full_pool_makes_room_for_what_waits(void **state)
{
	struct driven *driven = start(2, 1000);
	struct pool *pool = &driven->engine.pool;
	struct wire_site never = site_at(site_far, 4);

	(void)state;
	pool->rotate_ns = 0;
	queue(driven);
	driven_until(driven, space_of(driven)->text->armed == 2);
	driven_until(driven, is_armed(driven, site_far));
	driven_listen(driven);
	assert_in_range(driven->returned_count, 2, 3);
	for (int i = 0; i < driven->returned_count; i++) {
		assert_int_equal(driven->returned[i].why, WIRE_LIFTED);
		assert_int_not_equal(driven->returned[i].id, never.id);
	}
	assert_in_range(space_of(driven)->text->armed, 1, 2);
	driven_end(driven);
}

/* Two are armed and two wait, none of which was hit: one of them goes back. */
static void half_of_what_only_waits_goes_back(void **state)
{
	struct driven *driven = start(2, 1000);

	(void)state;
	driven->engine.pool.give_ns = 0;
	queue(driven);
	driven_until(driven, driven->returned_count == 1);
	assert_int_equal(driven->returned[0].why, WIRE_LIFTED);
	assert_int_equal(space_of(driven)->text->armed, 2);
	driven_end(driven);
}

/* What it takes to compute is a small part of what the program may lose. */
static void room_is_made_as_often_as_is_paid_for(void **state)
{
	struct driven *driven = start(2, 1000);
	struct pool *pool = &driven->engine.pool;
	uint64_t before;

	(void)state;
	/* a lift of a microsecond would be seconds, were it not for the rest */
	pool->params.share = 1e-6;
	driven->engine.load.budget.share = 0;
	queue(driven);
	driven_until(driven, space_of(driven)->text->armed == 2);
	pool->rotate_ns = 1;
	before = clock_now_ns();
	driven_until(driven, pool->rotate_ns != 1);
	assert_true(pool->rotate_ns > before + CLOCK_NS_PER_S);
	driven_end(driven);
}

/* The entry of a function gives way to a site, and nobody is stalled there. */
static void an_entry_is_passed_and_told(void **state)
{
	struct driven *driven = start(2, 1000);
	struct wire_site entry = site_at(site_write, 9);
	struct wire_site site = site_at(site_write, 1);

	(void)state;
	entry.id = 9 | WIRE_ENTRY;
	entry.once = true;
	entry.insn = (struct insn_access){ .length = entry.insn.length };
	arm_queue(&driven->engine, &entry, 1);
	driven_until(driven, is_armed(driven, site_write));
	assert_int_equal(space_of(driven)->text->armed_once, 1);
	arm_queue(&driven->engine, &site, 1);
	driven_until(driven, space_of(driven)->text->armed_once == 0);
	assert_true(is_armed(driven, site_write));
	driven_listen(driven);
	assert_int_equal(driven->returned_count, 1);
	assert_true(driven->returned[0].id == entry.id);
	assert_int_equal(driven->returned[0].why, WIRE_LIFTED);
	driven_end(driven);
}

static void a_hit_at_private_memory_is_followed_by_a_pause(void **state)
{
	struct driven *driven = start(2, 1000);
	struct pool *pool = &driven->engine.pool;
	uint64_t now = clock_now_ns();

	(void)state;
	pool->retry_ns = 0;
	pool_found_private(pool, now);
	assert_true(pool->retry_ns > now);
	assert_int_equal(pool->alone_ns, 0);
	/* a longer one is not cut short */
	pool->retry_ns = UINT64_MAX;
	pool_found_private(pool, now);
	assert_true(pool->retry_ns == UINT64_MAX);
	pool->retry_ns = 0;
	driven_end(driven);
}

static void what_a_program_kept_goes_with_it(void **state)
{
	struct driven *driven = start(2, 1000);
	struct pool *pool = &driven->engine.pool;
	struct wire_site site = site_at(site_write, 1);

	(void)state;
	site.once = true;
	startup_of(space_of(driven)->text)->recent_ns = UINT64_MAX;
	arm_fired(&driven->engine, &site);
	arm_return_fired(&driven->engine, &site, POOL_HIT_DONE);
	assert_int_equal(pool->spent.count, 1);
	pool_forget_spent(&driven->engine.pool, site.program + 1);
	assert_int_equal(pool->spent.count, 1);
	pool_forget_spent(&driven->engine.pool, site.program);
	assert_int_equal(pool->spent.count, 0);
	driven_end(driven);
}

static void text_that_differs_comes_back_refused(void **state)
{
	struct wire_site site = site_at(site_write, 7);
	struct driven *driven = start(4, 1000);

	(void)state;
	site.bytes[1] ^= 1;
	arm_queue(&driven->engine, &site, 1);
	driven_until(driven, driven->returned_count == 1);
	assert_int_equal(driven->returned[0].id, 7);
	assert_int_equal(driven->returned[0].why, WIRE_REFUSED);
	assert_int_equal(space_of(driven)->text->armed, 0);
	driven_end(driven);
}

static void with_no_rate_nothing_is_armed(void **state)
{
	struct driven *driven = start(4, 0);

	(void)state;
	queue(driven);
	for (int i = 0; i < 5; i++)
		driven_turn(driven);
	assert_int_equal(space_of(driven)->text->armed, 0);
	assert_int_equal(arm_next_ns(&driven->engine), UINT64_MAX);
	driven_end(driven);
}

static void it_is_not_filled_while_a_stall_runs(void **state)
{
	struct wire_site site = site_at(site_write, 9);
	struct driven *driven = start(4, 1000);

	(void)state;
	driven_arm(driven, &site);
	lane_start(0, 1);
	driven_until(driven, driven->engine.stalls.list.count == 1);
	driven_prolong(driven);
	queue(driven);
	for (int i = 0; i < 5; i++)
		driven_turn(driven);
	assert_int_equal(space_of(driven)->text->armed, 0);
	assert_int_equal(pool_queued(&driven->engine.pool), 4);
	/* but for the second half of a pair */
	arm_pair(&driven->engine, 3);
	assert_true(is_armed(driven, site_add));
	assert_int_equal(space_of(driven)->text->armed, 1);
	arm_pair(&driven->engine, 99);
	assert_int_equal(pool_queued(&driven->engine.pool), 3);
	(*(struct stall **)vec_at(&driven->engine.stalls.list, 0))
		->deadline_ns = 0;
	driven_until(driven, space_of(driven)->text->armed == 4);
	driven_end(driven);
}

static void tokens_come_at_the_rate_and_are_not_hoarded(void **state)
{
	struct engine *engine = calloc(1, sizeof(*engine));
	const struct wire_site site = { .id = 1 };
	const uint64_t second = CLOCK_NS_PER_S;
	int taken = 0;

	(void)state;
	assert_non_null(engine);
	budget_init(&engine->load.budget);
	pool_init(&engine->pool, &engine->load.budget,
		  &engine->govern.governor);
	engine->pool.params.rate = 100;
	/* after an hour: a twentieth of a second's worth, and one */
	while (pool_take_token(&engine->pool, &site, 0, 3600 * second))
		taken++;
	assert_int_equal(taken, 6);
	assert_false(pool_take_token(&engine->pool, &site, 0,
				     3600 * second + second / 200));
	assert_true(pool_take_token(&engine->pool, &site, 0,
				    3600 * second + second / 99));
	/* one at a time for ten seconds: the rate */
	taken = 0;
	for (uint64_t ms = 20; ms < 10020; ms++)
		taken += pool_take_token(&engine->pool, &site, 0,
					 3600 * second + ms * CLOCK_NS_PER_MS);
	assert_in_range(taken, 998, 1002);
	/* one that is seldom reached takes what comes later, within bounds */
	taken = 0;
	while (pool_take_token(&engine->pool, &site, 0, 3700 * second))
		;
	while (pool_take_token(&engine->pool, &site, POOL_LENDS_TOKEN,
			       3700 * second))
		taken++;
	assert_int_equal(taken, 6);
	free(engine);
}

/* All sites as if they had fired before, queued and none armed. */
static void queue_fired(struct driven *driven)
{
	queue(driven);
	driven_until(driven, space_of(driven)->text->armed == 4);
	for (size_t i = 0; i < 4; i++) {
		struct breakpoint *breakpoint = *(struct breakpoint **)vec_at(
			&space_of(driven)->text->breakpoints, i);

		breakpoint->fired = true;
		assert_ok(breakpoint_lift(space_of(driven), 0, breakpoint));
	}
	queue(driven);
}

static void all_armed_at(struct driven *driven, uint64_t now)
{
	const struct vec *known = &space_of(driven)->text->breakpoints;

	for (size_t i = 0; i < known->count; i++)
		(*(struct breakpoint **)vec_at(known, i))->armed_ns = now;
}

static void locations_that_fired_take_turns(void **state)
{
	struct driven *driven = start(4, 1000);
	struct wire_site site = site_at(site_write, 9);
	struct pool *pool = &driven->engine.pool;
	uint64_t now;

	(void)state;
	queue_fired(driven);
	assert_int_equal(pool->fired.count, 4);
	/* two threads: one place; it is kept for a moment */
	now = clock_now_ns();
	pool->tokens = 1;
	arm_refill(&driven->engine, now);
	arm_refill(&driven->engine, now + 1);
	assert_int_equal(space_of(driven)->text->armed, 1);
	assert_true(is_armed(driven, site_write));
	assert_in_range(arm_next_ns(&driven->engine), now + 1,
			now + 100 * CLOCK_NS_PER_MS);
	/* a place of a time when there were more threads is waited for by none */
	pool->hot[POOL_HOT_MAX - 1] =
		(struct pool_hot){ .address = 1, .until_ns = 1 };
	assert_in_range(arm_next_ns(&driven->engine), now + 1,
			now + 100 * CLOCK_NS_PER_MS);
	/* free once it fired */
	arm_fired(&driven->engine, &site);
	arm_return_fired(&driven->engine, &site, POOL_HIT_DONE);
	arm_refill(&driven->engine, now + 2);
	assert_int_equal(space_of(driven)->text->armed, 2);
	assert_true(is_armed(driven, site_read));
	/* or when it turned out not to be hot */
	arm_refill(&driven->engine, now + 100 * CLOCK_NS_PER_MS);
	assert_true(is_armed(driven, site_add));
	assert_int_equal(space_of(driven)->text->armed, 3);
	driven_end(driven);
}

/* Of what a resting thread hit; others have their own ways to come again. */
static void what_a_resting_thread_hit_is_kept(void **state)
{
	struct driven *driven = start(4, 1000);
	struct wire_site site = site_at(site_write, 9);
	struct wire_site others[] = {
		site_at(site_write, 9 | WIRE_GUIDED),
		site_at(site_write, 9 | WIRE_AIMED),
		site_at(site_write, 9 | WIRE_PROBE),
		{ .once = true },
	};
	struct pool *pool = &driven->engine.pool;
	uint64_t now = clock_now_ns();

	(void)state;
	/* it rests for long */
	assert_false(pool_waits_for(pool, &site, UINT64_MAX, clock_now_ns()));
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		assert_false(
			pool_waits_for(pool, &others[i], 1, clock_now_ns()));
	assert_int_equal(pool->rest_until_ns, 0);
	assert_true(pool_waits_for(pool, &site, 2, clock_now_ns()));
	assert_true(pool_waits_for(pool, &site, 1, clock_now_ns()));
	assert_int_equal(pool->rest_until_ns, 2);
	arm_return_fired(&driven->engine, &site, POOL_HIT_MISSED);
	assert_int_equal(pool->fired.count, 0);
	arm_return_fired(&driven->engine, &site, POOL_HIT_RESTED);
	assert_int_equal(pool->fired.count, 1);
	assert_int_equal(driven->engine.core.stats.hits_rested, 1);
	/* it is armed when the thread has rested, and not before */
	pool->rest_until_ns = now + CLOCK_NS_PER_S;
	pool->tokens = 1;
	assert_int_equal(arm_next_ns(&driven->engine), pool->rest_until_ns);
	arm_refill(&driven->engine, now);
	assert_false(is_armed(driven, site_write));
	arm_refill(&driven->engine, pool->rest_until_ns);
	assert_true(is_armed(driven, site_write));
	driven_end(driven);
}

static void a_busy_program_is_sampled_less_often(void **state)
{
	struct driven *driven = start(4, 1000);
	struct budget *budget = &driven->engine.load.budget;

	(void)state;
	assert_true(pool_rate(&driven->engine.pool) == 1000);
	driven->engine.pool.params.busy_rate = 400;
	assert_true(pool_rate(&driven->engine.pool) == 400);
	budget->wall_ns = CLOCK_NS_PER_S;
	budget->cpu_ns = CLOCK_NS_PER_S / 2.0;
	assert_true(pool_rate(&driven->engine.pool) == 700);
	driven_end(driven);
}

static void likely_sites_take_turns_with_the_others(void **state)
{
	struct driven *driven = start(8, 1000);
	struct pool *pool = &driven->engine.pool;
	struct wire_site likely[] = { site_at(site_add, 3 | WIRE_GUIDED),
				      site_at(site_far, 4 | WIRE_GUIDED) };
	uint64_t now;

	(void)state;
	queue_fired(driven);
	arm_queue(&driven->engine, likely, 2);
	assert_int_equal(pool->guided.count, 2);
	now = clock_now_ns();
	for (uint64_t i = 0; i < 4; i++) {
		pool->tokens = 1;
		arm_refill(&driven->engine, now + i * CLOCK_NS_PER_S);
		assert_int_equal(space_of(driven)->text->armed, i + 1);
		assert_int_equal(pool->guided.count, 1 - i / 2);
		assert_int_equal(pool->fired.count, 4 - (i + 1) / 2);
	}
	driven_end(driven);
}

/* A location is armed once, and each of its ids comes back. */
static void a_site_that_is_drawn_both_ways_is_armed_once(void **state)
{
	struct driven *driven = start(8, 1000);
	struct pool *pool = &driven->engine.pool;
	struct wire_site likely = site_at(site_write, 1 | WIRE_GUIDED);
	const struct breakpoint *known;
	uint64_t now;

	(void)state;
	queue_fired(driven);
	likely.seldom = true;
	arm_queue(&driven->engine, &likely, 1);
	now = clock_now_ns();
	pool->tokens = 1;
	arm_refill(&driven->engine, now);
	assert_int_equal(pool->guided.count, 0);
	assert_true(is_armed(driven, site_write));
	pool->tokens = 1;
	arm_refill(&driven->engine, now + CLOCK_NS_PER_S);
	assert_int_equal(space_of(driven)->text->armed, 1);
	driven_listen(driven);
	assert_int_equal(driven->returned_count, 1);
	assert_true(driven->returned[0].id == likely.id);
	assert_int_equal(driven->returned[0].why, WIRE_LIFTED);
	/* and now the other way round */
	arm_queue(&driven->engine, &likely, 1);
	pool->tokens = 1;
	arm_refill(&driven->engine, now + 2 * CLOCK_NS_PER_S);
	driven_listen(driven);
	assert_int_equal(driven->returned_count, 2);
	assert_true(driven->returned[1].id == likely.id);
	known = breakpoint_find(space_of(driven), (uintptr_t)site_write);
	assert_int_equal(known->site.id, 1);
	assert_false(known->site.seldom);
	driven_end(driven);
}

/* Two in a second: the first at once, others each in their time. */
static void where_arming_is_slow_entries_come_slowly(void **state)
{
	struct driven *driven = start(4, 1000);
	struct pool *pool = &driven->engine.pool;
	struct wire_site entries[] = { site_at(site_write, 1 | WIRE_ENTRY),
				       site_at(site_read, 2 | WIRE_ENTRY) };

	(void)state;
	pool->params.arm_rate = 2;
	for (int i = 0; i < 2; i++) {
		entries[i].once = true;
		entries[i].insn =
			(struct insn_access){ .length =
						      entries[i].insn.length };
	}
	arm_queue(&driven->engine, entries, 2);
	driven_until(driven, is_armed(driven, site_write));
	arm_refill(&driven->engine, pool->once_due_ns - 1);
	assert_false(is_armed(driven, site_read));
	assert_true(arm_next_ns(&driven->engine) <= pool->once_due_ns);
	arm_refill(&driven->engine, pool->once_due_ns);
	assert_true(is_armed(driven, site_read));
	driven_end(driven);
}

static void what_the_user_asked_for_is_armed_beside_a_full_pool(void **state)
{
	struct driven *driven = start(1, 1000);
	struct wire_site aimed[] = { site_at(site_far, 4 | WIRE_AIMED),
				     site_at(site_wide, 5 | WIRE_AIMED) };
	size_t armed;

	(void)state;
	queue(driven);
	driven_until(driven, is_armed(driven, site_write));
	/* no token is left, and there is no room */
	driven->engine.pool.tokens = -1;
	arm_queue(&driven->engine, aimed, 2);
	arm_refill(&driven->engine, driven->engine.pool.tokens_ns);
	assert_true(is_armed(driven, site_far));
	assert_true(is_armed(driven, site_wide));
	assert_int_equal(core_armed(&driven->engine.core), 1);
	assert_int_equal(core_armed_once(&driven->engine.core), 2);
	/* a pool made smaller leaves them */
	driven->engine.govern.governor.pool = 0;
	arm_shrink(&driven->engine);
	armed = space_of(driven)->text->armed;
	assert_int_equal(armed, 2);
	driven_end(driven);
}

static void lift_known(struct driven *driven, size_t i)
{
	struct breakpoint *known = *(struct breakpoint **)vec_at(
		&space_of(driven)->text->breakpoints, i);

	if (known->armed)
		assert_ok(breakpoint_lift(space_of(driven), 0, known));
}

/* Lift it as a hit does, and have it come back to the queue. */
static void come_back(struct driven *driven, const struct wire_site *site)
{
	struct breakpoint *known =
		breakpoint_find(space_of(driven), site->address);

	known->fired = true;
	assert_ok(breakpoint_lift(space_of(driven), 0, known));
	arm_fired(&driven->engine, site);
	arm_return_fired(&driven->engine, site, POOL_HIT_DONE);
	arm_queue(&driven->engine, site, 1);
}

static void it_has_four_turns_of_five(void **state)
{
	struct driven *driven = start(8, 1000);
	struct pool *pool = &driven->engine.pool;
	struct wire_site aimed = site_at(site_wide, 5 | WIRE_AIMED);
	uint64_t now;

	(void)state;
	queue_fired(driven);
	arm_queue(&driven->engine, &aimed, 1);
	driven_until(driven, is_armed(driven, site_wide));
	now = clock_now_ns() + CLOCK_NS_PER_S;
	/* the place may have been taken by one of the others meanwhile */
	pool->aims = 0;
	pool->fired.count = 0;
	for (int i = 0; i < 4; i++)
		queue(driven);
	for (uint64_t i = 0; i < 10; i++) {
		size_t others = pool->fired.count;

		if (is_armed(driven, site_wide))
			come_back(driven, &aimed);
		pool->tokens = 1;
		arm_refill(&driven->engine, now + i * CLOCK_NS_PER_S);
		assert_int_equal(is_armed(driven, site_wide), i % 5 != 4);
		assert_int_equal(pool->fired.count < others, i % 5 == 4);
		/* none of the others stays */
		for (size_t j = 0; j < 4; j++)
			lift_known(driven, j);
	}
	driven_end(driven);
}

static void it_takes_the_place_of_a_draw(void **state)
{
	struct driven *driven = start(8, 1000);
	struct wire_site drawn = site_at(site_write, 1);
	struct wire_site aimed = site_at(site_write, 1 | WIRE_AIMED);
	const struct breakpoint *known;

	(void)state;
	arm_queue(&driven->engine, &drawn, 1);
	driven_until(driven, is_armed(driven, site_write));
	arm_queue(&driven->engine, &aimed, 1);
	driven_until(driven, driven->returned_count == 1);
	assert_true(driven->returned[0].id == drawn.id);
	assert_int_equal(driven->returned[0].why, WIRE_LIFTED);
	assert_int_equal(core_armed_once(&driven->engine.core), 1);
	assert_int_equal(core_armed(&driven->engine.core), 0);
	/* and not the other way round */
	arm_queue(&driven->engine, &drawn, 1);
	driven_until(driven, driven->returned_count == 2);
	assert_true(driven->returned[1].id == drawn.id);
	known = breakpoint_find(space_of(driven), (uintptr_t)site_write);
	assert_true(known->site.id == aimed.id);
	driven_end(driven);
}

static void it_may_take_what_the_budgets_bring_later(void **state)
{
	struct engine *engine = calloc(1, sizeof(*engine));
	const struct wire_site drawn = { .id = 1 };
	const struct wire_site aimed = { .id = 2 | WIRE_AIMED };
	const uint64_t hour = 3600 * CLOCK_NS_PER_S;
	int taken = 0;

	(void)state;
	assert_non_null(engine);
	budget_init(&engine->load.budget);
	pool_init(&engine->pool, &engine->load.budget,
		  &engine->govern.governor);
	engine->pool.params.rate = 100;
	while (pool_take_token(&engine->pool, &drawn, 0, hour))
		;
	/* as many again, and no more */
	while (pool_take_token(&engine->pool, &aimed, 0, hour))
		taken++;
	assert_int_equal(taken, 6);
	assert_false(pool_take_token(&engine->pool, &drawn, 0, hour));
	/* of time, a quarter of a second's worth */
	budget_set_share(&engine->load.budget, 0.1);
	engine->pool.tokens = 1;
	budget_spend_held(&engine->load.budget, 20 * CLOCK_NS_PER_MS);
	assert_false(pool_take_token(&engine->pool, &drawn, 0, hour));
	assert_true(pool_take_token(&engine->pool, &aimed, 0, hour));
	/* so may a hit that ends no other stall, unless there is --at */
	engine->pool.tokens = 2;
	assert_true(
		pool_take_token(&engine->pool, &drawn, POOL_LENDS_TIME, hour));
	engine->pool.aimed_ns = hour;
	assert_false(
		pool_take_token(&engine->pool, &drawn, POOL_LENDS_TIME, hour));
	engine->pool.aimed_ns = 0;
	budget_spend_held(&engine->load.budget, 40 * CLOCK_NS_PER_MS);
	assert_false(pool_take_token(&engine->pool, &aimed, 0, hour));
	assert_false(
		pool_take_token(&engine->pool, &drawn, POOL_LENDS_TIME, hour));
	free(engine);
}

static void before_a_stall_a_few_hits_are_only_told(void **state)
{
	struct driven *driven = start(8, 1000);
	struct pool *pool = &driven->engine.pool;
	struct breakpoint known = { .site.id = 5 };
	uint64_t now;

	(void)state;
	queue_fired(driven);
	pool->params.probes = 2;
	now = clock_now_ns();
	pool->tokens = 1;
	arm_refill(&driven->engine, now);
	assert_int_equal(pool->probes_out, 2);
	assert_int_equal(space_of(driven)->text->armed, 2);
	assert_in_range(arm_next_ns(&driven->engine), now + 1,
			now + 100 * CLOCK_NS_PER_MS);
	/* nothing can be done before more is known */
	pool->retry_ns = now + CLOCK_NS_PER_S;
	assert_int_equal(arm_next_ns(&driven->engine), pool->retry_ns);
	pool->retry_ns = 0;
	/* one is hit: told, and nobody is stalled; the other is waited for */
	pool->probe_until_ns = now + 60 * CLOCK_NS_PER_S;
	all_armed_at(driven, now + 60 * CLOCK_NS_PER_S);
	lane_start(0, 1);
	driven_until(driven, lane_idle(0));
	assert_int_equal(driven->passed_count, 1);
	assert_int_equal(driven->sample_count, 0);
	assert_int_equal(driven->engine.core.stats.hits, 0);
	assert_int_equal(pool->probes_out, 1);
	/* but not for ever */
	pool->tokens = 1;
	arm_refill(&driven->engine, now + 61 * CLOCK_NS_PER_S);
	assert_int_equal(pool->probes_out, 0);
	assert_true(space_of(driven)->text->armed > 1);
	/* a hit of another kind does as well, while there is time */
	assert_int_equal(pool->probes_due, 1);
	pool->probe_until_ns = now;
	known.armed_ns = now;
	assert_true(pool_passes(pool, &known.site, known.armed_ns, now - 1));
	assert_int_equal(pool->probes_due, 0);
	assert_false(pool_passes(pool, &known.site, known.armed_ns, now - 1));
	pool->probes_due = 1;
	assert_false(pool_passes(pool, &known.site, known.armed_ns, now));
	driven_end(driven);
}

/* Nobody may come there another time: neither a probe nor another's turn. */
static void where_nobody_else_can_run_less_is_armed(void **state)
{
	struct driven *driven = start(4, 1000);
	struct pool *pool = &driven->engine.pool;
	uint64_t now = clock_now_ns(), first;

	(void)state;
	queue(driven);
	pool_found_alone(pool, true, now);
	first = pool->retry_ns - now;
	assert_in_range(first, 1, CLOCK_NS_PER_MS);
	arm_refill(&driven->engine, now + first - 1);
	assert_int_equal(space_of(driven)->text->armed, 0);
	/* more so each time, up to some milliseconds */
	pool_found_alone(pool, true, now);
	assert_int_equal(pool->retry_ns - now, 2 * first);
	for (int i = 0; i < 100; i++)
		pool_found_alone(pool, true, now);
	assert_in_range(pool->retry_ns - now, 2 * first, 10 * CLOCK_NS_PER_MS);
	/* until somebody can */
	pool_found_alone(pool, false, now);
	pool_found_alone(pool, true, now);
	assert_int_equal(pool->retry_ns - now, first);
	arm_refill(&driven->engine, now + first);
	assert_int_equal(space_of(driven)->text->armed, 4);
	driven_end(driven);
}

static void a_forgotten_range_leaves_queue_and_text(void **state)
{
	struct driven *driven = start(2, 1000);
	struct wire_range range = { .start = (uintptr_t)site_read,
				    .end = (uintptr_t)site_far,
				    .program = 1 };

	(void)state;
	queue(driven);
	driven_until(driven, space_of(driven)->text->armed == 2);
	/* of another program */
	arm_forget(&driven->engine, &range);
	assert_int_equal(space_of(driven)->text->armed, 2);
	range.program = 0;
	arm_forget(&driven->engine, &range);
	assert_true(is_armed(driven, site_write));
	/* what is known of it is kept: a trap may be on its way */
	assert_false(is_armed(driven, site_read));
	assert_int_equal(pool_queued(&driven->engine.pool), 1);
	driven_until(driven, space_of(driven)->text->armed == 2);
	assert_true(is_armed(driven, site_far));
	driven_end(driven);
}

static void more_than_fits_comes_back(void **state)
{
	enum { MANY = 10000 };
	struct wire_site *sites = calloc(MANY, sizeof(*sites));
	struct driven *driven = start(0, 1000);
	size_t back;

	(void)state;
	for (int i = 0; i < MANY; i++) {
		sites[i] = (struct wire_site){ .id = (uint64_t)i + 1 };
		sites[i].insn.length = 1;
	}
	arm_queue(&driven->engine, sites, MANY);
	back = driven->engine.core.returned.count;
	assert_int_equal(pool_queued(&driven->engine.pool) + back, MANY);
	assert_true(back > 0);
	pool_clear(&driven->engine.pool);
	assert_int_equal(pool_queued(&driven->engine.pool), 0);
	driven_end(driven);
	free(sites);
}

/* Nothing is written: a program whose births are under way may be recorded. */
static void what_stands_already_waits_for_nothing(void **state)
{
	struct wire_site first = site_at(site_write, 1 | WIRE_AIMED);
	struct wire_site second = site_at(site_read, 2 | WIRE_AIMED);
	struct driven *driven = start(0, 1000);
	struct engine *engine = &driven->engine;
	const struct underway known = engine->underway;
	enum wire_returned_why why;

	(void)state;
	first.record = second.record = WIRE_RECORD_ACCESS;
	driven_until(driven,
		     (why = arm_standing(engine, &first)) != WIRE_DEFERRED);
	assert_int_equal(why, WIRE_FIRED);
	engine->underway = (struct underway){
		.begun_ns = clock_now_ns(),
		.due_ns = UINT64_MAX,
	};
	assert_int_equal(arm_standing(engine, &first), WIRE_LIFTED);
	assert_int_equal(arm_standing(engine, &second), WIRE_DEFERRED);
	engine->underway = known;
	driven_end(driven);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(it_is_filled_in_order_up_to_its_size),
		cmocka_unit_test(a_full_pool_asks_for_nothing),
		cmocka_unit_test(a_full_pool_makes_room_for_what_waits),
		cmocka_unit_test(half_of_what_only_waits_goes_back),
		cmocka_unit_test(room_is_made_as_often_as_is_paid_for),
		cmocka_unit_test(an_entry_is_passed_and_told),
		cmocka_unit_test(
			a_hit_at_private_memory_is_followed_by_a_pause),
		cmocka_unit_test(what_a_program_kept_goes_with_it),
		cmocka_unit_test(text_that_differs_comes_back_refused),
		cmocka_unit_test(with_no_rate_nothing_is_armed),
		cmocka_unit_test(it_is_not_filled_while_a_stall_runs),
		cmocka_unit_test(tokens_come_at_the_rate_and_are_not_hoarded),
		cmocka_unit_test(locations_that_fired_take_turns),
		cmocka_unit_test(what_a_resting_thread_hit_is_kept),
		cmocka_unit_test(a_busy_program_is_sampled_less_often),
		cmocka_unit_test(likely_sites_take_turns_with_the_others),
		cmocka_unit_test(where_arming_is_slow_entries_come_slowly),
		cmocka_unit_test(a_site_that_is_drawn_both_ways_is_armed_once),
		cmocka_unit_test(
			what_the_user_asked_for_is_armed_beside_a_full_pool),
		cmocka_unit_test(it_has_four_turns_of_five),
		cmocka_unit_test(it_takes_the_place_of_a_draw),
		cmocka_unit_test(it_may_take_what_the_budgets_bring_later),
		cmocka_unit_test(before_a_stall_a_few_hits_are_only_told),
		cmocka_unit_test(where_nobody_else_can_run_less_is_armed),
		cmocka_unit_test(a_forgotten_range_leaves_queue_and_text),
		cmocka_unit_test(more_than_fits_comes_back),
		cmocka_unit_test(what_stands_already_waits_for_nothing),
	};

	return cmocka_run_group_tests_name("pool", tests, NULL, NULL);
}
