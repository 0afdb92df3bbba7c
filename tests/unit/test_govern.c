/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What the governor is told of the tracer's counters, and what comes of it.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "driven.h"

#include "base/clock.h"
#include "tracer/govern.h"

static void work_write(struct arena *arena, struct lane *lane)
{
	do_write(&arena->data[lane - arena->lanes], lane->done + 1);
}

static struct driven *start(double share)
{
	lane_work *const work[] = { work_write, work_write };
	const struct wire_params params = { .rate = 1000,
					    .share = share,
					    .stall_max_ns = CLOCK_NS_PER_MS,
					    .stretch_max = 1 };
	struct driven *driven;

	driven_plan(work, 2);
	driven = driven_start(&watch_by_value);
	govern_begin(&driven->engine.govern, &params);
	return driven;
}

/* One second later. */
static void tick(struct driven *driven)
{
	struct engine *engine = &driven->engine;

	govern_tick(&engine->govern,
		    engine->govern.governor.since_ns + CLOCK_NS_PER_S);
	arm_shrink(engine);
}

static void the_parameters_are_its_budgets(void **state)
{
	struct driven *driven = start(0.25);
	const struct engine *engine = &driven->engine;

	(void)state;
	assert_int_equal(engine->govern.governor.budget.rate, 1000);
	assert_true(engine->govern.governor.budget.share == 0.25);
	assert_int_equal(engine->govern.governor.budget.stall_max_ns,
			 CLOCK_NS_PER_MS);
	assert_int_equal(engine->pool.params.rate, 1000);
	assert_true(engine->load.budget.share == 0.25);
	driven_end(driven);
}

static void
too_many_hits_make_the_pool_smaller_and_lift_what_is_armed(void **state)
{
	struct driven *driven = start(0);
	struct engine *engine = &driven->engine;
	struct wire_site sites[] = { site_at(site_write, 1),
				     site_at(site_read, 2),
				     site_at(site_add, 3) };

	(void)state;
	for (int i = 0; i < 3; i++)
		driven_arm(driven, &sites[i]);
	engine->govern.governor.pool = GOVERNOR_POOL_MIN;
	engine->core.stats.hits = 100000;
	tick(driven);
	assert_int_equal(engine->govern.governor.pool, GOVERNOR_POOL_MIN);
	assert_int_equal(core_armed(&engine->core), GOVERNOR_POOL_MIN);
	driven_listen(driven);
	assert_int_equal(driven->returned_count, 3 - GOVERNOR_POOL_MIN);
	driven_end(driven);
}

/* Hits at locations armed beside the pool say nothing of its size. */
static void hits_beside_the_pool_do_not_count(void **state)
{
	struct driven *driven = start(0.5);
	struct engine *engine = &driven->engine;
	uint32_t pool = engine->govern.governor.pool;

	(void)state;
	engine->core.stats.hits = 100000;
	engine->core.stats.hits_once = 50000;
	engine->core.stats.hits_private = 30000;
	engine->core.stats.hits_rested = 20000;
	tick(driven);
	assert_true(engine->govern.governor.pool >= pool);
	assert_true(engine->govern.governor.hits_per_s == 0);
	driven_end(driven);
}

static void an_exec_begins_a_new_window(void **state)
{
	struct driven *driven = start(0);
	struct engine *engine = &driven->engine;

	(void)state;
	engine->core.stats.hits = 100000;
	govern_restart(&engine->govern);
	tick(driven);
	assert_true(engine->govern.governor.hits_per_s == 0);
	driven_end(driven);
}

/* No more breakpoints are wanted than there are sites. */
static void the_supply_limits_the_pool(void **state)
{
	struct driven *driven = start(0);
	struct engine *engine = &driven->engine;
	const struct wire_supply supply = { .sites = 130 };

	(void)state;
	govern_supplied(&engine->govern, &supply, sizeof(supply) - 1);
	assert_int_equal(engine->govern.supply, 0);
	govern_supplied(&engine->govern, &supply, sizeof(supply));
	assert_int_equal(engine->govern.supply, 130);
	engine->govern.governor.pool = 100;
	for (int i = 0; i < 10; i++) {
		/* as if all of it were armed */
		tracees_process_at(&engine->core.tracees, 0)
			->space->text->armed = engine->govern.governor.pool;
		tick(driven);
	}
	tracees_process_at(&engine->core.tracees, 0)->space->text->armed = 0;
	assert_int_equal(engine->govern.governor.pool, 130);
	driven_end(driven);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_parameters_are_its_budgets),
		cmocka_unit_test(
			too_many_hits_make_the_pool_smaller_and_lift_what_is_armed),
		cmocka_unit_test(hits_beside_the_pool_do_not_count),
		cmocka_unit_test(an_exec_begins_a_new_window),
		cmocka_unit_test(the_supply_limits_the_pool),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
