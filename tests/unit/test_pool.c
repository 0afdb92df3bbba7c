/* SPDX-License-Identifier: GPL-3.0-or-later */
/* src/schedule/pool.c: what hits and stalls do to the pool, without a program. */
#include "schedule/pool.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/clock.h"
#include "schedule/budget.h"
#include "schedule/pool-hit.h"

/* A site, and when it was armed. */
struct drawn {
	struct wire_site site;
	uint64_t armed_ns;
};

static void each_kind_of_site_has_its_queue(void **state)
{
	const struct wire_site plain = { .id = 1 },
			       once = { .id = 2, .once = true };
	const struct wire_site aimed = { .id = 3 | WIRE_AIMED };
	const struct wire_site likely = { .id = 4 | WIRE_GUIDED };
	struct pool pool = { .retry_ns = 0 };

	(void)state;
	assert_true(pool_queue(&pool, &plain, false, false));
	assert_true(pool_queue(&pool, &plain, true, false));
	assert_true(pool_queue(&pool, &once, true, false));
	assert_true(pool_queue(&pool, &likely, true, false));
	assert_false(pool.aims_once);
	/* not hit yet: it is armed at once */
	assert_true(pool_queue(&pool, &aimed, false, false));
	assert_true(pool.aims_once);
	assert_true(pool_queue(&pool, &aimed, true, false));
	assert_int_equal(pool.fresh.count, 1);
	assert_int_equal(pool.fired.count, 1);
	assert_int_equal(pool.once.count, 2);
	assert_int_equal(pool.guided.count, 1);
	assert_int_equal(pool.aimed.count, 1);
	assert_int_equal(pool_queued(&pool), 6);
	/* where there are few places there are two kinds */
	assert_true(pool_queue(&pool, &likely, true, true));
	assert_true(pool_queue(&pool, &aimed, false, true));
	assert_int_equal(pool.fresh.count, 2);
	assert_int_equal(pool.aimed.count, 2);
	pool_clear(&pool);
	assert_int_equal(pool_queued(&pool), 0);
	pool_deinit(&pool);
}

/* One that is hit while its program begins is armed again for a new thread. */
static void what_ran_at_the_start_is_queued_again(void **state)
{
	const struct wire_site once = { .id = 2, .once = true, .program = 7 };
	struct pool pool = { .retry_ns = CLOCK_NS_PER_S };

	(void)state;
	pool_fired(&pool, &once, false, 1);
	assert_int_equal(pool.spent.count, 0);
	pool_fired(&pool, &once, true, 1);
	assert_int_equal(pool.spent.count, 1);
	pool_rearm_spent(&pool, 8);
	assert_false(pool_waits_once(&pool, 7));
	pool_rearm_spent(&pool, 7);
	assert_true(pool_waits_once(&pool, 7));
	assert_int_equal(pool.spent.count, 0);
	assert_int_equal(pool.retry_ns, 0);
	pool_deinit(&pool);
}

/*
 * A hit without a stall is armed again some times; one whose stall was short always,
 * and then it may have as many such hits as at first.
 */
static void a_short_stall_is_not_the_last(void **state)
{
	struct wire_site site = { .id = 2, .once = true, .program = 7 };
	struct pool pool = { .retry_ns = 0 };
	int passed = 0;

	(void)state;
	while (pool_rearm_passed(&pool, &site, 1)) {
		site = queue_pop(&pool.once);
		passed++;
	}
	assert_in_range(passed, 1, 10);
	pool_rearm_stalled(&pool, &site, 1000);
	/* its thread must have left it first */
	assert_true(pool.retry_ns > 1000);
	assert_int_equal(pool.once.count, 1);
	site = queue_pop(&pool.once);
	assert_int_equal(site.passed, 0);
	assert_true(site.once);
	pool_deinit(&pool);
}

static void while_it_is_hit_often_the_others_wait(void **state)
{
	struct pool pool = { .params.stall_max_ns = CLOCK_NS_PER_MS };
	const struct wire_site aimed = { .id = 2 | WIRE_AIMED };
	struct drawn other = { .site.id = 1 };
	uint64_t now = CLOCK_NS_PER_S;

	(void)state;
	other.armed_ns = now;
	/* nothing was asked for */
	for (int i = 0; i < 5; i++)
		pool_stalled(&pool, &other.site, now);
	assert_false(pool_passes(&pool, &other.site, other.armed_ns, now));
	/* two ahead of it, but not three */
	pool.aimed_ns = now;
	pool_stalled(&pool, &other.site, now);
	assert_false(pool_passes(&pool, &other.site, other.armed_ns, now));
	pool_stalled(&pool, &other.site, now);
	assert_true(pool_passes(&pool, &other.site, other.armed_ns, now));
	/* four of its own for each of the others */
	for (int i = 0; i < 4; i++) {
		assert_int_equal(pool_passes(&pool, &other.site, other.armed_ns,
					     now),
				 i == 0);
		pool_stalled(&pool, &aimed, now);
	}
	pool_stalled(&pool, &other.site, now);
	assert_true(pool_passes(&pool, &other.site, other.armed_ns, now));
	/* it is not waited for when nobody gets there any more */
	assert_false(pool_passes(&pool, &other.site, other.armed_ns,
				 now + 5 * CLOCK_NS_PER_MS));
	other.armed_ns = now + 25 * CLOCK_NS_PER_MS;
	pool_stalled(&pool, &other.site, now + 25 * CLOCK_NS_PER_MS);
	assert_false(pool_passes(&pool, &other.site, other.armed_ns,
				 now + 25 * CLOCK_NS_PER_MS));
}

