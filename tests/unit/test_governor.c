/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The pool against simulated programs: each has locations reached so many
 * times a second, and a pool of n breakpoints drawn evenly from them.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/clock.h"
#include "schedule/budget.h"
#include "schedule/governor.h"

enum { TICK_NS = 20000000, TICKS_PER_S = 50 };

/*
 * `per_site` hits a second on each armed breakpoint (a cold program has few),
 * `sites` locations in all. Fractions of hits are carried over. A hit that can
 * be paid is a stall, of which so much is lost; any other costs a stop.
 */
struct program {
	double per_site;
	uint64_t sites;
	double hits, samples;
	uint64_t now_ns;
	double stall_ns;
	struct budget budget;
	double worst_ns; /* lost in any second */
};

enum { STALL_NS = 500000 };

static void start(struct governor *governor, uint32_t rate, double share)
{
	const struct governor_budget budget = { .rate = rate,
						.share = share,
						.stall_max_ns = 2 * STALL_NS };

	governor_init(governor, &budget, 0);
}

/* So many hits, one after the other, in the time of a tick. */
static void program_hit(struct program *program, double hits)
{
	uint64_t begun = program->now_ns;

	for (int i = 0; i < (int)hits; i++) {
		budget_earn(&program->budget,
			    begun + (uint64_t)i * TICK_NS / (uint64_t)hits);
		if (!budget_affords(&program->budget)) {
			budget_spend_stop(&program->budget);
			continue;
		}
		budget_spend_held(&program->budget,
				  (uint64_t)program->stall_ns);
		program->samples++;
	}
}

/* Run for so many seconds; returns the hits of the last one. */
static double program_run(struct program *program, struct governor *governor,
			  int seconds)
{
	double before = 0, lost_before = program->budget.lost_ns;

	for (int i = 0; i < seconds * TICKS_PER_S; i++) {
		struct governor_state state;
		uint64_t armed = governor->pool < program->sites
					 ? governor->pool
					 : program->sites;

		double hits = program->hits +
			      (double)armed * program->per_site / TICKS_PER_S;

		if (i == (seconds - 1) * TICKS_PER_S)
			before = program->hits;
		if (i % TICKS_PER_S == 0)
			lost_before = program->budget.lost_ns;
		program_hit(program, floor(hits) - floor(program->hits));
		program->hits = hits;
		if (program->budget.lost_ns - lost_before > program->worst_ns)
			program->worst_ns =
				program->budget.lost_ns - lost_before;
		program->now_ns += TICK_NS;
		state = (struct governor_state){
			.now_ns = program->now_ns,
			.hits = (uint64_t)program->hits,
			.samples = (uint64_t)program->samples,
			.lost_ns = (uint64_t)program->budget.lost_ns,
			.lost_cpu_ns = (uint64_t)program->budget.lost_cpu_ns,
			.armed = (uint32_t)armed,
			.sites = program->sites,
		};
		governor_tick(governor, &state);
	}
	return program->hits - before;
}

static void reaches_the_rate_from_below(void **state)
{
	struct program program = { .per_site = 0.1, .sites = 1000000 };
	struct governor governor;
	double hits;

	(void)state;
	start(&governor, 1000, 0);
	hits = program_run(&program, &governor, 10);
	assert_true(hits > 500 && hits < 2000);
}

static void reaches_the_rate_from_above(void **state)
{
	struct program program = { .per_site = 500, .sites = 1000000 };
	struct governor governor;
	double hits;

	(void)state;
	start(&governor, 1000, 0);
	hits = program_run(&program, &governor, 5);
	assert_true(hits >= 500 && hits <= 2000);
}

/* Of a rate of 50: half of them are enough, but where each is wanted. */
static void hits_are_few_sooner_where_little_may_be_lost(void **state)
{
	static const struct {
		double share, hits;
		bool few;
	} rows[] = {
		{ 0.4, 24, true },  { 0.4, 26, false },	 { 0, 26, false },
		{ 0.02, 44, true }, { 0.02, 46, false }, { 0.02, 0, false },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct governor governor;

		start(&governor, 50, rows[i].share);
		governor.hits_per_s = rows[i].hits;
		assert_int_equal(governor_has_few(&governor), rows[i].few);
	}
}

/* What the tracer allows takes the place of what it was told. */
static void follows_the_rate_that_is_allowed_now(void **state)
{
	struct governor_state tick = { .now_ns = CLOCK_NS_PER_S,
				       .hits = 20,
				       .rate = 25 };
	struct governor governor;

	(void)state;
	start(&governor, 50, 0);
	assert_true(governor.wanted == 50);
	governor_tick(&governor, &tick);
	assert_true(governor.wanted == 25);
	assert_false(governor_has_few(&governor));
	/* at once, before it can tell anything else */
	tick.rate = 40;
	tick.now_ns++;
	governor_tick(&governor, &tick);
	assert_true(governor.wanted == 40);
	assert_false(governor_spends_all(&governor));
}

