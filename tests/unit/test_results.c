/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * src/sweep/results.c: what many runs come to.
 */
#include "sweep/results.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/error.h"
#include "sweep/journal.h"

struct fixture {
	struct plan plan;
	struct results results;
};

static void begin(struct fixture *fixture)
{
	const struct plan_fixed nothing = { UINT64_MAX, UINT64_MAX, NULL };

	plan_init(&fixture->plan, &nothing, false);
	results_init(&fixture->results, &fixture->plan);
}

static void claim(struct fixture *fixture, uint64_t run)
{
	struct journal_record record;

	journal_record_init(&record);
	record.type = JOURNAL_CLAIM;
	record.run = record.seed = run;
	strcpy(record.plan, fixture->plan.entries[0].name);
	assert_null(results_take(&fixture->results, &record));
	journal_record_deinit(&record);
}

/* Races by letters: a capital is a minor one. How many are new. */
static uint64_t done(struct fixture *fixture, uint64_t run,
		     enum outcome_kind kind, const char *races)
{
	struct journal_record record;

	journal_record_init(&record);
	record.type = JOURNAL_DONE;
	record.run = record.seed = run;
	record.outcome.kind = kind;
	record.elapsed_ns = 1000;
	record.findings.samples = kind == OUTCOME_NOT_STARTED ? 0 : 10;
	strcpy(record.plan, fixture->plan.entries[0].name);
	for (; *races; races++) {
		struct finding *finding = vec_append(&record.findings.races);

		assert_non_null(finding);
		finding->minor = *races < 'a';
		finding->fingerprint[0] = (char)(*races | 0x20);
		finding->what = strdup("race");
	}
	assert_null(results_take(&fixture->results, &record));
	journal_record_deinit(&record);
	return results_run(&fixture->results, run)->races_new;
}

static void races_are_counted_by_runs(void **state)
{
	struct fixture f;
	struct species_counts counts;

	(void)state;
	begin(&f);
	for (uint64_t run = 1; run <= 4; run++)
		claim(&f, run);
	assert_int_equal(done(&f, 2, OUTCOME_PASSED, ""), 0);
	assert_int_equal(done(&f, 1, OUTCOME_PASSED, "ab"), 2);
	assert_int_equal(done(&f, 4, OUTCOME_FAILED, "ac"), 1);
	assert_int_equal(done(&f, 3, OUTCOME_PASSED, "a"), 0);
	assert_int_equal(results_races(&f.results), 3);
	assert_int_equal(results_race(&f.results, "a")->runs, 3);
	assert_int_equal(results_race(&f.results, "a")->first_run, 1);
	assert_int_equal(results_race(&f.results, "a")->first_order, 2);
	assert_int_equal(results_race(&f.results, "c")->first_run, 4);
	assert_int_equal(results_race(&f.results, "c")->first_order, 3);
	assert_null(results_race(&f.results, "d"));
	assert_null(results_species(&f.results, &counts));
	assert_int_equal(counts.samples, 4);
	assert_int_equal(counts.once, 2);
	assert_int_equal(counts.incidences, 5);
	assert_int_equal(f.results.finished, 4);
	assert_int_equal(f.results.quiet, 1);
	assert_int_equal(f.results.kinds[OUTCOME_FAILED], 1);
	assert_int_equal(f.plan.entries[0].claimed, 4);
	assert_int_equal(f.plan.entries[0].races_new, 3);
	results_deinit(&f.results);
}

static void runs_without_samples_are_no_samples(void **state)
{
	struct fixture f;
	struct species_counts counts;

	(void)state;
	begin(&f);
	done(&f, 1, OUTCOME_NOT_STARTED, "");
	done(&f, 2, OUTCOME_NOT_STARTED, "");
	done(&f, 3, OUTCOME_PASSED, "");
	assert_null(results_species(&f.results, &counts));
	assert_int_equal(counts.samples, 1);
	results_deinit(&f.results);
}

static void minor_races_become_races_by_one_run(void **state)
{
	struct fixture f;

	(void)state;
	begin(&f);
	assert_int_equal(done(&f, 1, OUTCOME_PASSED, "A"), 0);
	assert_int_equal(results_races(&f.results), 0);
	assert_int_equal(done(&f, 2, OUTCOME_PASSED, "a"), 1);
	assert_int_equal(results_races(&f.results), 1);
	assert_int_equal(results_race(&f.results, "a")->runs, 2);
	assert_int_equal(results_race(&f.results, "a")->first_run, 2);
	assert_int_equal(done(&f, 3, OUTCOME_PASSED, "A"), 0);
	assert_int_equal(results_races(&f.results), 1);
	results_deinit(&f.results);
}

static void a_run_counts_once(void **state)
{
	struct fixture f;

	(void)state;
	begin(&f);
	claim(&f, 1);
	/* given up, and taken over */
	claim(&f, 1);
	assert_int_equal(f.plan.entries[0].claimed, 1);
	assert_false(results_run(&f.results, 1)->finished);
	done(&f, 1, OUTCOME_PASSED, "a");
	done(&f, 1, OUTCOME_PASSED, "b");
	assert_int_equal(f.results.finished, 1);
	assert_int_equal(results_races(&f.results), 1);
	assert_null(results_run(&f.results, 2));
	results_deinit(&f.results);
}

/* The line of its claim was damaged. */
static void a_run_may_end_that_nobody_claimed(void **state)
{
	struct fixture f;

	(void)state;
	begin(&f);
	assert_int_equal(done(&f, 9, OUTCOME_PASSED, "a"), 1);
	assert_true(results_run(&f.results, 9)->finished);
	results_deinit(&f.results);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(races_are_counted_by_runs),
		cmocka_unit_test(runs_without_samples_are_no_samples),
		cmocka_unit_test(minor_races_become_races_by_one_run),
		cmocka_unit_test(a_run_counts_once),
		cmocka_unit_test(a_run_may_end_that_nobody_claimed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
