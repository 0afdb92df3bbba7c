/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * src/sampling/learn.c: which locations are worth a stall, and how often they
 * are drawn.
 */
#include "sampling/learn.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "report/learned.h"

enum { SITES = 8 };

static struct learned learned;
static struct learn learn;

static int begin(void **state)
{
	(void)state;
	learned_init(&learned);
	learned_module(&learned, "/usr/bin/x", NULL);
	for (uint64_t i = 0; i < SITES; i++)
		learned_site(&learned, 0, i);
	return learn_init(&learn, &learned, 1) ? 0 : -1;
}

static int end(void **state)
{
	(void)state;
	learn_deinit(&learn);
	learned_deinit(&learned);
	return 0;
}

static void hit(uint32_t site, int tid, uint64_t address, bool stalled)
{
	const struct learn_hit hit = {
		.event = { .site = site,
			   .pid = 100,
			   .tid = tid,
			   .access = { address, 8, ACCESS_WRITE } },
		.stalled = stalled,
	};

	assert_true(learn_hit(&learn, &hit));
}

static void only_what_is_shared_is_drawn(void **state)
{
	(void)state;
	assert_int_equal(learn_draw(&learn), UINT32_MAX);
	hit(0, 7, 0x1000, true);
	hit(1, 7, 0x1000, true);
	hit(2, 8, 0x2000, true);
	assert_int_equal(learn_draw(&learn), UINT32_MAX);
	hit(3, 8, 0x1000, false);
	/* with both that the other thread had been seen at */
	assert_int_equal(learn_promising(&learn), 3);
	for (int i = 0; i < 100; i++)
		assert_int_not_equal(learn_draw(&learn), 2);
	assert_int_equal(learned.runs, 1);
	assert_int_equal(learned_site_at(&learned, 3)->shared, 1);
	assert_int_equal(learned_site_at(&learned, 3)->stalls, 0);
	assert_int_equal(learned_site_at(&learned, 0)->stalls, 1);
}

static void a_pair_that_raced_is_known(void **state)
{
	(void)state;
	hit(0, 7, 0x1000, false);
	hit(1, 8, 0x1000, false);
	hit(2, 9, 0x1000, false);
	assert_int_equal(learn_promising(&learn), 3);
	assert_true(learn_race(&learn, 0, 1));
	assert_true(learn_race(&learn, 1, 0));
	assert_int_equal(learn_promising(&learn), 3);
	assert_true(learn_race(&learn, 2, 0));
	/* 1 and 2 may still meet */
	assert_int_equal(learn_promising(&learn), 2);
	assert_true(learn_race(&learn, 2, 1));
	assert_int_equal(learn_promising(&learn), 0);
	/* one that was never seen before */
	assert_true(learn_race(&learn, 4, 4));
	assert_int_equal(learn_promising(&learn), 0);
	hit(0, 7, 0x1000, false);
	assert_int_equal(learn_promising(&learn), 0);
}

/* Two of three stalls in vain: the third is worth a third of the first. */
static void promise_falls_with_stalls_in_vain(void **state)
{
	int vain = 0;

	(void)state;
	hit(0, 7, 0x1000, false);
	hit(1, 8, 0x1000, false);
	hit(0, 7, 0x1000, true);
	for (int i = 0; i < 10000; i++)
		vain += learn_draw(&learn) == 0;
	/* 2500 of them, by ten standard deviations */
	assert_in_range(vain, 2070, 2930);
	for (int i = 0; i < 100; i++)
		hit(0, 7, 0x1000, true);
	for (int i = 0; i < 10000; i++)
		assert_int_not_equal(learn_draw(&learn), 0);
}

static void stall_elsewhere(int times)
{
	for (int i = 0; i < times; i++)
		hit(7, 7, 0x9000, true);
}

/* Nothing is found elsewhere; there are three stalls in vain at each of both. */
static void what_is_worth_less_than_the_rest_is_not_drawn(void **state)
{
	(void)state;
	hit(0, 7, 0x1000, false);
	hit(1, 8, 0x1000, false);
	assert_int_not_equal(learn_draw(&learn), UINT32_MAX);
	for (int i = 0; i < 30; i++)
		hit(i % 2 ? 1 : 0, i % 2 ? 8 : 7, 0x1000, true);
	assert_int_equal(learn_draw(&learn), UINT32_MAX);
	/* until that is seen to be worth less still */
	stall_elsewhere(4000);
	assert_int_not_equal(learn_draw(&learn), UINT32_MAX);
}

/* What other runs have stalled in vain is as it is after stalls of this one. */
static void stalls_of_other_runs_were_in_vain_too(void **state)
{
	struct learn again;

	(void)state;
	hit(0, 7, 0x1000, false);
	hit(1, 8, 0x1000, false);
	for (int i = 0; i < 100; i++)
		hit(0, 7, 0x1000, true);
	assert_true(learn_init(&again, &learned, 3));
	for (int i = 0; i < 1000; i++)
		assert_int_equal(learn_draw(&again), 1);
	learn_deinit(&again);
}

static void what_is_known_at_the_start_is_drawn(void **state)
{
	struct learn again;
	uint32_t first;

	(void)state;
	hit(5, 7, 0x1000, false);
	hit(6, 8, 0x1000, false);
	assert_true(learn_init(&again, &learned, 3));
	assert_int_equal(learned.runs, 2);
	first = learn_draw(&again);
	assert_true(first == 5 || first == 6);
	learn_deinit(&again);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(only_what_is_shared_is_drawn,
						begin, end),
		cmocka_unit_test_setup_teardown(a_pair_that_raced_is_known,
						begin, end),
		cmocka_unit_test_setup_teardown(
			promise_falls_with_stalls_in_vain, begin, end),
		cmocka_unit_test_setup_teardown(
			what_is_worth_less_than_the_rest_is_not_drawn, begin,
			end),
		cmocka_unit_test_setup_teardown(
			stalls_of_other_runs_were_in_vain_too, begin, end),
		cmocka_unit_test_setup_teardown(
			what_is_known_at_the_start_is_drawn, begin, end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