/* Three quarters of the share were spent: a sample costs less than was thought. */
static void what_is_not_spent_lowers_the_cost(void **state)
{
	struct governor_state tick = { .now_ns = CLOCK_NS_PER_S, .hits = 20 };
	struct governor governor;
	double before;

	(void)state;
	start(&governor, 1000, 0.02);
	before = governor.cost_ns;
	tick.lost_ns = CLOCK_NS_PER_S * 3 / 200;
	governor_tick(&governor, &tick);
	assert_float_equal(governor.cost_ns, before * 0.75, 1);
	/* as good as all of it */
	tick.lost_ns += CLOCK_NS_PER_S * 19 / 1000;
	tick.now_ns += CLOCK_NS_PER_S;
	tick.hits += 20;
	governor_tick(&governor, &tick);
	assert_float_equal(governor.cost_ns, before * 0.75, 1);
}

/* Stalls of nearly nothing: a sample is not taken to cost nearly nothing. */
static void a_sample_costs_something(void **state)
{
	struct governor_state tick = { .now_ns = CLOCK_NS_PER_S,
				       .hits = 10000,
				       .samples = 10000,
				       .lost_ns = CLOCK_NS_PER_S / 50,
				       .lost_cpu_ns = CLOCK_NS_PER_S / 50 - 1 };
	struct governor governor;

	(void)state;
	start(&governor, 1000, 0.02);
	governor_tick(&governor, &tick);
	assert_true(governor.cost_ns == 10000);
}

static void too_many_hits_are_cut_within_a_fifth_of_a_second(void **state)
{
	struct program program = { .per_site = 5000, .sites = 1000000 };
	struct governor governor;
	struct governor_state tick = { .armed = 128, .sites = 1000000 };

	(void)state;
	start(&governor, 1000, 0);
	for (int i = 0; i < 10; i++) {
		program.hits += governor.pool * program.per_site / TICKS_PER_S;
		tick.now_ns += TICK_NS;
		tick.hits = (uint64_t)program.hits;
		governor_tick(&governor, &tick);
	}
	assert_int_equal(governor.pool, GOVERNOR_POOL_MIN);
}

static void a_small_program_is_armed_whole_and_no_more(void **state)
{
	struct program program = { .per_site = 0.01, .sites = 300 };
	struct governor governor;

	(void)state;
	start(&governor, 1000, 0);
	program_run(&program, &governor, 5);
	assert_int_equal(governor.pool, 300);
}

static void a_cold_program_stays_below_the_maximum(void **state)
{
	struct program program = { .per_site = 0, .sites = 10000000 };
	struct governor governor;

	(void)state;
	start(&governor, 1000, 0);
	program_run(&program, &governor, 20);
	assert_int_equal(governor.pool, GOVERNOR_POOL_MAX);
}

static void a_pool_not_yet_armed_does_not_grow(void **state)
{
	struct governor governor;
	struct governor_state tick = { .armed = 10, .sites = 100000 };

	(void)state;
	start(&governor, 1000, 0);
	for (int i = 0; i < 100; i++) {
		tick.now_ns += TICK_NS;
		governor_tick(&governor, &tick);
	}
	assert_int_equal(governor.pool, GOVERNOR_POOL_START);
}

static void a_change_of_phase_is_followed_both_ways(void **state)
{
	struct program program = { .per_site = 10, .sites = 1000000 };
	struct governor governor;
	double hits;

	(void)state;
	start(&governor, 1000, 0);
	program_run(&program, &governor, 5);
	program.per_site = 0.05;
	hits = program_run(&program, &governor, 5);
	assert_true(hits > 500 && hits < 2000);
	program.per_site = 200;
	hits = program_run(&program, &governor, 5);
	assert_true(hits > 500 && hits < 2000);
}

static void low_rates_are_kept_too(void **state)
{
	struct program program = { .per_site = 3, .sites = 1000000 };
	struct governor governor;
	double before;

	(void)state;
	start(&governor, 10, 0);
	program_run(&program, &governor, 20);
	before = program.hits;
	program_run(&program, &governor, 60);
	assert_true((program.hits - before) / 60 > 4);
	assert_true((program.hits - before) / 60 < 20);
}

