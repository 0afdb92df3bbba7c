/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * src/sweep/plan.c: which way of looking comes next.
 */
#include "sweep/plan.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/clock.h"

static const struct plan_fixed nothing = { UINT64_MAX, UINT64_MAX, NULL };

/* A run of the entry, with a race or without. */
static void run_once(struct plan *plan, size_t entry, bool finds,
		     uint64_t seconds)
{
	const struct plan_result result = {
		.races_new = finds,
		.races = finds,
		.elapsed_ns = seconds * CLOCK_NS_PER_S,
	};

	plan_claim(&plan->entries[entry]);
	plan_credit(&plan->entries[entry], &result);
}

static void entries_are_named_by_what_they_do(void **state)
{
	struct plan plan;

	(void)state;
	plan_init(&plan, &nothing, false);
	assert_int_equal(plan.count, 5);
	assert_string_equal(plan.entries[0].name,
			    "rate=1000 stall=1ms policy=guided");
	assert_int_equal(plan.entries[0].rate, 1000);
	assert_int_equal(plan.entries[0].stall_ns, CLOCK_NS_PER_MS);
	assert_ptr_equal(plan_find(&plan,
				   "rate=3000 stall=200us policy=guided"),
			 &plan.entries[2]);
	assert_null(plan_find(&plan, "rate=1 stall=1s"));
	assert_null(plan_find(&plan, ""));
}

static void what_is_fixed_is_in_every_entry(void **state)
{
	const struct plan_fixed rate = { 7, UINT64_MAX, NULL };
	const struct plan_fixed all = { 0, 1500, "uniform" };
	const struct plan_fixed policy = { UINT64_MAX, UINT64_MAX, "guided" };
	struct plan plan;

	(void)state;
	plan_init(&plan, &rate, false);
	assert_int_equal(plan.count, 5);
	for (size_t i = 0; i < plan.count; i++)
		assert_int_equal(plan.entries[i].rate, 7);
	plan_init(&plan, &policy, false);
	assert_int_equal(plan.count, 4);
	plan_init(&plan, &all, false);
	assert_int_equal(plan.count, 1);
	assert_string_equal(plan.entries[0].name,
			    "rate=0 stall=1500ns policy=uniform");
	assert_int_equal(plan_choose(&plan, 5), 0);
}

/* The words, with a blank behind each. */
static void has_words(const struct plan_entry *entry, const char *expected)
{
	char all[128] = "";

	for (const char *const *word = entry->words; *word; word++) {
		strcat(all, *word);
		strcat(all, " ");
	}
	assert_string_equal(all, expected);
}

static void runs_get_the_options_that_are_not_fixed(void **state)
{
	const struct plan_fixed rate = { 7, UINT64_MAX, NULL };
	const struct plan_fixed all = { 0, 1500, "uniform" };
	struct plan plan;

	(void)state;
	plan_init(&plan, &nothing, false);
	has_words(&plan.entries[0], "--effort normal --rate 1000 --stall 1ms "
				    "--policy guided ");
	/* long stalls are not for the program's start */
	has_words(&plan.entries[1], "--rate 300 --stall 10ms --policy guided ");
	plan_init(&plan, &rate, false);
	has_words(&plan.entries[4], "--stall 100ms --policy guided ");
	plan_init(&plan, &all, false);
	has_words(&plan.entries[0], "--effort normal ");
}

static void an_even_plan_goes_by_the_number(void **state)
{
	struct plan plan;

	(void)state;
	plan_init(&plan, &nothing, true);
	for (uint64_t run = 1; run <= 12; run++) {
		run_once(&plan, 2, true, 1);
		assert_int_equal(plan_choose(&plan, run), (run - 1) % 5);
	}
}

static void each_is_tried_at_first(void **state)
{
	bool tried[PLAN_MAX] = { false };
	struct plan plan;

	(void)state;
	plan_init(&plan, &nothing, false);
	for (uint64_t run = 1; run <= 5; run++) {
		size_t entry = plan_choose(&plan, run);

		tried[entry] = true;
		/* four that begin at once */
		plan_claim(&plan.entries[entry]);
	}
	for (size_t i = 0; i < plan.count; i++)
		assert_true(tried[i]);
}

static void what_pays_gets_more_and_none_starves(void **state)
{
	uint64_t runs[PLAN_MAX] = { 0 };
	struct plan plan;

	(void)state;
	plan_init(&plan, &nothing, false);
	for (uint64_t run = 1; run <= 400; run++) {
		size_t entry = plan_choose(&plan, run);

		runs[entry]++;
		run_once(&plan, entry, entry == 3, 1);
	}
	assert_true(runs[3] > 200);
	/* a quarter of an even share is 20 */
	for (size_t i = 0; i < plan.count; i++)
		assert_true(runs[i] >= 19);
}

/* The same gains in half of the time are worth twice as much. */
static void time_counts(void **state)
{
	uint64_t runs[PLAN_MAX] = { 0 };
	struct plan plan;

	(void)state;
	plan_init(&plan, &nothing, false);
	for (uint64_t run = 1; run <= 400; run++) {
		size_t entry = plan_choose(&plan, run);

		runs[entry]++;
		run_once(&plan, entry, true, entry == 1 ? 1 : 4);
	}
	for (size_t i = 0; i < plan.count; i++)
		assert_true(i == 1 || runs[i] < runs[1]);
}

static void more_sites_are_worth_something(void **state)
{
	const struct plan_result sites = { .more_sites = true,
					   .elapsed_ns = 1 };
	const struct plan_result nothing_new = { .elapsed_ns = 1 };
	struct plan plan;

	(void)state;
	plan_init(&plan, &nothing, false);
	for (size_t i = 0; i < plan.count; i++) {
		plan_claim(&plan.entries[i]);
		plan_credit(&plan.entries[i], i == 2 ? &sites : &nothing_new);
	}
	assert_int_equal(plan_choose(&plan, 6), 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(entries_are_named_by_what_they_do),
		cmocka_unit_test(what_is_fixed_is_in_every_entry),
		cmocka_unit_test(runs_get_the_options_that_are_not_fixed),
		cmocka_unit_test(an_even_plan_goes_by_the_number),
		cmocka_unit_test(each_is_tried_at_first),
		cmocka_unit_test(what_pays_gets_more_and_none_starves),
		cmocka_unit_test(time_counts),
		cmocka_unit_test(more_sites_are_worth_something),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