static void neither_kind_takes_more_than_its_half(void **state)
{
	struct pool pool = { .params = { .stall_max_ns = 1000 } };
	uint64_t now = CLOCK_NS_PER_S;
	struct drawn plain = { .site.id = 5, .armed_ns = now };
	struct drawn likely = { .site.id = 5 | WIRE_GUIDED, .armed_ns = now };

	(void)state;
	/* nobody waits */
	for (int i = 0; i < 10; i++)
		pool_stalled(&pool, &plain.site, now);
	assert_false(pool_passes(&pool, &plain.site, plain.armed_ns, now));
	pool.guided.count = 1;
	for (int i = 0; i < 10; i++)
		pool_stalled(&pool, &plain.site, now);
	assert_true(pool_passes(&pool, &plain.site, plain.armed_ns, now));
	assert_false(pool_passes(&pool, &likely.site, likely.armed_ns, now));
	/* it is not met: the others go on */
	plain.armed_ns = now + CLOCK_NS_PER_S;
	assert_false(pool_passes(&pool, &plain.site, plain.armed_ns,
				 now + CLOCK_NS_PER_S));
	pool_stalled(&pool, &likely.site, now);
	assert_false(pool_passes(&pool, &plain.site, plain.armed_ns, now));
}

static void a_location_reached_seldom_is_stalled(void **state)
{
	uint64_t now = CLOCK_NS_PER_S, later = now + CLOCK_NS_PER_S / 50;
	struct drawn probe = { .site.id = 5 | WIRE_PROBE, .armed_ns = now };
	struct drawn plain = { .site.id = 5, .armed_ns = now };
	struct pool pool = {
		.params.stall_max_ns = CLOCK_NS_PER_S,
		.probes_due = 1,
		.probe_until_ns = 2 * later,
	};

	(void)state;
	assert_false(pool_passes(&pool, &probe.site, probe.armed_ns, later));
	assert_false(pool_passes(&pool, &plain.site, plain.armed_ns, later));
	assert_true(pool_passes(&pool, &probe.site, probe.armed_ns, now));
	pool.guided.count = 1;
	for (int i = 0; i < 10; i++)
		pool_stalled(&pool, &plain.site, now);
	assert_true(pool_passes(&pool, &plain.site, plain.armed_ns, now));
	assert_false(pool_passes(&pool, &plain.site, plain.armed_ns, later));
}

static void a_budget_that_is_spent_gives_no_stall(void **state)
{
	const struct wire_site site = { .id = 1 };
	struct budget budget;
	struct pool pool = { .params.rate = 1000, .budget = &budget };

	(void)state;
	budget_init(&budget);
	budget_set_share(&budget, 0.1);
	budget_earn(&budget, CLOCK_NS_PER_S);
	budget_earn(&budget, 2 * CLOCK_NS_PER_S);
	assert_true(pool_take_token(&pool, &site, 0, 2 * CLOCK_NS_PER_S));
	budget_spend_held(&budget, CLOCK_NS_PER_S);
	assert_false(pool_take_token(&pool, &site, 0, 2 * CLOCK_NS_PER_S));
}

static void few_are_sent_ahead_where_breakpoints_are_set_slowly(void **state)
{
	struct wire_params params = { .arm_rate = 0 };

	(void)state;
	assert_int_equal(pool_lacks(&params, 5000, 1000), 4000);
	assert_int_equal(pool_lacks(&params, 1000, 5000), 0);
	params.arm_rate = 400;
	assert_int_equal(pool_lacks(&params, 5000, 1000), 101);
	assert_int_equal(pool_lacks(&params, 1050, 1000), 50);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			few_are_sent_ahead_where_breakpoints_are_set_slowly),
		cmocka_unit_test(each_kind_of_site_has_its_queue),
		cmocka_unit_test(what_ran_at_the_start_is_queued_again),
		cmocka_unit_test(a_short_stall_is_not_the_last),
		cmocka_unit_test(while_it_is_hit_often_the_others_wait),
		cmocka_unit_test(neither_kind_takes_more_than_its_half),
		cmocka_unit_test(a_location_reached_seldom_is_stalled),
		cmocka_unit_test(a_budget_that_is_spent_gives_no_stall),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