/* Hits follow the pool late: it must settle, not swing by two for ever. */
static void the_pool_settles(void **state)
{
	struct program program = { .per_site = 1, .sites = 1000000 };
	struct governor governor;
	uint32_t low = UINT32_MAX, high = 0;

	(void)state;
	start(&governor, 1000, 0);
	program_run(&program, &governor, 10);
	for (int i = 0; i < 20; i++) {
		program_run(&program, &governor, 1);
		low = governor.pool < low ? governor.pool : low;
		high = governor.pool > high ? governor.pool : high;
	}
	assert_true(low >= 700 && high <= 1400);
}

static void rate_0_arms_nothing(void **state)
{
	struct program program = { .per_site = 3, .sites = 1000000 };
	struct governor governor;

	(void)state;
	start(&governor, 0, 0);
	program_run(&program, &governor, 2);
	assert_int_equal(governor.pool, 0);
}

static void hits_before_a_restart_do_not_count(void **state)
{
	struct governor governor;
	const struct governor_state then = { .now_ns = CLOCK_NS_PER_S,
					     .hits = 1000000 };
	struct governor_state tick = { .now_ns = CLOCK_NS_PER_S + TICK_NS,
				       .hits = 1000001,
				       .armed = 128,
				       .sites = 1000000 };

	(void)state;
	start(&governor, 1000, 0);
	governor_restart(&governor, &then);
	assert_true(governor_tick(&governor, &tick) > GOVERNOR_POOL_START);
}

/* A program with a budget of so much of its time, and no limit of hits. */
static void spend(struct program *program, struct governor *governor,
		  double share)
{
	program->stall_ns = STALL_NS;
	budget_init(&program->budget);
	budget_set_share(&program->budget, share);
	start(governor, 20000, share);
}

static void the_share_of_time_is_reached_and_kept(void **state)
{
	struct program program = { .per_site = 2, .sites = 1000000 };
	struct governor governor;
	double before;

	(void)state;
	spend(&program, &governor, 0.02);
	program_run(&program, &governor, 2);
	before = program.budget.lost_ns;
	for (int i = 0; i < 10; i++)
		program_run(&program, &governor, 1);
	assert_true(program.budget.lost_ns - before > 0.015 * 10e9);
	assert_true(program.budget.lost_ns - before < 0.021 * 10e9);
	assert_true(program.worst_ns < 0.027 * 1e9);
	assert_true(governor_spends_all(&governor));
}

/* What is not paid is not armed for: few hits are stops without a stall. */
static void breakpoints_are_not_spent_on_what_cannot_be_paid(void **state)
{
	struct program program = { .per_site = 5, .sites = 1000000 };
	struct governor governor;
	double hits, samples;

	(void)state;
	spend(&program, &governor, 0.02);
	program_run(&program, &governor, 5);
	hits = program.hits;
	samples = program.samples;
	program_run(&program, &governor, 10);
	assert_true(program.samples - samples > 250);
	assert_true(program.hits - hits < 1.5 * (program.samples - samples));
}

/* Cold, then a thousand times hotter with all that is armed, and back. */
static void a_burst_is_over_at_once_and_forgotten_soon(void **state)
{
	struct program program = { .per_site = 0.01, .sites = 1000000 };
	struct governor governor;
	double before;

	(void)state;
	spend(&program, &governor, 0.02);
	program_run(&program, &governor, 20);
	program.per_site = 10;
	program.worst_ns = 0;
	program_run(&program, &governor, 3);
	/* the hits of one tick are stops, if nothing else */
	assert_true(program.worst_ns < 0.1 * 1e9);
	program.worst_ns = 0;
	program_run(&program, &governor, 5);
	assert_true(program.worst_ns < 0.03 * 1e9);
	program.per_site = 0.05;
	program_run(&program, &governor, 5);
	before = program.budget.lost_ns;
	program_run(&program, &governor, 5);
	assert_true(program.budget.lost_ns - before > 0.01 * 5e9);
}

/* Stalls that get shorter are stalls that may be more. */
static void a_cheaper_sample_is_taken_more_often(void **state)
{
	struct program program = { .per_site = 1, .sites = 1000000 };
	struct governor governor;
	double dear, cheap;

	(void)state;
	spend(&program, &governor, 0.05);
	program_run(&program, &governor, 5);
	dear = program.samples;
	program_run(&program, &governor, 5);
	dear = program.samples - dear;
	program.stall_ns = STALL_NS / 5.0;
	program_run(&program, &governor, 5);
	cheap = program.samples;
	program_run(&program, &governor, 5);
	cheap = program.samples - cheap;
	assert_true(cheap > 3 * dear);
}

