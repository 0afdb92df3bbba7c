/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * src/sweep/outcome.c: how a run is judged by its exit status and its report.
 */
#include "sweep/outcome.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/strbuf.h"
#include "sweep/findings.h"
#include "sweep/supervisor.h"

/* As wait(2) has an exit. */
static int exited(int status)
{
	return status << 8;
}

static void expect(const struct supervisor_result *result,
		   const struct findings *findings, enum outcome_kind kind,
		   const char *text)
{
	struct outcome outcome = outcome_of(result, findings);
	struct strbuf out = { 0 };

	assert_int_equal(outcome.kind, kind);
	outcome_describe(&outcome, &out);
	assert_string_equal(strbuf_text(&out), text);
	strbuf_deinit(&out);
}

static void the_summary_tells_whose_status_it_is(void **state)
{
	struct findings none = { .has_run = true };
	struct findings good = { .has_run = true,
				 .has_summary = true,
				 .samples = 5 };
	struct supervisor_result result = { .status = exited(0) };

	(void)state;
	expect(&result, &good, OUTCOME_PASSED, "");
	result.status = exited(3);
	expect(&result, &good, OUTCOME_FAILED, "failed with status 3");
	result.status = exited(127);
	expect(&result, &good, OUTCOME_FAILED, "failed with status 127");
	expect(&result, &none, OUTCOME_NOT_STARTED, "could not be started");
	result.status = exited(139);
	expect(&result, &good, OUTCOME_FAILED,
	       "failed with status 139 (SIGSEGV)");
	result.status = exited(125);
	good.exit_status = 125;
	expect(&result, &good, OUTCOME_FAILED, "failed with status 125");
	good.exit_status = 0;
	expect(&result, &good, OUTCOME_BROKEN,
	       "racewatch failed with status 125");
	expect(&result, &none, OUTCOME_BROKEN,
	       "racewatch failed with status 125");
	result.status = 9;
	expect(&result, &good, OUTCOME_BROKEN,
	       "racewatch failed with status 137");
}

static void what_else_there_is_to_say(void **state)
{
	struct findings good = { .has_summary = true };
	struct supervisor_result result = {
		.timed_out = true,
		.status = exited(124),
		.cut_bytes = 1,
		.write_error = 5,
	};

	(void)state;
	expect(&result, &good, OUTCOME_TIMED_OUT,
	       "hung and was ended, took no sample of its own modules, "
	       "flooded its output, output could not be written");
	good.samples = 1;
	result = (struct supervisor_result){ .left = 1 };
	expect(&result, &good, OUTCOME_PASSED, "left 1 process behind");
	result = (struct supervisor_result){ .left = 2, .away = 1 };
	expect(&result, &good, OUTCOME_PASSED,
	       "forked away, left 2 processes behind");
	result = (struct supervisor_result){ .stopped = true,
					     .timed_out = true };
	expect(&result, &good, OUTCOME_CUT, "was cut short");
}

static void every_kind_has_a_word(void **state)
{
	(void)state;
	for (unsigned int i = 0; i < OUTCOMES; i++)
		assert_non_null(outcome_word(i));
	assert_null(outcome_word(OUTCOMES));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_summary_tells_whose_status_it_is),
		cmocka_unit_test(what_else_there_is_to_say),
		cmocka_unit_test(every_kind_has_a_word),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
