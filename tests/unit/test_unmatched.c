/* SPDX-License-Identifier: GPL-3.0-or-later */
/* src/sweep/unmatched.c: what runs of a sweep did not find. */
#include "sweep/unmatched.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/error.h"
#include "base/strbuf.h"
#include "report/run.h"
#include "sweep/journal.h"
#include "sweep/results.h"

static void what_matched_nothing_is_named(void **state)
{
	const struct run_at at[] = {
		{ .where = "found.c:1", .sites = 2 },
		{ .where = "gone", .problem = "no function has that name" },
		{ .where = "late" },
	};
	const struct run_pattern patterns[] = { { "include", "put*" },
						{ "exclude", "gte*" } };
	struct run_summary summary = { .at = at,
				       .at_count = 3,
				       .patterns = patterns,
				       .pattern_count = 2 };
	char *text;

	(void)state;
	assert_null(unmatched_text(&summary, &text));
	assert_string_equal(text, "--at gone: no function has that name\n"
				  "--at late: it was not looked for\n"
				  "--include 'put*'\n--exclude 'gte*'");
	free(text);
	summary.at_count = 1;
	summary.pattern_count = 0;
	assert_null(unmatched_text(&summary, &text));
	assert_null(text);
}

static void take(struct results *results, uint64_t run, const char *text)
{
	struct journal_record record;

	journal_record_init(&record);
	record.type = JOURNAL_DONE;
	record.run = record.seed = run;
	record.findings.unmatched = text ? strdup(text) : NULL;
	assert_null(results_take(results, &record));
	journal_record_deinit(&record);
}

static void runs_are_counted_by_what_they_miss(void **state)
{
	const struct plan_fixed nothing = { UINT64_MAX, UINT64_MAX, NULL };
	struct strbuf out = { 0 };
	struct results results;
	struct plan plan;

	(void)state;
	plan_init(&plan, &nothing, false);
	results_init(&results, &plan);
	assert_null(unmatched_add(&out, &results));
	assert_string_equal(strbuf_text(&out), "");
	take(&results, 1, "--at a: b");
	take(&results, 2, NULL);
	take(&results, 3, "--at c: d\x1b");
	take(&results, 4, "--at a: b\n--include 'x'");
	take(&results, 5, "--include 'x'");
	assert_null(unmatched_add(&out, &results));
	assert_string_equal(strbuf_text(&out),
			    "  2 of 5 runs matched nothing with --at a: b\n"
			    "  1 of 5 runs matched nothing with --at c: "
			    "d\\x1b\n"
			    "  2 of 5 runs matched nothing with --include "
			    "'x'\n");
	strbuf_deinit(&out);
	results_deinit(&results);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_matched_nothing_is_named),
		cmocka_unit_test(runs_are_counted_by_what_they_miss),
	};

	return cmocka_run_group_tests_name("unmatched", tests, NULL, NULL);
}