static void of_two_budgets_the_smaller_holds(void **state)
{
	struct program program = { .per_site = 1, .sites = 1000000 };
	struct governor governor;
	double hits;

	(void)state;
	spend(&program, &governor, 0.5);
	start(&governor, 20, 0.5);
	hits = program_run(&program, &governor, 30);
	assert_true(hits >= 5 && hits <= 40);
	assert_false(governor_spends_all(&governor));
}

/* Two hits a second, all armed: only longer stalls spend the share. */
static void stalls_are_longer_where_hits_are_few(void **state)
{
	struct program program = { .per_site = 0.01, .sites = 200 };
	const struct governor_budget budget = { .rate = 1000,
						.share = 0.4,
						.stall_max_ns = 2 * STALL_NS,
						.stretch_max = 4 };
	struct governor governor;

	(void)state;
	spend(&program, &governor, 0.4);
	governor_init(&governor, &budget, 0);
	assert_true(governor.stretch == 1);
	program_run(&program, &governor, 20);
	assert_true(governor.stretch == 4);
	/* and hits that are many make them short again */
	program.per_site = 100;
	program_run(&program, &governor, 20);
	assert_true(governor.stretch < 1.5);
}

/* A burst of computing, as at the start, is not taken for the price of stalls. */
static void what_is_computed_does_not_make_samples_dear(void **state)
{
	struct program program = { .per_site = 1, .sites = 1000000 };
	struct governor governor;
	double samples;

	(void)state;
	spend(&program, &governor, 0.4);
	budget_learn_competition(&program.budget, 2, 2, 0, 0);
	program_run(&program, &governor, 1);
	budget_spend_cpu(&program.budget, CLOCK_NS_PER_S);
	program_run(&program, &governor, 3);
	samples = program.samples;
	program_run(&program, &governor, 5);
	/* 0.4 s of stalls of 0.5 ms, in each second */
	assert_true(program.samples - samples > 0.7 * 5 * 800);
}

/* Stalls that were dear once, on a busy machine, and are cheap again. */
static void few_dear_samples_are_soon_forgotten(void **state)
{
	struct program program = { .per_site = 1, .sites = 1000000 };
	struct governor governor;
	double samples;

	(void)state;
	spend(&program, &governor, 0.4);
	program.stall_ns = 100e6;
	program_run(&program, &governor, 5);
	program.stall_ns = STALL_NS;
	program_run(&program, &governor, 15);
	samples = program.samples;
	program_run(&program, &governor, 5);
	assert_true(program.samples - samples > 0.7 * 5 * 800);
}

static void it_begins_low(void **state)
{
	struct governor governor;

	(void)state;
	start(&governor, 20000, 0.02);
	assert_in_range(governor.pool, GOVERNOR_POOL_LOW, 50);
	start(&governor, 1000, 0);
	assert_int_equal(governor.pool, GOVERNOR_POOL_START);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reaches_the_rate_from_below),
		cmocka_unit_test(reaches_the_rate_from_above),
		cmocka_unit_test(hits_are_few_sooner_where_little_may_be_lost),
		cmocka_unit_test(follows_the_rate_that_is_allowed_now),
		cmocka_unit_test(what_is_not_spent_lowers_the_cost),
		cmocka_unit_test(a_sample_costs_something),
		cmocka_unit_test(
			too_many_hits_are_cut_within_a_fifth_of_a_second),
		cmocka_unit_test(a_small_program_is_armed_whole_and_no_more),
		cmocka_unit_test(a_cold_program_stays_below_the_maximum),
		cmocka_unit_test(a_pool_not_yet_armed_does_not_grow),
		cmocka_unit_test(a_change_of_phase_is_followed_both_ways),
		cmocka_unit_test(low_rates_are_kept_too),
		cmocka_unit_test(the_pool_settles),
		cmocka_unit_test(rate_0_arms_nothing),
		cmocka_unit_test(hits_before_a_restart_do_not_count),
		cmocka_unit_test(the_share_of_time_is_reached_and_kept),
		cmocka_unit_test(
			breakpoints_are_not_spent_on_what_cannot_be_paid),
		cmocka_unit_test(a_burst_is_over_at_once_and_forgotten_soon),
		cmocka_unit_test(a_cheaper_sample_is_taken_more_often),
		cmocka_unit_test(of_two_budgets_the_smaller_holds),
		cmocka_unit_test(stalls_are_longer_where_hits_are_few),
		cmocka_unit_test(what_is_computed_does_not_make_samples_dear),
		cmocka_unit_test(few_dear_samples_are_soon_forgotten),
		cmocka_unit_test(it_begins_low),
	};

	return cmocka_run_group_tests_name("governor", tests, NULL, NULL);
}
