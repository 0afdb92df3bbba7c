/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The pool against simulated programs: each has locations reached so many
 * times a second, and a pool of n breakpoints drawn evenly from them.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/clock.h"
#include "detect/governor.h"

enum { TICK_NS = 20000000, TICKS_PER_S = 50 };

/*
 * `per_site` hits a second on each armed breakpoint (a cold program has few),
 * `sites` locations in all. Fractions of hits are carried over.
 */
struct program {
	double per_site;
	uint64_t sites;
	double hits;
	uint64_t now_ns;
};

/* Run for so many seconds; returns the hits of the last one. */
static double program_run(struct program *program, struct governor *governor,
			  int seconds)
{
	double before = 0;

	for (int i = 0; i < seconds * TICKS_PER_S; i++) {
		struct governor_state state;
		uint64_t armed = governor->pool < program->sites
					 ? governor->pool
					 : program->sites;

		if (i == (seconds - 1) * TICKS_PER_S)
			before = program->hits;
		program->hits +=
			(double)armed * program->per_site / TICKS_PER_S;
		program->now_ns += TICK_NS;
		state = (struct governor_state){
			.now_ns = program->now_ns,
			.hits = (uint64_t)program->hits,
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
	governor_init(&governor, 1000, 0);
	hits = program_run(&program, &governor, 10);
	assert_true(hits > 500 && hits < 2000);
}

static void reaches_the_rate_from_above(void **state)
{
	struct program program = { .per_site = 500, .sites = 1000000 };
	struct governor governor;
	double hits;

	(void)state;
	governor_init(&governor, 1000, 0);
	hits = program_run(&program, &governor, 5);
	assert_true(hits >= 500 && hits <= 2000);
}

static void too_many_hits_are_cut_within_a_fifth_of_a_second(void **state)
{
	struct program program = { .per_site = 5000, .sites = 1000000 };
	struct governor governor;
	struct governor_state tick = { .armed = 128, .sites = 1000000 };

	(void)state;
	governor_init(&governor, 1000, 0);
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
	governor_init(&governor, 1000, 0);
	program_run(&program, &governor, 5);
	assert_int_equal(governor.pool, 300);
}

static void a_cold_program_stays_below_the_maximum(void **state)
{
	struct program program = { .per_site = 0, .sites = 10000000 };
	struct governor governor;

	(void)state;
	governor_init(&governor, 1000, 0);
	program_run(&program, &governor, 20);
	assert_int_equal(governor.pool, GOVERNOR_POOL_MAX);
}

static void a_pool_not_yet_armed_does_not_grow(void **state)
{
	struct governor governor;
	struct governor_state tick = { .armed = 10, .sites = 100000 };

	(void)state;
	governor_init(&governor, 1000, 0);
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
	governor_init(&governor, 1000, 0);
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
	governor_init(&governor, 10, 0);
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
	governor_init(&governor, 1000, 0);
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
	governor_init(&governor, 0, 0);
	program_run(&program, &governor, 2);
	assert_int_equal(governor.pool, 0);
}

static void hits_before_a_restart_do_not_count(void **state)
{
	struct governor governor;
	struct governor_state tick = { .now_ns = CLOCK_NS_PER_S + TICK_NS,
				       .hits = 1000001,
				       .armed = 128,
				       .sites = 1000000 };

	(void)state;
	governor_init(&governor, 1000, 0);
	governor_restart(&governor, CLOCK_NS_PER_S, 1000000);
	assert_true(governor_tick(&governor, &tick) > GOVERNOR_POOL_START);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reaches_the_rate_from_below),
		cmocka_unit_test(reaches_the_rate_from_above),
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
	};

	return cmocka_run_group_tests_name("governor", tests, NULL, NULL);
}
